"""The faults of a report in the order in which they are said, each once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gradproof.diagnosis.diagnostic import SEVERITIES, Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import capped_list, count, ordinal
from gradproof.ir.span import Span
from gradproof.judge.unknown import NO_NUMBER_GIVEN
from gradproof.judge.verdict import Verdict
from gradproof.render.sentence import name

MOST_NAMED, MOST_SOURCES = 2, 3  # gradients beside the first that are named in full; sources that are


def ordered_diagnostics(report: Report) -> list[Diagnostic]:
    """Every fault once, with the other gradients it reaches as a note: errors first, then what a fix is known for.

    Among equals the worst verdict, then the order of the run.
    """
    reached: dict[object, list[GradientReport]] = {}
    for gradient in report.gradients:
        for diagnostic in gradient.diagnostics:
            reached.setdefault(diagnostic.says_the_same_as, []).append(gradient)

    def urgency(diagnostic: Diagnostic) -> tuple[int, bool, int]:
        worst = max(gradient.verdict.severity for gradient in reached[diagnostic.says_the_same_as])
        return diagnostic.rank, diagnostic.fix is not None, worst

    result = []
    for diagnostic in sorted(report.diagnostics, key=urgency, reverse=True):
        spoilt = reached[diagnostic.says_the_same_as]
        if len(spoilt) > 1:
            shown = next(one for one in spoilt if any(each is diagnostic for each in one.diagnostics))
            note = f"the same fault reaches {reach([shown, *(one for one in spoilt if one is not shown)])}"
            diagnostic = replace(diagnostic, notes=(*diagnostic.notes, note))
        result.append(diagnostic)
    return result


def reach(gradients: Sequence[GradientReport]) -> str:
    """The gradients behind the first: two by their names, more by what they are for and how far they go on."""
    first, *others = gradients
    names = list(dict.fromkeys(map(name, others)))
    if len(names) <= MOST_NAMED:
        return capped_list(names)
    sources = [f"`{one}`" for one in dict.fromkeys(g.source for g in others) if one != first.source]
    last = max(gradient.occurrence for gradient in others)
    told = f": for {capped_list(sources, MOST_SOURCES)}" if sources else ""
    until = f", up to the {ordinal(last)} run" if last > first.occurrence else ""
    return f"{count(len(names), 'other gradient')}{told}{until}"


def roots(report: Report) -> list[Diagnostic]:
    """What is to be fixed, in this order. A crash that another fault has led to, or told at its place, is none."""
    faults = [one for one in unaccepted(report, ordered_diagnostics(report)) if one.rank > 0]
    crash = None if report.script is None else report.script.crash
    if crash is None or (crash.fix is None and faults):
        return faults
    return [crash, *(one for one in faults if one.span != crash.span)]


def unaccepted(report: Report, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Without those that only gradients have whose deviation is declared as intended."""
    meant = {d.says_the_same_as for g in report.gradients if g.intended for d in g.diagnostics}
    unmeant = {d.says_the_same_as for g in report.gradients if not g.intended for d in g.diagnostics}
    return [d for d in diagnostics if d.says_the_same_as not in meant - unmeant]


def gravest_first(report: Report) -> list[GradientReport]:
    """The gradients by how serious they are; among equals in the order of the run."""
    return sorted(report.gradients, key=lambda gradient: -SEVERITIES.index(gradient.level))


def main_diagnostic(gradient: GradientReport) -> Diagnostic | None:
    """The gravest diagnostic of a gradient, the first among equals; notes do not explain a verdict."""
    ranked = [diagnostic for diagnostic in gradient.diagnostics if diagnostic.rank > 0]
    return max(ranked, key=lambda diagnostic: diagnostic.rank, default=None)


def main_span(gradient: GradientReport) -> Span:
    """The place to look at first: that of the gravest diagnostic, else the gradient call."""
    main = main_diagnostic(gradient)
    return gradient.call if main is None or main.span is None else main.span


def main_cause(gradient: GradientReport) -> str:
    """The kind of the gravest diagnostic, or that the deviation is intended; empty where there is neither."""
    if gradient.intended:
        return "intended"
    main = main_diagnostic(gradient)
    return "" if main is None else main.kind


def told_cause(report: Report, gradient: GradientReport) -> str:
    """As `main_cause`; what is told as the end of the program is called by that."""
    crash, main = None if report.script is None else report.script.crash, main_diagnostic(gradient)
    if crash is None or crash.fix is None or main is None or main.span != crash.span:
        return main_cause(gradient)
    return crash.kind


def estimated(report: Report) -> list[GradientReport]:
    """Gradients that are correct by an estimate, of which the reader has to know what it rests on."""
    return [
        gradient
        for gradient in report.gradients
        if gradient.verdict is Verdict.CORRECT and gradient.reason and not gradient.is_proven
    ]


def left_behind(report: Report) -> list[GradientReport]:
    """Gradients of later runs that begin with NaN or infinity, as an update with such a gradient leaves it."""
    spoilt = [gradient.occurrence for gradient in report.gradients if gradient.verdict is Verdict.NONFINITE]
    return [
        gradient
        for gradient in report.gradients
        if spoilt
        and gradient.occurrence > min(spoilt)
        and (gradient.reason == NO_NUMBER_GIVEN or _is_told_as_left_behind(gradient))
        and all(one.rank == 0 for one in gradient.diagnostics)
    ]


def _is_told_as_left_behind(gradient: GradientReport) -> bool:
    """Whether a note says so: where a `where` hides the NaN from the target, the true gradient is a number."""
    is_note = any((one.kind, one.severity) == ("invalid-domain", "note") for one in gradient.diagnostics)
    return is_note and gradient.verdict is Verdict.NONFINITE


def unexplained(report: Report) -> list[GradientReport]:
    """Gradients that are not correct and for which no cause says why; NaN that an earlier step left is no riddle."""
    told = {id(one) for one in left_behind(report) if _is_told_as_left_behind(one)}
    return [
        gradient
        for gradient in report.gradients
        if gradient.verdict is not Verdict.CORRECT
        and main_diagnostic(gradient) is None
        and id(gradient) not in told
    ]
