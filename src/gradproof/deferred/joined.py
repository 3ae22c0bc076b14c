"""One report of everything that was judged, the same as the run itself would have made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradproof.audit.conclude import with_rules_tried
from gradproof.audit.condense import condensed
from gradproof.audit.facts import Heard
from gradproof.audit.run_report import not_looked_at, run_report
from gradproof.audit.versions import imported_frameworks
from gradproof.deferred.examine import PartWork
from gradproof.deferred.folder import read_block
from gradproof.deferred.judging import show_texts
from gradproof.deferred.model import Ended, Judged
from gradproof.deferred.ranks import joined_ranks
from gradproof.diagnosis.intent import declare
from gradproof.diagnosis.report import GradientReport, Report

NOT_ENDED = "the program has not ended, or too suddenly to say how: this is what was kept up to then"


def joined(work: Sequence[PartWork]) -> Report:
    """The report of a program; of several ranks one for all."""
    reports = [_report(one) for one in work]
    if len(reports) == 1:
        return reports[0]
    return joined_ranks([(one.part.name, report) for one, report in zip(work, reports)])


def _report(work: PartWork) -> Report:
    show_texts(work.texts)
    gradients, seconds = _gradients(work)
    ended = work.ended() or _not_ended(gradients, work.part.has_ended)
    declare(ended.declared)
    heard = replace(ended.heard, spent=seconds, remarks=(*ended.heard.remarks, *work.unread))
    report = run_report(
        gradients, heard, ended.script, ended.seconds, ended.ending, ended.crash, work.begun.folder
    )
    return work.begun.settings.applied(not_looked_at(report, ended.withheld))


def _not_ended(gradients: Sequence[GradientReport], has_ended: bool) -> Ended:
    """That a process has ended and how is not known is said where its file could not be read."""
    frameworks = imported_frameworks(gradient.framework for gradient in gradients)
    return Ended(Heard(frameworks=frameworks, remarks=() if has_ended else (NOT_ENDED,)))


def _gradients(work: PartWork) -> tuple[list[GradientReport], float]:
    """In the order of the calls, and the seconds that they took."""
    found: list[GradientReport] = []
    seconds = 0.0
    for call in work.calls:
        reports = list(work.part.call(call.name).reports) if call.has_reports else []
        for index in sorted(call.done):
            with open(call.result_path(index), "rb") as file:
                result = read_block(file.read(), Judged)
            reports += result.reports
            seconds += result.seconds
        found = with_rules_tried(found, reports) if call.are_tried else condensed([*found, *reports])
    return found, seconds
