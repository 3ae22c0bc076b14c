"""What a report finds, one item per place and fault: the common ground of SARIF, GitHub and JUnit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradproof.diagnosis.diagnostic import SEVERITIES, Diagnostic, Severity
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import printable
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.faults import reach, unexplained
from gradproof.render.sentence import sentence


@dataclass(frozen=True, eq=False)
class Finding:
    """One fault, however many gradients it has spoilt.

    `kind` is the name of the cause; where no cause was found, that of the verdict. `diagnostic` is None there.
    """

    kind: str
    level: Severity
    headline: str
    span: Span
    gradients: tuple[GradientReport, ...]
    diagnostic: Diagnostic | None = None

    @property
    def is_intended(self) -> bool:
        """Whether the user has declared every deviation that comes from it deliberate."""
        return bool(self.gradients) and all(gradient.intended for gradient in self.gradients)


def findings(report: Report) -> list[Finding]:
    """The crash, then every fault and every verdict without a cause, the gravest first."""
    crash = [] if report.script is None or report.script.crash is None else [report.script.crash]
    place = Span("" if report.script is None else report.script.path, 0)
    explained = [_explained(diagnostic, (), diagnostic.span or place) for diagnostic in crash]
    found = [*_with_cause(report), *_without_cause(report)]
    return explained + sorted(found, key=lambda finding: -SEVERITIES.index(finding.level))


def paragraphs(finding: Finding) -> list[str]:
    """The message in words, each paragraph on one line: fault, evidence, why, fix, what was run, whom it reaches."""
    said = [f"{finding.headline}."]
    diagnostic = finding.diagnostic
    if diagnostic is not None:
        evidence = "; ".join(f"{label} {value}" for label, value in diagnostic.evidence)
        said += [f"{diagnostic.subject}: {evidence}" if diagnostic.subject else evidence] if evidence else []
        said += [diagnostic.why] if diagnostic.why else []
        said += _fix(diagnostic)
        said += [f"note: {note}" for note in diagnostic.notes]
    shared = "likewise" if diagnostic is None else "the same fault reaches"
    said += [f"{shared} {reach(finding.gradients)}"] if len(finding.gradients) > 1 else []
    return [printable(each) for each in said]


def _fix(diagnostic: Diagnostic) -> Iterator[str]:
    fix = diagnostic.fix
    if fix is None:
        return
    yield f"fix: {fix.text}"
    if fix.changes_meaning:
        yield f"changes: {fix.changes_meaning}"
    yield (
        f"checked: {fix.checked}" if fix.checked else "not checked: the program with this change was not run"
    )


def _with_cause(report: Report) -> Iterator[Finding]:
    reached: dict[object, dict[int, GradientReport]] = {}
    for k, gradient in enumerate(report.gradients):
        for diagnostic in gradient.diagnostics:
            reached.setdefault(diagnostic.says_the_same_as, {})[k] = gradient
    for diagnostic in report.diagnostics:
        gradients = tuple(reached[diagnostic.says_the_same_as].values())
        yield _explained(diagnostic, gradients, diagnostic.span or gradients[0].call)


def _explained(diagnostic: Diagnostic, reached: tuple[GradientReport, ...], span: Span) -> Finding:
    return Finding(diagnostic.kind, diagnostic.severity, diagnostic.headline, span, reached, diagnostic)


def _without_cause(report: Report) -> Iterator[Finding]:
    """Gradients that are not correct and have no cause; those of one call with one reason are one finding."""
    alike: dict[tuple[Verdict, Span, str | None, bool], list[GradientReport]] = {}
    for gradient in unexplained(report):
        key = gradient.verdict, gradient.call, gradient.reason, gradient.intended
        alike.setdefault(key, []).append(gradient)
    for gradients in alike.values():
        first = gradients[0]
        said = sentence(first).replace("  ", " is ", 1)
        yield Finding(str(first.verdict), first.level, said, first.call, tuple(gradients))
