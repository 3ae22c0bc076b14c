"""What the audit of a test suite has found, in one process or in the workers of xdist together."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from gradproof import __version__
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.render.from_json import from_json
from gradproof.render.to_json import to_json


@dataclass(frozen=True, eq=False)
class Computed:
    """A gradient, the test and the phase of it that computed it; `is_told` if the test says so where it is bad."""

    gradient: GradientReport
    nodeid: str
    phase: str
    is_bad: bool
    is_told: bool


@dataclass(frozen=True, eq=False)
class Results:
    """The report of all tests; `computed` has its gradients, in the same order."""

    report: Report
    computed: tuple[Computed, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def bad(self) -> list[Computed]:
        return [each for each in self.computed if each.is_bad]

    @property
    def has_failed_silently(self) -> bool:
        """Whether a bad gradient was computed where no test could fail for it: in the collection, in a skipped test."""
        return any(each.is_bad and not each.is_told for each in self.computed)


def sent(results: Results) -> str:
    """As text that crosses to the controller."""
    tests = [[each.nodeid, each.phase, each.is_bad, each.is_told] for each in results.computed]
    return json.dumps({"report": to_json(results.report), "tests": tests, "notes": results.notes})


def received(text: str) -> Results:
    """What a worker has sent."""
    document = json.loads(text)
    report = from_json(document["report"])
    computed = tuple(Computed(g, *test) for g, test in zip(report.gradients, document["tests"]))
    return Results(report, computed, tuple(document["notes"]))


def merged(results: Sequence[Results]) -> Results:
    """One report of all workers. Every worker collects all tests, so that what collecting computed is taken once."""
    computed: list[Computed] = []
    for k, each in enumerate(results):
        computed += [one for one in each.computed if one.nodeid or k == 0]
    timing: Counter[str] = Counter()
    for each in results:
        timing.update(each.report.timing)
    report = Report(
        tuple(one.gradient for one in computed),
        version=__version__,
        frameworks={key: version for each in results for key, version in each.report.frameworks.items()},
        unchecked=tuple(row for each in results for row in each.report.unchecked),
        timing=dict(timing),
        notes=tuple(dict.fromkeys(note for each in results for note in each.report.notes)),
        sources={file: text for each in results for file, text in each.report.sources.items()},
    )
    return Results(report, tuple(computed), tuple(note for each in results for note in each.notes))
