"""What the parts of a distributed training do not agree on: processes of their own, or replicas in one process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import comma_list, ordinal
from gradproof.judge.verdict import Verdict

MOST_NAMED = 5  # disagreements that are told one by one

ByPart = Mapping[str, GradientReport]


def between_ranks(reports: Sequence[tuple[str, Report]]) -> list[str]:
    """Gradients of the same place, execution and name whose verdicts differ between the ranks, or that a rank lacks."""
    by_key = _by_key(reports)
    names = [name for name, _ in reports]
    verdicts = ({name: _verdict(same.get(name)) for name in names} for same in by_key.values())
    return _told("ranks", zip(map(_first, by_key.values()), verdicts))


def told_of_others(reports: Sequence[tuple[str, Report]]) -> list[tuple[str, Report]]:
    """The reports, whose fixes say where other ranks run the same lines and have a right gradient without them.

    A fix is tried with the numbers of its own rank; where it is more than another way to write the same, it may make
    the gradient of another one wrong.
    """
    by_key = _by_key(reports)

    def told(gradient: GradientReport) -> GradientReport:
        same = by_key[_key(gradient)]
        right = [name for name, one in same.items() if one.verdict is Verdict.CORRECT]
        if gradient.verdict is Verdict.CORRECT or not right:
            return gradient
        said = f"{comma_list(right)} may run this too: there this gradient is correct, and the change was not tried"
        found = (_with_change(one, said) for one in gradient.diagnostics)
        return replace(gradient, diagnostics=tuple(found))

    return [(name, replace(report, gradients=tuple(map(told, report.gradients)))) for name, report in reports]


def _with_change(diagnostic: Diagnostic, said: str) -> Diagnostic:
    fix = diagnostic.fix
    if fix is None or not fix.patch or fix.is_equal:
        return diagnostic
    meaning = "; ".join(filter(None, (fix.changes_meaning, said)))
    return replace(diagnostic, fix=replace(fix, changes_meaning=meaning))


def _key(gradient: GradientReport) -> tuple[object, ...]:
    return gradient.call, gradient.occurrence, gradient.target, gradient.source


def _by_key(reports: Sequence[tuple[str, Report]]) -> dict[tuple[object, ...], dict[str, GradientReport]]:
    by_key: dict[tuple[object, ...], dict[str, GradientReport]] = {}
    for name, report in reports:
        for gradient in report.gradients:
            by_key.setdefault(_key(gradient), {}).setdefault(name, gradient)
    return by_key


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
