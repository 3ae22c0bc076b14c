"""The reports of the processes of one program as one, and what they do not agree on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import comma_list, ordinal

MOST_NAMED = 5  # disagreements that are told one by one


def joined_ranks(reports: Sequence[tuple[str, Report]]) -> Report:
    """Gradients of all ranks, the first rank first; notes that all ranks share are told once."""
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
        notes=(*own, *disagreements(reports)),
        sources={file: text for _, report in reports for file, text in report.sources.items()},
    )


def _ranks(reports: Sequence[tuple[str, Report]], note: str) -> str:
    return comma_list([name for name, report in reports if note in report.notes])


def disagreements(reports: Sequence[tuple[str, Report]]) -> Iterable[str]:
    """Gradients of the same place, execution and name whose verdicts differ between the ranks, or that a rank lacks."""
    by_key: dict[tuple[object, ...], dict[str, GradientReport]] = {}
    for name, report in reports:
        for gradient in report.gradients:
            key = gradient.call, gradient.occurrence, gradient.target, gradient.source
            by_key.setdefault(key, {}).setdefault(name, gradient)
    found = [text for same in by_key.values() if (text := _disagreement(same, [name for name, _ in reports]))]
    yield from found[:MOST_NAMED]
    if len(found) > MOST_NAMED:
        yield f"the ranks disagree on {len(found) - MOST_NAMED:,} more gradients"


def _disagreement(same: dict[str, GradientReport], names: Sequence[str]) -> str:
    first = next(iter(same.values()))
    verdicts = {name: str(same[name].verdict) if name in same else "not computed" for name in names}
    if len(set(verdicts.values())) == 1:
        return ""
    place = f"{first.call.file}:{first.call.line}"
    when = "" if first.occurrence == 1 else f" ({ordinal(first.occurrence)} run)"
    told = comma_list([f"{verdict} on {name}" for name, verdict in verdicts.items()])
    return f"the ranks disagree on d {first.target} / d {first.source} at {place}{when}: {told}"
