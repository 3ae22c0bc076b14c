"""What is known after a run, frozen: everything a renderer needs, the source text included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from gradproof.diagnosis.diagnostic import BY_NORM, SEVERITIES, Diagnostic, Severity
from gradproof.diagnosis.entries import EntryTable, tabulate
from gradproof.diagnosis.figures import Figures
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.judge.judge import Judgement
from gradproof.judge.verdict import Verdict, worst

SCHEMA = 1
UNSEEN = 2  # the exit status where nothing is known of a program that may well compute gradients

FailOn = Literal["error", "warning", "never"]

# The level of a verdict for which no cause of level warning or error was found. `unverified` is a warning:
# who asks to fail on warnings does not want what was left undecided to pass.
_LEVEL_WITHOUT_CAUSE: dict[Verdict, Severity] = {
    Verdict.CORRECT: "note",
    Verdict.UNVERIFIED: "warning",
    Verdict.UNDEFINED: "warning",
    Verdict.INACCURATE: "error",
    Verdict.MISSING: "error",
    Verdict.NONFINITE: "error",
    Verdict.WRONG: "error",
}


@dataclass(frozen=True)
class BudgetLine:
    """The share of one op, hence of its source line, in the error of a gradient."""

    span: Span
    share: float
    op: str


@dataclass(frozen=True, eq=False)
class GradientReport:
    """What is known about the gradient for one source of one gradient call.

    `call` is the place of the call that computed it. `oracle` names what the reference comes from; a name
    that starts with "ball" is an enclosure. `relative_error` and `digits` are those of the worst entry.
    `one_sided` holds the slopes from below and from above where they differ. `entries` is given when the
    arrays are not at hand; `entry_table` serves both cases. `intended` marks a deviation the user has
    declared deliberate. `computed` is False where the program failed before the framework returned anything.
    `drawing` makes the pictures when a renderer first asks for `figures`: most reports are only read as text.
    """

    call: Span
    framework: str
    target: str
    source: str
    shape: tuple[int, ...]
    dtype: str
    verdict: Verdict
    occurrence: int = 1
    order: int = 1
    oracle: str | None = None
    reason: str | None = None
    observed: Array | None = None
    reference: Array | None = None
    reference_radius: Array | None = None
    relative_error: float | None = None
    digits: float | None = None
    digits_possible: float | None = None
    one_sided: tuple[Array, Array] | None = None
    diagnostics: tuple[Diagnostic, ...] = ()
    budget: tuple[BudgetLine, ...] = ()
    entries: EntryTable | None = None
    intended: bool = False
    computed: bool = True
    target_value: Array | None = None  # what was differentiated, where that is one number
    drawing: Callable[[], Figures] | None = None
    replica: int = 0  # of several that one process runs
    faults: tuple[str, ...] = ()  # of gradproof itself, a sentence each; told once for the whole report

    def under(self, judgement: Judgement, diagnostics: tuple[Diagnostic, ...]) -> GradientReport:
        """The same gradient under another judgement: what rested on the one before is gone."""
        return replace(
            self,
            verdict=judgement.verdict,
            reason=judgement.reason,
            oracle=None,
            reference=None,
            reference_radius=None,
            relative_error=None,
            digits=None,
            one_sided=None,
            budget=(),
            diagnostics=diagnostics,
        )

    @cached_property
    def figures(self) -> Figures | None:
        """The pictures, made once; None where there is nothing to draw from."""
        return None if self.drawing is None else self.drawing()

    @property
    def is_proven(self) -> bool:
        """Whether the reference is an enclosure and not an estimate."""
        return self.oracle is not None and self.oracle.startswith("ball")

    @property
    def level(self) -> Severity:
        """How serious this is: that of the gravest cause, or of the verdict where no cause explains it."""
        if self.intended:
            return "note"
        rank = max((diagnostic.rank for diagnostic in self.diagnostics), default=0)
        if rank == 0 and BY_NORM in (self.reason or ""):
            return "warning"
        return SEVERITIES[rank] if rank > 0 else _LEVEL_WITHOUT_CAUSE[self.verdict]

    @property
    def known_digits(self) -> tuple[float, float] | None:
        """Right digits and possible ones; None where either is not known."""
        if self.digits is None or self.digits_possible is None or math.isnan(self.digits):
            return None
        return self.digits, self.digits_possible

    @cached_property
    def entry_table(self) -> EntryTable | None:
        """Observed against reference by entry; None where one of them is lacking or they do not fit.

        Computed once: several renderers ask for it, and a gradient may have millions of entries.
        """
        if self.entries is not None or self.observed is None or self.reference is None:
            return self.entries
        shape, radius = self.reference.shape, self.reference_radius
        fit = self.observed.shape == shape and (radius is None or radius.shape in ((), shape))
        if self.digits_possible is None or not fit:
            return None
        return tabulate(self.observed, self.reference, radius, self.digits_possible)


@dataclass(frozen=True)
class Script:
    """The program that was run: the user's file, the exception it ended with, its own exit status.

    `crash` explains the exception in the user's terms, where it is understood. `unserved` are the frameworks it
    uses whose gradients cannot be seen.
    """

    path: str
    exception: str | None = None
    exit_status: int = 0
    crash: Diagnostic | None = None
    unserved: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unchecked:
    """Gradient calls that were seen and not checked, and why."""

    call: Span
    count: int
    reason: str


@dataclass(frozen=True, eq=False)
class Report:
    """All gradients of a run. `timing` is in seconds by stage, `sources` maps a file to its text."""

    gradients: tuple[GradientReport, ...]
    version: str = ""
    frameworks: Mapping[str, str] = field(default_factory=dict)
    script: Script | None = None
    unchecked: tuple[Unchecked, ...] = ()
    timing: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    schema: int = SCHEMA

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return tuple(gradient.verdict for gradient in self.gradients)

    @property
    def worst(self) -> Verdict | None:
        """The most severe verdict among deviations that are not intended; None when nothing was judged."""
        return worst(g.verdict for g in self.gradients if not g.intended) or worst(self.verdicts)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every fault once, though it may have spoilt several gradients; in the order of the gradients.

        What is shown is the gravest of them, and among equals one with a change that was run and mends it.
        """
        once: dict[Any, Diagnostic] = {}
        for gradient in self.gradients:
            for diagnostic in gradient.diagnostics:
                held = once.setdefault(diagnostic.says_the_same_as, diagnostic)
                if diagnostic.weight > held.weight:
                    once[diagnostic.says_the_same_as] = diagnostic
        return tuple(once.values())

    def exit_status(self, fail_on: FailOn = "error") -> int:
        """1 if a gradient reaches the level, 2 if none could be seen, else the script's own exit status."""
        if fail_on != "never":
            least = SEVERITIES.index(fail_on)
            if any(SEVERITIES.index(gradient.level) >= least for gradient in self.gradients):
                return 1
        if self.is_blind and not (self.script and self.script.exit_status):
            return UNSEEN
        return 0 if self.script is None else self.script.exit_status

    @property
    def is_blind(self) -> bool:
        """Whether the program is written in a framework that is not served, and nothing else was there to judge."""
        return not self.gradients and self.script is not None and bool(self.script.unserved)

    def __str__(self) -> str:
        # The renderers stand above this layer. `print(report)` is worth the one import that points upwards;
        # it happens when the text is asked for, so that the layers still load in order.
        from gradproof.render.to_text import to_text

        return to_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows for a report, by the name that notebooks ask for."""
        from gradproof.render.to_html import to_fragment

        return to_fragment(self)

    def _repr_pretty_(self, printer: Any, is_cycle: bool) -> None:
        """What IPython shows on a terminal, and a notebook where HTML cannot be seen."""
        del is_cycle
        printer.text(str(self).rstrip("\n"))


def untold_faults(gradients: Iterable[GradientReport]) -> Iterator[str]:
    """What went wrong in gradproof itself. A gradient without a diagnostic tells its reason, and so its own fault."""
    for gradient in gradients:
        told = None if gradient.diagnostics else gradient.reason
        yield from (fault for fault in gradient.faults if fault != told)
