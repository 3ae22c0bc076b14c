"""Into what a large examination can be taken apart, so that several workers share it."""

from __future__ import annotations

from dataclasses import dataclass

from gradproof.audit.rows import ByRow, Share, n_rows_of
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.refine import entry_count
from gradproof.ir.capture import Capture
from gradproof.judge.judge import Judgement
from gradproof.judge.verdict import Verdict

LEAST_ROWS = 4  # of a Jacobian, for each piece: reading it and running the program forward is done in each
LEAST_ENTRIES = 100_000  # of a program whose sources are taken apart: below, it is done before it is sent


@dataclass(frozen=True)
class CallPiece:
    """A share of the rows of a Jacobian, or of the sources of a call.

    A quick look at sources finds nothing but what is plainly right. Where one of the pieces is not, all are looked at
    closely: so the report is that of the whole, whoever has made it. Rows know nothing of each other.
    """

    share: Share
    is_quick: bool = True


ByPlace = ByRow
"""The reports of a row by its number, or of a source by its place among them."""


def n_pieces_of(capture: Capture) -> int:
    """How many pieces a capture has at most; a Jacobian is one of rows, another one of sources."""
    if capture.rows is not None:
        return max(1, n_rows_of(capture.rows) // LEAST_ROWS)
    is_large = capture.program is not None and entry_count(capture.program) >= LEAST_ENTRIES
    return len(capture.sources) if is_large else 1


def is_quiet(capture: Capture) -> bool:
    """Whether nothing is known of a call that all its sources are needed for."""
    return capture.around.differences is None and not capture.failure and not capture.faults


def is_plain(judgement: Judgement) -> bool:
    """Right by the first balls that were tried, away from ties and singular points: the others make no difference."""
    reference = judgement.reference
    return (
        judgement.verdict is Verdict.CORRECT
        and reference is not None
        and reference.refined.decided
        and reference.refined.rung == BallDomain64.name
        and (reference.sides, reference.limit, reference.beside) == (None, None, None)
        and set(reference.oracles) == {"ball"}
    )
