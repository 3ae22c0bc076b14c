"""Whoever asks about a gradient gets the same answer: the gradient itself, `check`, `watch`, the audit of a script."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.diagnosis.report import GradientReport
from gradproof.judge.verdict import Verdict

from .audited import audited
from .tape.random_functions import Plain, random_function

N_FUNCTIONS = 200


def _assert_agrees(gradient: Any, reported: GradientReport) -> None:
    assert gradient.verdict is reported.verdict
    enclosure = gradient.judgement.enclosure
    if reported.reference is None:
        assert enclosure is None or reported.verdict is Verdict.UNDEFINED
        return
    np.testing.assert_array_equal(enclosure.mid, reported.reference)
    np.testing.assert_array_equal(enclosure.rad, reported.reference_radius)
    gap = np.abs(np.asarray(gradient) - reported.reference)
    assert np.all(~np.isfinite(gap) | (gap <= gradient.error + reported.reference_radius))


def test_random_functions_have_one_verdict_by_the_tape_by_watch_and_by_check() -> None:
    for seed in range(N_FUNCTIONS):
        function = random_function(seed)

        def target(x: Any, function: Any = function) -> Any:
            with np.errstate(all="ignore"):
                return function(Plain(), x)

        with gradproof.GradientTape() as tape:
            x = tape.watch(function.point)
            y = target(x)
        with gradproof.watch() as report:
            gradient = tape.gradient(y, x)
        (reported,) = report.gradients
        _assert_agrees(gradient, reported)
        (checked,) = gradproof.check(target, function.point).gradients
        assert checked.verdict is reported.verdict, seed
        assert [one.kind for one in checked.diagnostics] == [one.kind for one in reported.diagnostics], seed
        if reported.reference is not None:
            np.testing.assert_array_equal(checked.reference, reported.reference)


def _frozen_in_part(x: Any, up: Any) -> Any:
    return up * (x**2 + 2 * gradproof.stop_gradient(x) ** 2)


def _right_once(x: Any, up: Any) -> Any:
    return up * 3 * x * gradproof.stop_gradient(x)


def _right_twice(x: Any, up: Any) -> Any:
    return up * 3 * x**2


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (_frozen_in_part, Verdict.WRONG),
        (_right_once, Verdict.WRONG),
        (_right_twice, Verdict.CORRECT),
    ],
)
def test_second_order_through_a_custom_rule_has_one_verdict(
    rule: Callable[[Any, Any], Any], expected: Verdict
) -> None:
    @gradproof.custom_gradient
    def cube(x: Any) -> Any:
        return x * x * x, lambda up: rule(x, up)

    x = gradproof.Variable([1.5, -0.25])
    with gradproof.watch() as report:
        with gradproof.GradientTape() as outer:
            with gradproof.GradientTape() as inner:
                y = np.sum(cube(x))
            total = np.sum(inner.gradient(y, x))
        second = outer.gradient(total, x)
    assert second.verdict is expected
    _assert_agrees(second, report.gradients[-1])
    np.testing.assert_allclose(report.gradients[-1].reference, 6 * np.asarray(x), rtol=1e-12)


SCRIPT = """
import pathlib
import numpy as np
import gradproof

x = gradproof.Variable([0.5, 1e-9, 3.0])
with gradproof.GradientTape(persistent=True) as tape:
    near = np.sum(np.log(1.0 + x))
    far = np.sum((1e10 * x + 1.0) - 1e10 * x)
said = [str(tape.gradient(target, x).verdict) for target in (near, far)]
pathlib.Path(__file__).with_suffix(".txt").write_text(" ".join(said))
"""


def test_a_script_and_its_gradients_say_the_same(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    report, _ = audited(path)
    assert [str(gradient.verdict) for gradient in report.gradients] == path.with_suffix(
        ".txt"
    ).read_text().split()
