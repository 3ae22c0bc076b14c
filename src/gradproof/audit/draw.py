"""Ties the pictures to a report: drawn when somebody looks, within a time that the whole report shares."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from gradproof.audit.silenced import undisturbed
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.drawing.drawing import Allowance, draw
from gradproof.diagnosis.drawing.sketch import Sketch, sketched
from gradproof.diagnosis.figures import Figures
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.frontends.select import modes_in
from gradproof.internal_error import fault_reason
from gradproof.ir.program import Program

LET_GO = "its program was let go to keep the memory of a long run in bounds"


@dataclass(frozen=True, eq=False)
class Drawing:
    """Makes the figures of a gradient when it is called; those of one report share their allowance of time."""

    sketch: Sketch
    allowance: Allowance = field(default_factory=Allowance)

    def __call__(self) -> Figures:
        start = time.thread_time()
        is_plain = self.sketch.is_plain
        try:
            with undisturbed():
                return draw(self.sketch, self.allowance.left(is_plain))
        except Exception as error:  # a fault of ours costs the pictures, not the report
            return _nothing(fault_reason(error))
        finally:
            self.allowance.spend(is_plain, time.thread_time() - start)

    @property
    def program(self) -> Program | None:
        """What is held for the pictures only; the gradients of one call share it."""
        return self.sketch.gradient_program or self.sketch.program

    @cached_property
    def n_bytes(self) -> int:
        return self.sketch.n_bytes

    @property
    def lightened(self) -> Drawing:
        """One that holds no program and no array, and still shows what was summarised already."""
        sketch = self.sketch
        bare = replace(sketch, program=None, gradient_program=None, true=None, too_large=LET_GO)
        return replace(self, sketch=replace(bare, source=replace(sketch.source, observed=None)))


@dataclass(frozen=True, eq=False)
class Nothing:
    """In the place of a drawing: the reason why there is none."""

    reason: str

    def __call__(self) -> Figures:
        return _nothing(self.reason)


@dataclass(frozen=True, eq=False)
class DrawnFigures:
    """In the place of a drawing: what it has made already."""

    figures: Figures

    def __call__(self) -> Figures:
        return self.figures


def drawn(gradient: GradientReport) -> GradientReport:
    """The same gradient with its pictures made, for one that goes where they cannot be."""
    figures = gradient.figures
    return gradient if figures is None else replace(gradient, drawing=DrawnFigures(figures))


def _nothing(reason: str) -> Figures:
    return Figures(lacking=dict.fromkeys(("slice", "steps", "program"), reason))


def drawing_of(case: Case, diagnostics: Sequence[Diagnostic]) -> Drawing | Nothing:
    """Costs next to nothing where the program is small; of a large one an outline is kept and the rest let go."""
    try:
        return Drawing(sketched(case, diagnostics, modes_in(case.capture.framework)))
    except Exception as error:
        return Nothing(fault_reason(error))


def sharing_time(report: Report) -> Report:
    """The same report, whose drawings share one allowance."""
    allowance = Allowance()
    gradients = tuple(
        replace(gradient, drawing=replace(gradient.drawing, allowance=allowance))
        if isinstance(gradient.drawing, Drawing)
        else gradient
        for gradient in report.gradients
    )
    return replace(report, gradients=gradients)
