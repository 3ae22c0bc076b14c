"""`check`, `assert_correct` and `watch` on NumPy functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.errors import FunctionFailed, InvalidInput, NotScalar
from gradproof.judge.verdict import Verdict

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])
W = np.array([1.0, -2.0, 0.5])


def loss(x: Any, w: Any) -> Any:
    return np.sum(np.tanh(x @ w) ** 2)


def loss_gradient(x: Any, w: Any) -> Any:
    y = np.tanh(x @ w)
    inner = 2 * y * (1 - y**2)
    return np.outer(inner, w), x.T @ inner


def verdicts(*args: Any, **options: Any) -> list[str]:
    return [str(verdict) for verdict in gradproof.check(*args, **options).verdicts]


def test_the_tapes_gradient_is_judged_for_every_argument() -> None:
    report = gradproof.check(loss, X, W)
    assert [(row.target, row.source, str(row.verdict)) for row in report.gradients] == [
        ("loss", "x", "correct"),
        ("loss", "w", "correct"),
    ]
    assert report.gradients[0].call.file.endswith("test_check.py")
    assert report.gradients[0].reference is not None
    assert np.allclose(report.gradients[0].reference, loss_gradient(X, W)[0], rtol=1e-13)


def test_lost_digits_are_inaccurate() -> None:
    report = gradproof.check(lambda x: ((x * np.float32(1e10) + 1) - np.float32(1e10)) ** 2, np.float32(1.0))
    assert str(report.verdicts[0]) == "inaccurate"
    assert report.gradients[0].reference == 2e10


def test_nested_and_keyword_arguments_go_by_the_functions_own_names() -> None:
    def model(parameters: Any, x: Any, *, scale: Any, label: str) -> Any:
        assert label == "name"
        return np.sum(parameters["layers"][0] * x) * scale + parameters["bias"]

    parameters = {"layers": [W], "bias": 1.0}
    report = gradproof.check(model, parameters, X, scale=2.0, label="name")
    names = ["parameters['layers'][0]", "parameters['bias']", "x", "scale"]
    assert [row.source for row in report.gradients] == names
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}


def test_an_argument_without_influence_has_the_gradient_zero() -> None:
    report = gradproof.check(lambda x, y: x * x, 3.0, 4.0)
    assert [str(verdict) for verdict in report.verdicts] == ["correct", "correct"]
    assert report.gradients[1].observed == 0.0


def test_numbers_that_leave_the_tape_are_missing_not_zero() -> None:
    report = gradproof.check(lambda x: np.float64(float(x)) * 2, 3.0)
    assert str(report.verdicts[0]) == "missing"
    assert report.exit_status() == 1


def test_every_entry_of_a_result_can_be_checked() -> None:
    report = gradproof.check(lambda x: np.exp(x), np.array([0.0, 1.0]), output="each")
    assert str(report.verdicts[0]) == "correct"
    assert report.gradients[0].observed is not None
    assert report.gradients[0].observed.shape == (2, 2)
    assert verdicts(lambda x: (x, np.sin(x)), 2.0, output=lambda y: y[1]) == ["correct"]


def test_second_derivatives_are_checked_in_all_pairs() -> None:
    report = gradproof.check(lambda x, y: np.sum(x**3) * y, np.array([1.0, 2.0]), 0.5, order=2)
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}
    pairs = [(row.target, row.source) for row in report.gradients]
    assert ("(d f / d x)", "y") in pairs
    second = report.gradients[0].reference
    assert second is not None
    assert np.allclose(second, np.diag([3.0, 6.0]))


def test_a_gradient_written_by_hand_is_judged_in_the_place_of_the_tapes() -> None:
    assert verdicts(loss, X, W, gradient=loss_gradient) == ["correct", "correct"]
    assert verdicts(loss, X, W, gradient=loss_gradient(X, W)) == ["correct", "correct"]


WRONG: dict[str, Callable[..., Any]] = {
    "sign": lambda x, w: (loss_gradient(x, w)[0], -loss_gradient(x, w)[1]),
    "scale": lambda x, w: (loss_gradient(x, w)[0], loss_gradient(x, w)[1] / 2),
    "missing term": lambda x, w: (loss_gradient(x, w)[0], x.T @ (2 * np.tanh(x @ w))),
    "one entry": lambda x, w: (loss_gradient(x, w)[0], loss_gradient(x, w)[1] + np.array([0, 0, 1e-6])),
    "zero": lambda x, w: (loss_gradient(x, w)[0], np.zeros(3)),
    "off by one part in a million": lambda x, w: (
        loss_gradient(x, w)[0],
        loss_gradient(x, w)[1] * (1 + 1e-6),
    ),
}


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_in_a_gradient_written_by_hand_is_found(mistake: str) -> None:
    assert verdicts(loss, X, W, gradient=WRONG[mistake]) == ["correct", "wrong"]


def test_a_difference_quotient_is_a_wrong_rule_and_a_float32_gradient_is_not() -> None:
    def difference(x: Any) -> Any:
        return (np.sin(x + 1e-3) - np.sin(x)) / 1e-3

    assert verdicts(np.sin, 2.0, gradient=difference) == ["wrong"]
    assert verdicts(np.sin, np.float32(2.0), gradient=np.cos) == ["correct"]


def test_rounding_in_a_gradient_written_by_hand_is_told_from_a_wrong_rule() -> None:
    def cancelling(x: Any) -> Any:
        return (1 - np.cos(x)) / x**2 * 2 - 1 + x  # 1 + O(x^2), but for its rounding

    assert verdicts(lambda x: x**2 / 2, 1e-8, gradient=cancelling) == ["inaccurate"]


def test_a_gradient_of_another_shape_is_wrong_and_the_shape_is_named() -> None:
    report = gradproof.check(
        loss, X, W, gradient=lambda x, w: (loss_gradient(x, w)[0].T, loss_gradient(x, w)[1])
    )
    assert sorted(str(verdict) for verdict in report.verdicts) == ["correct", "wrong"]
    [found] = report.diagnostics
    assert found.kind == "custom-gradient"
    assert ("returned", "shape (3, 2): it is transposed") in found.evidence


def test_a_jacobian_written_by_hand_is_judged_whole() -> None:
    assert verdicts(lambda x: np.exp(x), W, gradient=lambda x: np.diag(np.exp(x))) == ["correct"]
    assert verdicts(lambda x: np.exp(x), W, gradient=lambda x: np.diag(np.exp(x)) + 0.01) == ["wrong"]


def test_a_random_function_is_recognised_before_anything_is_compared() -> None:
    draw = np.random.default_rng(3)

    def noisy(x: Any) -> Any:
        return np.sum(x * draw.normal(size=3))

    report = gradproof.check(noisy, W)
    assert [(d.kind, d.severity) for d in report.diagnostics] == [("impure", "warning")]
    report = gradproof.check(noisy, W, gradient=lambda x: x)
    assert str(report.verdicts[0]) == "unverified"
    assert [(d.kind, d.severity) for d in report.diagnostics] == [("impure", "error")]


def test_a_function_that_changes_its_argument_is_recognised_and_the_argument_kept() -> None:
    def greedy(x: Any) -> Any:
        x *= 2
        return np.sum(x)

    point = W.copy()
    report = gradproof.check(greedy, point)
    assert np.array_equal(point, W)
    assert str(report.verdicts[0]) == "unverified"
    [found] = report.diagnostics
    assert found.headline == "`greedy` changes its argument `x` in place"
    assert found.span is not None
    assert found.span.function.endswith("greedy")


def test_a_pure_function_is_not_called_impure_for_returning_nan() -> None:
    report = gradproof.check(lambda x: x * np.float64("nan"), 1.0)
    assert not [d for d in report.diagnostics if d.kind == "impure"]


def raising(x: Any) -> Any:
    raise ValueError("not today")


BAD_INPUT: dict[str, tuple[Any, tuple[Any, ...], type[Exception], str]] = {
    "raises": (raising, (1.0,), FunctionFailed, "`raising` raised ValueError: not today"),
    "None": (lambda x: None, (1.0,), InvalidInput, "returned None"),
    "text": (lambda x: "a", (1.0,), InvalidInput, "returned `str`"),
    "object": (lambda x: object(), (1.0,), InvalidInput, "returned `object`"),
    "objects": (lambda x: np.array([None]), (1.0,), InvalidInput, "an array of dtype object"),
    "ragged": (lambda x: [[1.0], [2.0, 3.0]], (1.0,), InvalidInput, "returned a list with 2 items"),
    "tuple": (lambda x: (x, x), (1.0,), InvalidInput, "returned a tuple with 2 items"),
    "integer": (lambda x: 3, (1.0,), InvalidInput, "returned dtype int64, which has no derivative"),
    "array": (lambda x: x, (W,), NotScalar, r"returned shape \(3,\)"),
    "nan": (np.sum, (np.array([1.0, np.nan]),), InvalidInput, r"`\w+\[1\]` is nan"),
    "infinity": (np.sin, (np.inf,), InvalidInput, "is inf"),
    "integer argument": (lambda x: x, (3,), InvalidInput, "write `x` with a decimal point"),
    "no number": (lambda x: 1.0, ("a",), InvalidInput, "at least one argument of real numbers"),
    "no argument": (lambda: 1.0, (), InvalidInput, "at least one argument of real numbers"),
    "ragged argument": (lambda x: x, ([[1.0], [2.0, 3.0]],), InvalidInput, "ragged"),
    "no function": (3, (1.0,), InvalidInput, "needs a function, but got an object of type int"),
}


@pytest.mark.parametrize("what", BAD_INPUT)
def test_bad_input_is_refused_by_name(what: str) -> None:
    function, args, error, message = BAD_INPUT[what]
    with pytest.raises(error, match=message):
        gradproof.check(function, *args)


BAD_GRADIENTS: dict[str, tuple[Any, str]] = {
    "raises": (raising, "the gradient `raising` raised ValueError"),
    "None": (lambda x: None, "returned None for `x`"),
    "text": (lambda x: "a", "returned an object of type str for `x`"),
    "ragged": (lambda x: [[1.0], [2.0, 3.0]], "is not an array"),
}


@pytest.mark.parametrize("what", BAD_GRADIENTS)
def test_a_gradient_that_is_none_is_refused_by_name(what: str) -> None:
    gradient, message = BAD_GRADIENTS[what]
    with pytest.raises((InvalidInput, FunctionFailed), match=message):
        gradproof.check(lambda x: np.sum(x), W, gradient=gradient)


def test_options_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(InvalidInput, match="order= is 1 or 2"):
        gradproof.check(np.sin, 1.0, order=3)
    with pytest.raises(InvalidInput, match="do not go together"):
        gradproof.check(np.sin, 1.0, order=2, gradient=np.cos)


def test_empty_arrays_have_an_empty_gradient() -> None:
    report = gradproof.check(np.sum, np.zeros((0, 3)))
    assert [str(verdict) for verdict in report.verdicts] == ["correct"]
    assert report.gradients[0].observed is not None
    assert report.gradients[0].observed.shape == (0, 3)


def test_assert_correct_is_silent_or_raises_with_the_diagnosis() -> None:
    gradproof.assert_correct(loss, X, W)
    with pytest.raises(AssertionError, match=r"the gradient of `loss` is not right[\s\S]*d loss / d w"):
        gradproof.assert_correct(loss, X, W, gradient=WRONG["sign"])


def test_watch_fills_its_report_when_the_block_ends() -> None:
    x = gradproof.Variable(3.0, name="x")
    with gradproof.watch() as report:
        for _ in range(3):
            with gradproof.GradientTape() as tape:
                y = np.sin(x)
            tape.gradient(y, x)
        assert report.gradients == ()
    assert [row.occurrence for row in report.gradients] == [1, 2]
    assert report.worst is Verdict.CORRECT
    assert report.unchecked[0].count == 1
    with gradproof.GradientTape() as tape:
        y = np.sin(x)
    tape.gradient(y, x)
    assert len(report.gradients) == 2


def test_watch_reports_also_when_the_block_raises() -> None:
    x = gradproof.Variable(3.0)
    reports = []

    def failing() -> None:
        with gradproof.watch(checks="all") as report:
            reports.append(report)
            with gradproof.GradientTape() as tape:
                y = x * x
            tape.gradient(y, x)
            raise KeyError("out")

    with pytest.raises(KeyError):
        failing()
    [report] = reports
    assert [str(verdict) for verdict in report.verdicts] == ["correct"]
