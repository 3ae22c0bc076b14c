"""What is said of a function that is not the same function in its second call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gradproof.diagnosis.diagnostic import Diagnostic, Fix, Severity, annotated
from gradproof.diagnosis.report import GradientReport
from gradproof.diagnosis.words import array_text, comma_list
from gradproof.frontends.check.purity import Impurity
from gradproof.frontends.check.request import Checked
from gradproof.ir.span import Span
from gradproof.judge.by_facts import undecided
from gradproof.judge.verdict import Verdict

KIND = "impure"


def impure_reports(checked: Checked, name: str, call: Span, definition: Span | None) -> list[GradientReport]:
    """Nothing was compared: one entry per argument that says why."""
    assert checked.impurity is not None
    judgement = undecided(
        f"`{name}` is not a function of its arguments alone, so there is nothing to compare with"
    )
    found = diagnose(checked.impurity, name, definition, "error")
    return [
        GradientReport(
            call=call,
            framework=checked.framework,
            target=name,
            source=source,
            shape=(),
            dtype="float64",
            verdict=judgement.verdict,
            reason=judgement.reason,
            diagnostics=(found,),
        )
        for source in checked.names
    ]


def with_impurity(
    report: GradientReport, impurity: Impurity, name: str, definition: Span | None
) -> GradientReport:
    """The verdict holds for the run that was recorded; that another run differs is a warning, said once."""
    if any(diagnostic.kind == KIND for diagnostic in report.diagnostics):
        return report
    found = diagnose(impurity, name, definition, "warning")
    return replace(report, diagnostics=(*report.diagnostics, found))


def calmed(gradients: Sequence[GradientReport]) -> Iterator[GradientReport]:
    """Numbers drawn anew are a note where a line runs again and again: a training is meant to see other ones each time.

    The gradients were judged for the numbers that were drawn. Where a line ran once, somebody may want to compare.
    """
    repeated = {_line(gradient) for gradient in gradients if gradient.occurrence > 1}
    for gradient in gradients:
        if gradient.verdict is Verdict.CORRECT and _line(gradient) in repeated:
            lowered = (_lowered(diagnostic) for diagnostic in gradient.diagnostics)
            yield replace(gradient, diagnostics=tuple(lowered))
        else:
            yield gradient


def _line(gradient: GradientReport) -> tuple[str, int]:
    return gradient.call.file, gradient.call.line


def _lowered(diagnostic: Diagnostic) -> Diagnostic:
    is_own = diagnostic.kind == KIND and diagnostic.severity == "warning"
    return replace(diagnostic, severity="note") if is_own else diagnostic


def diagnose(impurity: Impurity, name: str, definition: Span | None, severity: Severity) -> Diagnostic:
    if impurity.changed:
        changed = comma_list([f"`{argument}`" for argument in impurity.changed])
        headline = f"`{name}` changes its argument {changed} in place"
        why = (
            f"A gradient is taken at a point, and after one call of `{name}` the point is another one. "
            "Whoever calls it for a value and then for a gradient gets them at different points."
        )
        fix = Fix(f"let `{name}` work on a copy: `{impurity.changed[0]} = {impurity.changed[0]}.copy()`")
        evidence: tuple[tuple[str, str], ...] = ()
    else:
        headline = f"`{name}` returns another result when it is called again"
        why = (
            f"Two calls of `{name}` with the same arguments gave different numbers, so it draws random "
            "numbers or keeps a state. A gradient belongs to one of these calls only."
        )
        fix = Fix("fix the seed inside the function, or pass the random numbers and the state as arguments")
        assert impurity.first is not None
        assert impurity.second is not None
        evidence = (("first call", array_text(impurity.first)), ("second call", array_text(impurity.second)))
    primary = annotated(definition, "")
    return Diagnostic(
        KIND,
        severity,
        "measured",
        headline,
        primary,
        evidence=evidence,
        why=why,
        fix=fix,
        subject=f"{name}()",
    )
