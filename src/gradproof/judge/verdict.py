"""The seven things that can be said about one gradient."""

from __future__ import annotations

from enum import Enum


class Verdict(Enum):
    """What was found out about the number a framework returned; `str(verdict)` is its name.

    Members stand in order of severity, the least first. A gradient that is silently wrong is the worst: NaN
    and None at least show themselves, and lost digits leave a number that is right in kind.
    """

    sentence: str

    CORRECT = "correct", "equals the true gradient to the accuracy its dtype allows"
    UNVERIFIED = "unverified", "could not be decided"
    UNDEFINED = "undefined", "the function has no derivative at this point"
    INACCURATE = "inaccurate", "right rule, but rounding destroyed digits; more precision would mend it"
    MISSING = "missing", "there is no gradient: None"
    NONFINITE = "nonfinite", "NaN or infinity although the true gradient is finite"
    WRONG = "wrong", "differs from the true gradient, and more precision does not help"

    def __new__(cls, name: str, sentence: str) -> Verdict:
        # The value is the name alone, so that `Verdict("correct")` is the member when a report is read back.
        verdict = object.__new__(cls)
        verdict._value_ = name
        verdict.sentence = sentence
        return verdict

    def __str__(self) -> str:
        return str(self.value)

    @property
    def severity(self) -> int:
        """Rank from 0 (`correct`) upwards."""
        return list(Verdict).index(self)

    @property
    def is_fault(self) -> bool:
        """Whether the number returned cannot be used as the gradient it claims to be."""
        return self.severity >= Verdict.INACCURATE.severity


def worst(verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """The most severe verdict; None when nothing was judged."""
    return max(verdicts, key=lambda verdict: verdict.severity, default=None)
