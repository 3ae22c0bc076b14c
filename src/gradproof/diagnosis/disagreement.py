"""What the parts of a distributed training do not agree on: processes of their own, or replicas in one process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import comma_list, ordinal

MOST_NAMED = 5  # disagreements that are told one by one

ByPart = Mapping[str, GradientReport]


def between_ranks(reports: Sequence[tuple[str, Report]]) -> list[str]:
    """Gradients of the same place, execution and name whose verdicts differ between the ranks, or that a rank lacks."""
    by_key: dict[tuple[object, ...], dict[str, GradientReport]] = {}
    for name, report in reports:
        for gradient in report.gradients:
            key = gradient.call, gradient.occurrence, gradient.target, gradient.source
            by_key.setdefault(key, {}).setdefault(name, gradient)
    names = [name for name, _ in reports]
    verdicts = ({name: _verdict(same.get(name)) for name in names} for same in by_key.values())
    return _told("ranks", zip(map(_first, by_key.values()), verdicts))


def between_replicas(gradients: Sequence[GradientReport]) -> list[str]:
    """The same of replicas that one process runs, each an execution of the line of its own.

    Which executions are one step is told by their order; of a step that was not looked at in all replicas nothing is.
    """
    by_key: dict[tuple[object, ...], dict[str, GradientReport]] = {}
    steps: dict[tuple[object, ...], int] = {}
    for gradient in gradients:
        asked = gradient.call, gradient.target, gradient.source
        step = steps[(*asked, gradient.replica)] = steps.get((*asked, gradient.replica), 0) + 1
        by_key.setdefault((*asked, step), {})[f"replica {gradient.replica}"] = gradient
    verdicts = ({name: _verdict(one) for name, one in same.items()} for same in by_key.values())
    firsts = (replace(_first(same), occurrence=int(str(key[-1]))) for key, same in by_key.items())
    return _told("replicas", zip(firsts, verdicts))


def _first(same: ByPart) -> GradientReport:
    return next(iter(same.values()))


def _verdict(gradient: GradientReport | None) -> str:
    return "not computed" if gradient is None else str(gradient.verdict)


def _told(who: str, found: Iterable[tuple[GradientReport, Mapping[str, str]]]) -> list[str]:
    said = [_sentence(who, first, verdicts) for first, verdicts in found if len(set(verdicts.values())) > 1]
    more = len(said) - MOST_NAMED
    return said[:MOST_NAMED] + [f"the {who} disagree on {more:,} more gradients"] * (more > 0)


def _sentence(who: str, first: GradientReport, verdicts: Mapping[str, str]) -> str:
    place = f"{first.call.file}:{first.call.line}"
    when = "" if first.occurrence == 1 else f" ({ordinal(first.occurrence)} run)"
    told = comma_list([f"{verdict} on {name}" for name, verdict in verdicts.items()])
    return f"the {who} disagree on d {first.target} / d {first.source} at {place}{when}: {told}"
