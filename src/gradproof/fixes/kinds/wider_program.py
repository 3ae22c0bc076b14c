"""A whole function computed in a wider dtype, for rounding that no other way of writing it mends."""

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

# The wider dtypes, and what is narrow beside each.
NARROWER = {"float32": ("float16", "bfloat16"), "float64": ("float16", "bfloat16", "float32")}


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
    aim = aim_of(case)
    if aim is None or case.irregular.kind == MASKED:
        return
    for dtype, narrower in NARROWER.items():  # of what is wide enough the narrowest
        wide = widened(program, dtype)
        checked = None if wide is None else checked_digits(case, wide, aim, fault.replay)
        if checked is not None:
            is_cast = case.source.dtype in narrower
            how = (
                f"cast `{case.source.name}` first, and the result back"
                if is_cast
                else "cast nothing to fewer bits"
            )
            yield Fix(f"compute `{case.capture.target}` in {dtype}: {how}", checked=checked)
            return


def widened(program: Program, wide: str) -> Program | None:
    """Narrow inputs and constants are cast to `wide`, and the result back; None where nothing is narrow."""
    output = program[program.outputs[0]]
    if any(types.is_complex(node.dtype) or node.dtype == types.TUPLE for node in program.nodes):
        return None
    next_id = max(node.id for node in program.nodes) + 1
    names: dict[int, int] = {}
    nodes: list[Node] = []
    for node in program.nodes:
        inputs = tuple(names.get(id, id) for id in node.inputs)
        if node.dtype not in NARROWER[wide]:
            nodes.append(replace(node, inputs=inputs))
        elif node.inputs and not node.is_opaque:
            # A cast of the user's own to fewer bits is what is to be left out.
            params = {**node.params, "dtype": wide} if node.op == "cast" else node.params
            nodes.append(replace(node, params=params, inputs=inputs, dtype=wide, value=None))
        else:
            nodes.append(replace(node, inputs=inputs))
            nodes.append(Node(next_id, "cast", (node.id,), wide, node.shape, {"dtype": wide}, node.span))
            names[node.id] = next_id
            next_id += 1
    if all(node.dtype not in NARROWER[wide] for node in program.nodes) or output.id in names:
        return None
    if output.dtype in NARROWER[wide]:
        nodes.append(Node(next_id, "cast", (output.id,), output.dtype, output.shape, {"dtype": output.dtype}))
        return replace(program, nodes=tuple(nodes), outputs=(next_id,))
    return replace(program, nodes=tuple(nodes))


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
