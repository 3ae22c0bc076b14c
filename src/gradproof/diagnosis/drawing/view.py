"""The captured program as a reader sees it: every node with its value in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.figures import NodeView, ProgramView
from gradproof.ir import types
from gradproof.ir.program import OPAQUE, Node, Program

MOST_NODES = 6000  # a page with more opens slowly, and nobody reads them; the middle is left out
DIGITS = 4  # of a range; a single number is written in full


def view_of(program: Program, names: Mapping[int, str]) -> ProgramView:
    """The nodes in the order they ran, of a very long program the first and the last.

    `names` are the user's own for the sources; others are known to the program.
    """
    names = {**program.names, **names}
    nodes = program.nodes
    omitted = max(0, len(nodes) - MOST_NODES)
    if omitted:
        nodes = (*nodes[: MOST_NODES // 2], *nodes[len(nodes) - MOST_NODES // 2 :])
    with np.errstate(all="ignore"):
        return ProgramView(tuple(_node(node, names.get(node.id, "")) for node in nodes), omitted)


def _node(node: Node, name: str) -> NodeView:
    return NodeView(
        id=node.id,
        op=node.op.removeprefix(OPAQUE),
        inputs=node.inputs,
        dtype=node.dtype,
        shape=node.shape,
        phase=node.phase,
        value=value_text(node),
        span=node.span,
        name=name,
    )


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
