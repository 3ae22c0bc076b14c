"""Parts of a target that its gradient does not contain, as notes: a constant may be what was meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.ir.surroundings import LostPart
from gradproof.judge.verdict import Verdict

_JUDGED = (Verdict.CORRECT, Verdict.INACCURATE)


def lost(case: Case, kind: str, tell: Callable[[Case, LostPart], Diagnostic]) -> Iterator[Diagnostic]:
    """One note for all the places of a kind; a gradient with another fault has that to be mended first."""
    parts = [
        part for part in case.capture.around.lost if part.kind == kind and case.source.name in part.sources
    ]
    if parts and case.verdict in _JUDGED and case.detour.uncut is None:
        yield tell(case, parts[0])
