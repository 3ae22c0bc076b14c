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


def without_one_sided_fixes(reports: Sequence[tuple[str, Report]]) -> list[tuple[str, Report]]:
    """The reports without changes of lines that would be made for one rank where another is right without them."""
    by_key = _by_key(reports)
    return [
        (name, replace(one, gradients=tuple(_for_all(by_key[_key(each)], each) for each in one.gradients)))
        for name, one in reports
    ]


def _for_all(same: ByPart, gradient: GradientReport) -> GradientReport:
    right = [name for name, one in same.items() if one.verdict is Verdict.CORRECT]
    if gradient.verdict is Verdict.CORRECT or not right:
        return gradient
    where = f"{comma_list(right)} may run these lines too, where this gradient is correct as it is"
    return replace(gradient, diagnostics=tuple(_with_fix_for_all(one, where) for one in gradient.diagnostics))


def _with_fix_for_all(diagnostic: Diagnostic, where: str) -> Diagnostic:
    """Another way to write the same may be offered; any other change was tried with the numbers of one part only."""
    fix = diagnostic.fix
    if fix is None or not fix.patch or fix.is_equal:
        return diagnostic
    equal = next((one for one in fix.others if one.patch and one.is_equal), None)
    if equal is not None:
        return replace(diagnostic, fix=equal)
    note = f"no fix is offered: {where}, and what would fix it here ({fix.text}) was not tried there"
    return replace(diagnostic, fix=None, notes=(*diagnostic.notes, note))


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
    by_step = _by_step(gradients)
    verdicts = ({name: _verdict(one) for name, one in same.items()} for same in by_step.values())
    firsts = (replace(_first(same), occurrence=int(str(key[-1]))) for key, same in by_step.items())
    return _told("replicas", zip(firsts, verdicts))


def without_fixes_of_one_replica(gradients: Sequence[GradientReport]) -> tuple[GradientReport, ...]:
    """As with ranks: what is changed for one replica is changed for all."""
    groups = {id(one): same for same in _by_step(gradients).values() for one in same.values()}
    return tuple(_for_all(groups.get(id(one), {}), one) for one in gradients)


def _by_step(gradients: Sequence[GradientReport]) -> dict[tuple[object, ...], dict[str, GradientReport]]:
    by_key: dict[tuple[object, ...], dict[str, GradientReport]] = {}
    steps: dict[tuple[object, ...], int] = {}
    for gradient in gradients:
        asked = gradient.call, gradient.target, gradient.source
        step = steps[(*asked, gradient.replica)] = steps.get((*asked, gradient.replica), 0) + 1
        by_key.setdefault((*asked, step), {})[f"replica {gradient.replica}"] = gradient
    return by_key


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
