"""Running a piece of a program as it is audited, for the tests of the PyTorch frontend."""

from __future__ import annotations

from collections.abc import Callable

import gradproof
from gradproof.diagnosis.report import Report
from gradproof.frontends.record.model import GradientCall
from gradproof.frontends.torch.record.observation import observe
from gradproof.judge.verdict import Verdict


def audited(program: Callable[[], object]) -> Report:
    with gradproof.watch() as report:
        program()
    return report


def assert_all_correct(report: Report, n_gradients: int | None = None) -> None:
    """Every gradient is proven right, and nothing went wrong in here."""
    said = [
        f"{g.source}: {g.verdict} {g.reason}" for g in report.gradients if g.verdict is not Verdict.CORRECT
    ]
    assert said == []
    assert report.notes == ()
    assert report.gradients
    if n_gradients is not None:
        assert len(report.gradients) == n_gradients


def recorded(program: Callable[[], object]) -> list[GradientCall]:
    """The calls with their numbers read at once: whoever receives a call reads it before the program goes on."""
    calls: list[GradientCall] = []

    def receive(call: GradientCall) -> None:
        values = [value for event in (*call.older, *call.events) for value in (*event.inputs, *event.outputs)]
        values += [operand.value for operand in (*call.targets, *call.sources)]
        values += [seen.values for seen in call.observed if seen is not None]
        for value in values:
            assert value.array is not None
        calls.append(call)

    with observe(receive) as observation:
        program()
    assert observation.failures == []
    return calls
