"""A rule is trusted only with the kinds of numbers it was tested with: what a program asks beyond that is named."""

from __future__ import annotations

from gradproof.ir import types
from gradproof.ir.program import Node, Program, prune
from gradproof.ops import TABLE, Kind

UNTESTED = "the rule of `{op}`{place} was never tested with {kind} numbers, and the target depends on it"


def untested(program: Program) -> str | None:
    """A sentence about the first op that is given numbers of a kind the contract of the ops does not cover."""
    for node in prune(program, program.outputs).nodes:
        op = TABLE.get(node.op)
        kind = _asked(node, program)
        if op is not None and kind is not None and kind not in op.kinds:
            place = f" ({node.span})" if node.span else ""
            return UNTESTED.format(op=node.op, place=place, kind=kind)
    return None


def _asked(node: Node, program: Program) -> Kind | None:
    """One complex argument makes it a matter of complex numbers; without real ones it is none of numbers."""
    dtypes = [program[id].dtype for id in node.inputs]
    if any(map(types.is_complex, dtypes)):
        return "complex"
    return "real" if any(map(types.is_real, dtypes)) else None
