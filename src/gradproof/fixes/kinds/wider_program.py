"""A whole function computed in float64, for rounding that no other way of writing it mends."""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.engine.refine import entry_count
from gradproof.fixes.aim import MASKED, aim_of, checked_digits
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.verify import MOST_ENTRIES
from gradproof.fixes.widen import widened
from gradproof.judge.verdict import Verdict


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
