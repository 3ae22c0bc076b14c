"""One thing to be said about a gradient, as data: what, where, how it is known, what mends it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from gradproof.ir.span import Span

Severity = Literal["note", "warning", "error"]
Certainty = Literal["proven", "measured", "likely"]

SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
CERTAINTIES: tuple[Certainty, ...] = ("likely", "measured", "proven")

CRASH = "crash"
"""The kind of the diagnostic that explains why a program ended; it belongs to the script, not to a gradient."""


BY_NORM = (
    "only small entries are off: taken as a whole (by norm) the gradient is right to its dtype's tolerance"
)
AT_REST = (
    "the function rests here, as at the end of a training: the true gradient is zero a few roundings away, and "
    "what is computed is the rounding of terms that cancel"
)
HARMLESS = (AT_REST, BY_NORM)
"""The notes of causes that are warnings for these reasons."""


_NAMES_AND_NUMBERS = re.compile(r"`[^`]*`|[-+]?\d[\d.,]*(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Annotation:
    """A stretch of source and the few words that belong under it."""

    span: Span
    label: str = ""


def annotated(span: Span | None, label: str = "") -> Annotation | None:
    """None where it is not known which stretch that is."""
    return None if span is None else Annotation(span, label)


@dataclass(frozen=True)
class Fix:
    """A change that mends the fault.

    `text` is one imperative clause. `patch` is a unified diff, or only its `-`, `+` and context lines.
    `checked` says what was run with the change, the recorded ops or the user's text, and what it returned; empty
    means that nothing was. `changes_meaning` says for which inputs the changed program computes something else; empty
    means for none. `others` are changes that would serve too, the better first. `is_equal` says that both were
    proven to be equal in exact arithmetic at this point.
    `serves_all` says that it is made once, for the program as a whole, and fixes every place that has this fault.
    """

    text: str
    patch: str = ""
    checked: str = ""
    changes_meaning: str = ""
    others: tuple[Fix, ...] = ()
    is_equal: bool = False
    serves_all: bool = False


@dataclass(frozen=True)
class Diagnostic:
    """A cause found in one run, with everything a renderer needs to say it.

    `kind` is the cause's name. `headline` is one clause in lower case that states the fault. `subject` heads
    the evidence ("d loss / d x"), whose rows are pairs of label and value. `certainty` is the grade: *proven*
    follows from enclosures, *measured* was seen in this run, *likely* means a pattern matches. `share` is the
    part of the gradient's error that arises at this place. `notes` hold what follows from this fault.
    """

    kind: str
    severity: Severity
    certainty: Certainty
    headline: str
    primary: Annotation | None = None
    secondary: tuple[Annotation, ...] = ()
    subject: str = ""
    evidence: tuple[tuple[str, str], ...] = ()
    why: str = ""
    fix: Fix | None = None
    op: str | None = None
    share: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def span(self) -> Span | None:
        return None if self.primary is None else self.primary.span

    @property
    def rank(self) -> int:
        """0 for a note, 1 for a warning, 2 for an error."""
        return SEVERITIES.index(self.severity)

    @property
    def harmless(self) -> str | None:
        """Why nothing need be done about it, where that is so."""
        return next((note for note in HARMLESS if note in self.notes), None)

    @property
    def has_checked_patch(self) -> bool:
        return self.fix is not None and bool(self.fix.patch and self.fix.checked)

    @property
    def weight(self) -> tuple[int, bool]:
        """Which of several that say the same is shown: the gravest, and with a change that was run."""
        return self.rank, self.has_checked_patch

    @cached_property  # asked for by every renderer, for every gradient
    def says_the_same_as(self) -> tuple[str, Span | None, str]:
        """What two diagnostics share if they are one fault seen from two gradients, or in two executions.

        Names and numbers differ between them: at one place `the gradient for x is None` and the same of y are one.
        Where one change serves all places, so are these.
        """
        said = self.headline if self.span is None else _NAMES_AND_NUMBERS.sub("*", self.headline)
        serves_all = self.fix is not None and self.fix.serves_all
        return self.kind, None if serves_all else self.span, said
