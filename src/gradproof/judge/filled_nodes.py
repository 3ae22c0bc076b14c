"""Puts known numbers in the place of some entries of a program's nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array


def with_fillers(program: Program, fillers: Mapping[int, tuple[Array, Array]]) -> Program:
    """The numbers given where the mask of a node holds, the node itself elsewhere: selected by a node behind it."""
    nodes: list[Node] = []
    renamed: dict[int, int] = {}
    next_id = max(node.id for node in program.nodes) + 1
    for node in program.nodes:
        node = replace(node, inputs=tuple(renamed.get(id, id) for id in node.inputs))
        if node.id in fillers and node.op == "constant":
            nodes.append(_constant(node.id, np.where(*fillers[node.id], np.asarray(node.value)), "float64"))
            continue
        nodes.append(node)
        if node.id in fillers:
            mask, filler = fillers[node.id]
            ids = (next_id, next_id + 1, node.id)
            nodes += [
                _constant(ids[0], mask, "bool"),
                _constant(ids[1], np.where(mask, filler, 0.0), "float64"),
                replace(node, id=next_id + 2, op="select", inputs=ids, params={}),
            ]
            renamed[node.id] = next_id + 2
            next_id += 3
    outputs = tuple(renamed.get(id, id) for id in program.outputs)
    return replace(program, nodes=tuple(nodes), outputs=outputs)


def _constant(id: int, value: Array, dtype: str) -> Node:
    return Node(id, "constant", (), dtype, value.shape, value=value)
