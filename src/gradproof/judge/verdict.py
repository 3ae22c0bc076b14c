"""The seven things that can be said about one gradient."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum


class Verdict(Enum):
    """What was found out about the number a framework returned; `str(verdict)` is its name.

    Members stand in order of severity, the least first. A gradient that is silently wrong is the worst: NaN
    and None at least show themselves, and lost digits leave a number that is right in kind.
    """

    CORRECT = "correct"
    UNVERIFIED = "unverified"
    UNDEFINED = "undefined"
    INACCURATE = "inaccurate"
    MISSING = "missing"
    NONFINITE = "nonfinite"
    WRONG = "wrong"

    def __str__(self) -> str:
        return self.value

    @property
    def sentence(self) -> str:
        """What the verdict means."""
        return _SENTENCES[self]

    @property
    def severity(self) -> int:
        """Rank from 0 (`correct`) upwards."""
        return list(Verdict).index(self)

    @property
    def is_fault(self) -> bool:
        """Whether the number returned cannot be used as the gradient it claims to be."""
        return self.severity >= Verdict.INACCURATE.severity


def worst(verdicts: Iterable[Verdict]) -> Verdict | None:
    """The most severe verdict; None when nothing was judged."""
    return max(verdicts, key=lambda verdict: verdict.severity, default=None)


_SENTENCES = {
    Verdict.CORRECT: "equals the true gradient to the accuracy its dtype allows",
    Verdict.UNVERIFIED: "could not be decided; the reason is given",
    Verdict.UNDEFINED: "the function has no derivative at this point: a kink, a jump or an infinite slope",
    Verdict.INACCURATE: "right rule, but rounding destroyed digits; more precision would restore them",
    Verdict.MISSING: "there is no gradient: None",
    Verdict.NONFINITE: "NaN or infinity although the true gradient is finite",
    Verdict.WRONG: "differs from the true gradient, and more precision does not help",
}


def beyond_tolerance(precision_helps: bool) -> Verdict:
    """Of a gradient that is off by more than its dtype allows: rounding if more precision helps, else a wrong rule."""
    return Verdict.INACCURATE if precision_helps else Verdict.WRONG
