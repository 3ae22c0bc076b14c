"""Nodes that compute the same from the same numbers, which is rounded in the same way wherever it stands."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from gradproof.ir.program import Node, Program

MOST_ENTRIES = 1000  # of a constant whose numbers are compared


def same_computations(program: Program) -> dict[int, int]:
    """For every node the first one that computes the same."""
    first: dict[Hashable, int] = {}
    found: dict[int, int] = {}
    for node in program.nodes:
        found[node.id] = first.setdefault(_key(node, found), node.id)
    return found


def _key(node: Node, found: dict[int, int]) -> Hashable:
    if node.inputs and not node.is_opaque:
        inputs = tuple(found.get(id, id) for id in node.inputs)
        return node.op, node.dtype, node.shape, repr(sorted(node.params.items())), inputs
    value = node.value
    if node.op == "constant" and isinstance(value, np.ndarray) and value.size <= MOST_ENTRIES:
        return node.dtype, node.shape, value.tobytes()
    return node.id
