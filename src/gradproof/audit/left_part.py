"""What is said of a function a part of which left the framework and came back as a constant."""

from __future__ import annotations

from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.check.request import Left
from gradproof.judge.by_facts import undecided
from gradproof.judge.verdict import Verdict

KIND = "left-framework"


def with_left(report: GradientReport, left: Left) -> GradientReport:
    """The gradient of what was recorded is not that of the function: neither is judged by the other."""
    if report.source not in left.names or report.verdict is Verdict.MISSING:
        return report
    place = "" if left.span is None else f" on line {left.span.line}"
    reason = f"numbers left through `{left.how}`{place} and count as constants, though they depend on `{report.source}`"
    return report.under(undecided(reason), (_diagnose(report, left),))


def _diagnose(report: GradientReport, left: Left) -> Diagnostic:
    target, source, how = report.target, report.source, left.how
    line = "In between" if left.span is None else f"On line {left.span.line}"
    where = f"{line} arrays are turned into plain numbers"
    return Diagnostic(
        KIND,
        "error",
        "measured",
        f"a part of `{target}` leaves the tape through `{how}` and counts as constant",
        primary=annotated(left.span, "plain numbers from here on"),
        subject=f"d {target} / d {source}",
        why=(
            f"The tape follows arrays, not plain numbers. {where}, and what is computed from them has no gradient. "
            f"With another `{source}` they are other numbers, as a second call of `{target}` nearby has shown."
        ),
        fix=Fix(
            f"stay with arrays: leave out `{how}`, or say `gradproof.stop_gradient` if a constant is meant"
        ),
    )
