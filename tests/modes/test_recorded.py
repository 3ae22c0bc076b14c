"""A rule written by hand and a derivative of a derivative are run in every mode by the ops that were recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

import gradproof
from gradproof.audit.collected import Collector
from gradproof.frontends.select import attach_all, plain_modes
from gradproof.judge.verdict import Verdict
from gradproof.modes.model import CallModes
from gradproof.modes.table import compared
from gradproof.options import Options


@gradproof.custom_gradient
def doubled_slope(x: Any) -> Any:
    return x * x, lambda upstream: upstream * 4 * x  # twice what is right


def by_hand(x: Any) -> Any:
    with gradproof.GradientTape() as tape:
        y = np.sum(doubled_slope(x))
    return tape.gradient(y, x)


def of_second_order(x: Any) -> Any:
    with gradproof.GradientTape() as outer:
        with gradproof.GradientTape() as inner:
            y = np.sum(np.exp(x) * x)
        first = inner.gradient(y, x)
        squares = np.sum(first * first)
    return outer.gradient(squares, x)


def _last_call(run: Any) -> CallModes:
    collector = Collector()
    attached = attach_all(collector.receive, lambda occurrence: True)
    try:
        run(gradproof.Variable(np.float32([0.3, 1.7])))
    finally:
        for one in attached:
            one.ended()
            one.remove()
    found = compared(collector.captures[-1], plain_modes("numpy"), [], Options())
    assert found is not None and not found.lacking and not found.notes
    assert [line.dtype for line in found.lines] == ["float32", "float64", "bfloat16", "float16"]
    assert found.lines[0].is_own and found.lines[0].repeats
    return found


def test_a_rule_of_the_users_own_is_run_as_it_is_and_not_as_it_should_be() -> None:
    call = _last_call(by_hand)
    assert [line.cells[0].verdict for line in call.lines[:2]] == [Verdict.WRONG, Verdict.WRONG]
    gradient = call.lines[1].cells[0].gradient
    assert gradient is not None and np.allclose(gradient, 4 * np.float32([0.3, 1.7]))


def test_second_derivatives_are_run_too() -> None:
    call = _last_call(of_second_order)
    assert {line.cells[0].verdict for line in call.lines} == {Verdict.CORRECT}
