"""Mistakes planted in gradients written by hand are found and named, and their innocent twins raise no alarm."""

from __future__ import annotations

import numpy as np
import pytest

import gradproof
from gradproof.diagnosis.report import Report
from gradproof.judge.verdict import Verdict

from .planted_custom import FUNCTIONS, HARD, Function, Planted, as_gradient, as_operation, each, planted

ALL = tuple(planted())
# Without an incoming gradient these cannot be made; a copy is told from their sum by its incoming gradient.
ONLY_IN_RULES = ("ignores upstream", "not linear", "un-reduced broadcast")
BY_HAND = tuple(p for p in ALL if p.kind not in ONLY_IN_RULES)[::2]


def _errors(report: Report) -> list[str]:
    return [d.headline for d in report.diagnostics if d.severity == "error"]


def _is_named(case: Planted, report: Report) -> bool:
    return any(words in headline for headline in _errors(report) for words in case.words)


def test_more_than_two_hundred_mistakes_of_every_kind_are_planted() -> None:
    assert len(ALL) >= 200
    kinds = {case.kind for case in ALL}
    assert kinds >= {
        "sign", "factor 2", "zero", "missing term", "missing factor", "extra term", "transposed", "swapped",
        "un-reduced broadcast", "ignores upstream", "not linear", "dtype", "branch", "entries",
        "forward difference 0.01", "central difference 0.01", "backward difference 0.001",
    }  # fmt: skip


@pytest.mark.parametrize("case", ALL, ids=str)
def test_a_mistake_in_a_custom_gradient_is_found_and_named(case: Planted) -> None:
    report = gradproof.check(
        as_operation(case.function, case.rule, gradproof.custom_gradient), *case.function.args
    )
    assert {gradient.verdict for gradient in report.gradients} & {Verdict.WRONG, Verdict.INACCURATE}
    assert _is_named(case, report), _errors(report)
    assert all(diagnostic.kind == "custom-gradient" for diagnostic in report.diagnostics)


@pytest.mark.parametrize("case", BY_HAND, ids=str)
def test_a_mistake_in_a_gradient_function_is_found_and_named(case: Planted) -> None:
    loss, gradient = as_gradient(case.function, case.rule)
    report = gradproof.check(loss, *case.function.args, gradient=gradient)
    assert {gradient.verdict for gradient in report.gradients} & {Verdict.WRONG, Verdict.INACCURATE}
    assert _is_named(case, report), _errors(report)


@pytest.mark.parametrize("function", [*FUNCTIONS, *HARD], ids=lambda function: function.name)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_innocent_twin_raises_no_alarm(function: Function, dtype: str) -> None:
    args = [np.asarray(array, dtype) for array in function.args]
    loss, gradient = as_gradient(function, function.rule)
    operation = as_operation(function, function.rule, gradproof.custom_gradient)
    for report in (gradproof.check(operation, *args), gradproof.check(loss, *args, gradient=gradient)):
        assert all(row.verdict is Verdict.CORRECT for row in report.gradients)
        assert not report.diagnostics


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
@pytest.mark.parametrize("factor", [1.0003, 1.00001, 1.000001])
def test_a_mistake_below_the_tolerance_of_its_dtype_is_found_with_its_size(
    function: Function, factor: float
) -> None:
    args = [np.asarray(array, "float32") for array in function.args]
    rule = each(function.rule, lambda gradient: gradient * np.float32(factor))
    loss, gradient = as_gradient(function, rule)
    operation = as_operation(function, rule, gradproof.custom_gradient)
    size = float(np.float32(factor)) - 1.0
    for report in (gradproof.check(operation, *args), gradproof.check(loss, *args, gradient=gradient)):
        found = {diagnostic.kind: diagnostic.headline for diagnostic in report.diagnostics}
        assert "custom-gradient" in found
        if all(row.verdict is Verdict.CORRECT for row in report.gradients):
            told = float(found["custom-gradient"].split(" is off by ")[1].split()[0])
            assert told == pytest.approx(size, rel=0.5)


def test_an_entry_that_is_right_by_chance_does_not_hide_a_mistake_of_all() -> None:
    """The slope of x * sigmoid(x) with a factor left out is right at 0, and nowhere else."""

    @gradproof.custom_gradient
    def swish(x: object) -> object:
        s = 1.0 / (1.0 + np.exp(-x))  # type: ignore[operator]
        return x * s, lambda dy: dy * (s + x * s)  # type: ignore[operator]

    report = gradproof.check(lambda x: np.sum(swish(x)), np.linspace(-2.0, 2.0, 5))
    [headline] = _errors(report)
    assert "is not the derivative of its forward" in headline


def test_a_wrong_rule_is_blamed_once_however_often_it_is_used() -> None:
    @gradproof.custom_gradient
    def doubled(x: object) -> object:
        return 2.0 * x, lambda dy: 3.0 * dy  # type: ignore[operator]

    def loss(x: object) -> object:
        for _ in range(4):
            x = np.sin(doubled(x))
        return x

    report = gradproof.check(loss, np.array(0.3))
    assert len(_errors(report)) == 1


def test_the_step_of_a_finite_difference_is_recovered_and_its_error_predicted() -> None:
    @gradproof.custom_gradient
    def my_op(x: np.ndarray) -> object:
        def rule(dy: np.ndarray) -> np.ndarray:
            return dy * (np.sin(x + 0.001) - np.sin(x)) / 0.001

        return np.sin(x), rule

    (found,) = gradproof.check(my_op, np.array(2.0)).diagnostics
    rows = dict(found.evidence)
    assert rows["difference"] == "-0.0004546; a step of 0.001 predicts step/2 * y'' = -0.0004546"
    assert found.primary is not None
    assert found.primary.label == "a forward difference with step 0.001"
    assert found.primary.span.function.endswith("rule")


def test_a_rule_that_forgets_the_upstream_is_a_warning_where_the_upstream_is_one() -> None:
    @gradproof.custom_gradient
    def square(x: np.ndarray) -> object:
        return x * x, lambda dy: 2.0 * x

    (row,) = gradproof.check(square, np.array(1.5)).gradients
    assert row.verdict is Verdict.CORRECT
    assert [(d.kind, d.severity) for d in row.diagnostics] == [("custom-gradient", "warning")]


def test_a_slope_that_is_partly_frozen_is_wrong_when_it_is_differentiated_again() -> None:
    @gradproof.custom_gradient
    def cube(x: np.ndarray) -> object:
        return x**3, lambda dy: dy * 3.0 * x * gradproof.stop_gradient(x)

    first, second = (gradproof.check(cube, np.array(1.5), order=order).gradients[0] for order in (1, 2))
    assert not first.diagnostics
    of_the_cube = 9.0
    assert (second.verdict, second.reference) == (Verdict.WRONG, of_the_cube)
    assert [(d.kind, d.severity) for d in second.diagnostics] == [("custom-gradient", "error")]
    assert "its own derivative is not" in second.diagnostics[0].headline
