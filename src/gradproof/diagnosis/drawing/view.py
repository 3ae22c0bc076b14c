"""The captured program as a reader sees it: every node with its value in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.figures import NodeView, ProgramView
from gradproof.ir import types
from gradproof.ir.program import OPAQUE, Node, Program

MOST_NODES = 6000  # a page with more opens slowly, and nobody reads them; the middle is left out
SMALL = 16  # entries of a value that may as well be kept as it is
DIGITS = 4  # of a range; a single number is written in full


@dataclass(frozen=True, eq=False)
class Outline:
    """What a view is made from when somebody asks for it: the nodes that it shows, large values put into words."""

    nodes: tuple[Node, ...]
    texts: Mapping[int, str]
    names: Mapping[int, str]
    omitted: int

    @cached_property
    def view(self) -> ProgramView:
        with np.errstate(all="ignore"):
            return ProgramView(tuple(map(self._node, self.nodes)), self.omitted)

    def _node(self, node: Node) -> NodeView:
        return NodeView(
            id=node.id,
            op=node.op.removeprefix(OPAQUE),
            inputs=node.inputs,
            dtype=node.dtype,
            shape=node.shape,
            phase=node.phase,
            value=self.texts[node.id] if node.id in self.texts else value_text(node),
            span=node.span,
            name=self.names.get(node.id, ""),
        )


def outline_of(program: Program, names: Mapping[int, str]) -> Outline:
    """Holds no large array. Of a very long program the first and the last nodes are shown.

    `names` are the user's own for the sources; others are known to the program.
    """
    shown = program.nodes
    omitted = max(0, len(shown) - MOST_NODES)
    if omitted:
        shown = (*shown[: MOST_NODES // 2], *shown[len(shown) - MOST_NODES // 2 :])
    with np.errstate(all="ignore"):
        texts = {node.id: value_text(node) for node in shown if _is_large(node)}
    nodes = tuple(replace(node, value=None, params={}) if node.id in texts else node for node in shown)
    return Outline(nodes, texts, {**program.names, **names}, omitted)


def _is_large(node: Node) -> bool:
    return isinstance(node.value, tuple) or getattr(node.value, "size", 0) > SMALL


def value_text(node: Node) -> str:
    """A number, or the range of an array and how many of its entries are not finite; empty where unknown."""
    if node.value is None:
        return ""
    if isinstance(node.value, tuple):
        return words.count(len(node.value), "array")
    array = np.asarray(node.value)
    if array.ndim == 0:
        return _scalar_text(array, node.dtype)
    if not array.size:
        return "empty"
    if array.dtype == bool:
        return f"true at {int(array.sum()):,} of {array.size:,}"
    return _range_text(array, node.dtype)


def _scalar_text(array: Any, dtype: str) -> str:
    if types.is_discrete(dtype):
        return str(array.item()).lower() if dtype == "bool" else f"{array.item():,}"
    return words.number(array.item(), dtype=dtype)


def _range_text(array: Any, dtype: str) -> str:
    if types.is_discrete(dtype):
        ends = [f"{int(array.min()):,}", f"{int(array.max()):,}"]
        return " to ".join(ends) if ends[0] != ends[1] else f"all {ends[0]}"
    sizes = np.abs(array) if np.iscomplexobj(array) else array
    low, high = float(sizes.min()), float(sizes.max())  # NaN and infinities show in one of them
    lost = ""
    if not (np.isfinite(low) and np.isfinite(high)):
        finite = sizes[np.isfinite(sizes)]
        lost = f"{sizes.size - finite.size:,} of {sizes.size:,} not finite"
        if not finite.size:
            return lost
        low, high, lost = float(finite.min()), float(finite.max()), f"; {lost}"
    what = "size " if np.iscomplexobj(array) else ""
    if low == high:
        return f"{what}all {words.significant(low, DIGITS)}{lost}"
    return f"{what}{words.significant(low, DIGITS)} to {words.significant(high, DIGITS)}{lost}"
