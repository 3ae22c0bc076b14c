"""A program computed in float64 between its inputs and its result: what mends rounding that no rewriting mends."""

from __future__ import annotations

from dataclasses import replace

from gradproof.ir import types
from gradproof.ir.program import Node, Program

WIDE = "float64"


def widened(program: Program) -> Program | None:
    """Narrow inputs and constants are cast to float64, and the result back; None where nothing is narrow."""
    output = program[program.outputs[0]]
    if any(types.is_complex(node.dtype) or node.dtype == types.TUPLE for node in program.nodes):
        return None
    next_id = max(node.id for node in program.nodes) + 1
    names: dict[int, int] = {}
    nodes: list[Node] = []
    for node in program.nodes:
        inputs = tuple(names.get(id, id) for id in node.inputs)
        if not _is_narrow(node):
            nodes.append(replace(node, inputs=inputs))
        elif node.inputs and not node.is_opaque:
            # A cast of the user's own to fewer bits is what is to be left out.
            op = "identity" if node.op == "cast" else node.op
            params = {} if node.op == "cast" else node.params
            nodes.append(replace(node, op=op, params=params, inputs=inputs, dtype=WIDE, value=None))
        else:
            nodes.append(replace(node, inputs=inputs))
            nodes.append(Node(next_id, "cast", (node.id,), WIDE, node.shape, {"dtype": WIDE}, node.span))
            names[node.id] = next_id
            next_id += 1
    if not names or output.id in names:
        return None
    if _is_narrow(output):
        nodes.append(Node(next_id, "cast", (output.id,), output.dtype, output.shape, {"dtype": output.dtype}))
        return replace(program, nodes=tuple(nodes), outputs=(next_id,))
    return replace(program, nodes=tuple(nodes))


def _is_narrow(node: Node) -> bool:
    return types.is_real(node.dtype) and node.dtype != WIDE
