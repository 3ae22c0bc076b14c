"""A whole function computed in float64, for rounding that no other way of writing it mends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gradproof.diagnosis.diagnostic import Fix
from gradproof.engine.refine import entry_count
from gradproof.fixes.aim import MASKED, aim_of, checked_digits
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.verify import MOST_ENTRIES
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.judge.verdict import Verdict

WIDE = "float64"


def offer(fault: Fault) -> Iterator[Fix]:
    """Not for a NaN that a dropped branch sends, which is there in every dtype."""
    case, program = fault.case, fault.case.capture.program
    if (
        program is None
        or case.remedy.fix is not None
        or case.verdict not in (Verdict.INACCURATE, Verdict.NONFINITE)
    ):
        return
    if case.source.dtype == "float64" or 2 * entry_count(program) > MOST_ENTRIES:
        return
    aim, wide = aim_of(case), widened(program)
    if aim is None or wide is None or case.irregular.kind == MASKED:
        return
    checked = checked_digits(case, wide, aim, fault.replay, equal=False)
    text = f"compute `{case.capture.target}` in float64: cast `{case.source.name}` first, and the result back"
    if checked is not None:
        yield Fix(text, checked=checked)


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


FIX = FixKind(
    "wider-program",
    (
        "absorption",
        "accumulation",
        "cancellation",
        "ill-conditioned",
        "low-precision",
        "overflow",
        "underflow",
    ),
    offer,
)
