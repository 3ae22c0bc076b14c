"""The gradients of a report by the call that computed them, the executions of a call beside each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import ordinal
from gradproof.ir.span import Span
from gradproof.render.faults import gravest_first, main_cause, main_span

MOST_APART = 6  # executions with a column each; of more, neighbours that say the same share one

Runs = tuple[int, ...]


@dataclass(frozen=True)
class Followed:
    """One gradient through the executions of its call, the first time it was asked for in each."""

    by_run: Mapping[int, GradientReport]

    def at(self, runs: Runs) -> GradientReport | None:
        """What is to be shown for some executions: the gravest, and of these the least accurate."""
        there = [self.by_run[run] for run in runs if run in self.by_run]
        return min(there, key=_rank, default=None)

    @property
    def gravest(self) -> GradientReport:
        return min(self.by_run.values(), key=_rank)


@dataclass(frozen=True)
class CallRows:
    """A call with its gradients, the gravest first, and the executions that were checked, by column."""

    span: Span
    gradients: tuple[Followed, ...]
    runs: tuple[Runs, ...]


def calls(report: Report) -> list[CallRows]:
    """Every gradient once; the call with the gravest first, among equals in the order of the run."""
    found: dict[Span, dict[tuple[str, str, int], dict[int, GradientReport]]] = {}
    seen = Counter[tuple[Span, int, str, str]]()
    for gradient in gravest_first(report):
        asked = gradient.call, gradient.occurrence, gradient.target, gradient.source
        key = gradient.target, gradient.source, seen[asked]  # a name may stand for several in one call
        seen[asked] += 1
        found.setdefault(gradient.call, {}).setdefault(key, {})[gradient.occurrence] = gradient
    return [_call(span, [Followed(by_run) for by_run in rows.values()]) for span, rows in found.items()]


def runs_text(runs: Runs) -> str:
    """`1st run`, `3rd to 40th run`."""
    first = ordinal(runs[0])
    return f"{first} run" if len(runs) == 1 else f"{first} to {ordinal(runs[-1])} run"


def merged(gradients: Sequence[GradientReport]) -> list[tuple[GradientReport, int]]:
    """Executions that say the same of one gradient as one, with their number; the least accurate stands for all."""
    found: dict[tuple[object, ...], list[GradientReport]] = {}
    for gradient in gradients:
        key = gradient.call, gradient.target, gradient.source, *said(gradient)
        found.setdefault(key, []).append(gradient)
    return [(min(alike, key=_rank), len({one.occurrence for one in alike})) for alike in found.values()]


def said(gradient: GradientReport) -> tuple[object, ...]:
    """What a row of a table says about a gradient, but for its name and its digits."""
    return gradient.verdict, gradient.intended, main_cause(gradient), main_span(gradient)


def _call(span: Span, gradients: Sequence[Followed]) -> CallRows:
    runs = sorted({run for followed in gradients for run in followed.by_run})
    each = [(run, gradient) for followed in gradients for run, gradient in followed.by_run.items()]
    if 2 * len(each) < len(gradients) * len(
        runs
    ):  # other gradients every time: columns would be mostly empty
        return CallRows(span, tuple(Followed({run: gradient}) for run, gradient in each), (tuple(runs),))
    columns: list[Runs] = [(run,) for run in runs]
    if len(columns) > MOST_APART:
        columns = [tuple(group) for _, group in groupby(runs, key=lambda run: _said_in(gradients, run))]
    return CallRows(span, tuple(gradients), tuple(columns))


def _said_in(gradients: Sequence[Followed], run: int) -> list[object]:
    return [said(one) if (one := each.by_run.get(run)) else None for each in gradients]


def _rank(gradient: GradientReport) -> tuple[int, float]:
    known = gradient.known_digits
    return -gradient.verdict.severity, float("inf") if known is None else known[0]
