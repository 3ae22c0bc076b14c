"""What is found out after a program has ended: rules it left unused, and the gradients it did not get to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from gradproof.audit.examine import examine
from gradproof.audit.never_computed import never_computed
from gradproof.audit.unknown_name import diagnose, differences, examined, find_unknown_name, may_call, meant
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.attachment import Attachment
from gradproof.ir.capture import Capture
from gradproof.judge.verdict import Verdict
from gradproof.options import Options


@dataclass(frozen=True, eq=False)
class Conclusion:
    """Entries to be added, and the explanation of the crash, if there is one."""

    gradients: list[GradientReport] = field(default_factory=list)
    crash: Diagnostic | None = None


def with_rules_tried(
    gradients: Iterable[GradientReport], tried: Iterable[GradientReport]
) -> list[GradientReport]:
    """The entries again, those that have hand-written rules which never ran with what the rules return."""
    again = {_key(report): report for report in tried}
    return [_better(gradient, again.get(_key(gradient), gradient)) for gradient in gradients]


def _better(first: GradientReport, again: GradientReport) -> GradientReport:
    """The second look, unless it was cut short and knows less than the first."""
    return first if again.verdict is Verdict.UNVERIFIED else again


def _key(gradient: GradientReport) -> tuple[object, ...]:
    return gradient.call, gradient.occurrence, gradient.target, gradient.source


def conclusion(error: BaseException, attachments: Iterable[Attachment], options: Options) -> Conclusion:
    """Everything that the exception which ended the program gives reason to look at."""
    text = f"{type(error).__name__}: {error}"
    unknown = find_unknown_name(error)
    if unknown is not None:
        asked = meant(unknown)
        if asked is not None and not may_call(asked):
            return Conclusion([], diagnose(unknown, None))
        found = [] if asked is None else examined(unknown, asked, options)
        crash = diagnose(unknown, None if asked is None else differences(asked))
        if asked is not None:
            return Conclusion([never_computed(one, text, "computed at this point,") for one in found], crash)
        return replace(_prevented(error, text, attachments, options), crash=crash)
    return _prevented(error, text, attachments, options)


def _prevented(
    error: BaseException, text: str, attachments: Iterable[Attachment], options: Options
) -> Conclusion:
    """The gradients that the program was about to compute."""
    for attachment in attachments:
        known = attachment.crashed(error)
        if known is not None:
            how = known.mended or "computed from what had run,"
            found = [one for capture in known.captures for one in _told(capture, options, text, how)]
            return Conclusion(found, known.diagnostic)
    return Conclusion()


def _told(capture: Capture, options: Options, text: str, how: str) -> Iterable[GradientReport]:
    """Entries of a call that was not reached; nothing was run for one whose own cause explains the exception."""
    for one in examine(capture, options):
        is_explained = capture.program is None and one.verdict is Verdict.MISSING and bool(one.diagnostics)
        yield replace(one, computed=False) if is_explained else never_computed(one, text, how)
