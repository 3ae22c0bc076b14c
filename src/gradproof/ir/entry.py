"""One entry of a node as the output of a program."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ir.program import Node, Program, prune
from gradproof.ir.types import Array


def entry_of(program: Program, target: int, place: int) -> Program:
    """The part of a program that computes an array, and that entry of it which `place` counts."""
    base = prune(program, [target])
    node, last = base[target], max(one.id for one in base.nodes)
    flat = np.reshape(node.value, -1)
    chosen = flat[place : place + 1]
    nodes: list[Node] = []

    def add(op: str, value: Array, **params: Any) -> None:
        inputs = (nodes[-1].id if nodes else target,)
        nodes.append(Node(last + len(nodes) + 1, op, inputs, node.dtype, value.shape, params, value=value))

    add("reshape", flat, shape=flat.shape)
    add("strided_slice", chosen, begin=(place,), end=(place + 1,))
    add("reshape", chosen.reshape(()), shape=())
    return Program((*base.nodes, *nodes), base.inputs, (nodes[-1].id,), base.names)
