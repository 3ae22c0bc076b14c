"""What keeps gradient calls for a later judgement, as the session knows it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gradproof.diagnosis.report import GradientReport
from gradproof.ir.capture import Capture


class Keeper(Protocol):
    """Takes gradient calls in their order; `frameworks` are those that they came from."""

    frameworks: set[str]

    def keep(self, captures: Sequence[Capture], are_tried: bool = False) -> bool:
        """Whether the captures of a call are kept; False where only this process can judge them.

        `are_tried`: they are a second look, after the program's end, at calls that were kept before.
        """
        ...

    def tell(self, reports: Sequence[GradientReport], are_tried: bool = False) -> None:
        """Keep what was judged at once in its place among the calls."""
        ...
