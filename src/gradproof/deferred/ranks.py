"""The reports of the processes of one program as one, and what they do not agree on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradproof.diagnosis.disagreement import between_ranks, without_one_sided_fixes
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import comma_list


def joined_ranks(reports: Sequence[tuple[str, Report]]) -> Report:
    """Gradients of all ranks, the first rank first; notes that all ranks share are told once."""
    reports = without_one_sided_fixes(reports)
    _, first = reports[0]
    notes = dict.fromkeys(note for _, report in reports for note in report.notes)
    own = [
        note if all(note in report.notes for _, report in reports) else f"{_ranks(reports, note)}: {note}"
        for note in notes
    ]
    failed = next((r for _, r in reports if r.script is not None and r.script.exit_status), first)
    return replace(
        first,
        gradients=tuple(gradient for _, report in reports for gradient in report.gradients),
        frameworks={name: version for _, report in reports for name, version in report.frameworks.items()},
        script=failed.script,
        unchecked=tuple(row for _, report in reports for row in report.unchecked),
        timing={stage: max(report.timing.get(stage, 0.0) for _, report in reports) for stage in first.timing},
        notes=(*own, *between_ranks(reports)),
        sources={file: text for _, report in reports for file, text in report.sources.items()},
    )


def _ranks(reports: Sequence[tuple[str, Report]], note: str) -> str:
    return comma_list([name for name, report in reports if note in report.notes])
