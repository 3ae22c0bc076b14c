"""A `stop_gradient` inside the library that cuts terms out of a derivative of a derivative."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import gradient
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, Program
from gradproof.ir.span import Span

Array = np.ndarray[Any, Any]

VISIBLE = 1e-6  # a share of the gradient; what changes it by less is the rounding of float64


@dataclass(frozen=True)
class HiddenStop:
    """Where it is, and what the most changed entry of the gradient is with it and without it."""

    span: Span | None
    index: tuple[int, ...]
    held: float
    free: float


def find_hidden_stop(
    program: Program, source: int, true: Array, sources: Mapping[str, str]
) -> HiddenStop | None:
    """The first whose removal changes the gradient; one that the user's own line spells out is the user's choice."""
    stops = [node for node in program.nodes if node.op == "stop_gradient" and not _is_users(node, sources)]
    if not stops or np.iscomplexobj(true):
        return None
    try:
        freed = _without(program, {node.id for node in stops}, source)
    except GradproofError:
        return None
    change = np.abs(freed - true)
    if not np.isfinite(change).all() or change.max(initial=0.0) <= VISIBLE * np.abs(true).max(initial=0.0):
        return None
    index = tuple(int(k) for k in np.unravel_index(int(np.argmax(change)), change.shape))
    span = next((node.span for node in stops if node.span is not None), None)
    return HiddenStop(span, index, float(true[index]), float(freed[index]))


def _without(program: Program, ids: set[int], source: int) -> Array:
    nodes = tuple(replace(node, op="identity") if node.id in ids else node for node in program.nodes)
    return np.asarray(gradient(Ieee("float64"), replace(program, nodes=nodes), [source])[0])


def _is_users(node: Node, sources: Mapping[str, str]) -> bool:
    if node.span is None:
        return True
    lines = sources.get(node.span.file, "").split("\n")
    text = "\n".join(lines[node.span.line - 1 : node.span.last_line])
    return not text.strip() or "stop_gradient" in text
