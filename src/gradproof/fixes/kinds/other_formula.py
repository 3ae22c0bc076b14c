"""Another formula for the same function, which keeps the digits that this one loses, or is finite without a mask.

For digits it is looked for before the cause is known, of which it is the proof (`fixes/find`). Behind a mask it is
silent where a harmless input does it: that changes less.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.aim import MASKED, aim_of
from gradproof.fixes.find import best_formula
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.kinds import harmless_input


def offer(fault: Fault) -> Iterator[Fix]:
    if fault.found.kind != MASKED:
        return
    case, program, aim = fault.case, fault.case.capture.program, aim_of(fault.case)
    if program is None or aim is None or any(fix.patch for fix in harmless_input.offer(fault)):
        return
    found = best_formula(case, program, aim, fault.replay)
    if found is not None:
        yield found


FIX = FixKind(
    "other-formula",
    (
        "absorption",
        "accumulation",
        "cancellation",
        "invalid-domain",
        "masked-branch",
        "overflow",
        "underflow",
    ),
    offer,
)
