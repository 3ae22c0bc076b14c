"""The gradient check: right gradients pass, wrong ones do not, and a bad epsilon is named."""

import math
from typing import Any

import numpy as np
import pytest

from gradproof.blackbox import gradient_check_numerical

X = np.array([0.3, 1.2, -0.8])


def function(x: np.ndarray) -> float:
    return float(np.sum(np.sin(x) * x))


def gradient(x: np.ndarray) -> np.ndarray:
    return np.sin(x) + x * np.cos(x)


def test_a_right_gradient_agrees() -> None:
    check = gradient_check_numerical(function, [X], gradient=gradient)
    assert check.ok
    assert check.cause is None


PLANTED = {
    "sign": lambda x: -gradient(x),
    "scale": lambda x: 2 * gradient(x),
    "missing term": lambda x: x * np.cos(x),
    "a thousandth": lambda x: gradient(x) * 1.001,
    "a millionth part off in one entry": lambda x: gradient(x) + np.array([0, 1e-5, 0]),
    "not a number": lambda x: gradient(x) * np.array([1, np.nan, 1]),
    "swapped": lambda x: gradient(x)[::-1].copy(),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_gradient_disagrees(name: str) -> None:
    check = gradient_check_numerical(function, [X], gradient=PLANTED[name])
    assert check.verdict == "disagrees"
    assert check.cause is None
    assert "the slope there is" in check.reason


@pytest.mark.parametrize(("epsilon", "words"), [(0.1, "too large"), (1e-12, "too small")])
def test_a_bad_epsilon_is_to_blame_and_the_usable_steps_are_named(epsilon: float, words: str) -> None:
    check = gradient_check_numerical(function, [X], epsilon)
    assert check.verdict == "disagrees"
    assert check.cause == "step-size"
    assert words in check.reason
    assert check.step is not None
    assert check.step.usable is not None
    middle = math.sqrt(check.step.usable[0] * check.step.usable[1])
    assert gradient_check_numerical(function, [X], middle).ok


def test_the_predicted_errors_are_those_observed() -> None:
    for epsilon in (0.1, 0.01):
        step = gradient_check_numerical(function, [X], epsilon).step
        assert step is not None
        observed = abs(step.difference - step.value)
        assert 0.5 < step.predicted_truncation / observed < 2
    step = gradient_check_numerical(function, [X], 1e-12).step
    assert step is not None
    assert abs(step.difference - step.value) < 10 * step.predicted_rounding


def test_a_bad_epsilon_does_not_make_a_right_gradient_wrong() -> None:
    check = gradient_check_numerical(function, [X], 0.1, gradient=gradient)
    assert check.ok
    assert check.cause == "step-size"
    assert "the gradient is right" in check.reason


def test_a_good_epsilon_is_not_blamed() -> None:
    for epsilon in (1e-7, 1e-5):
        assert gradient_check_numerical(function, [X], epsilon).cause is None


def test_the_step_of_the_textbooks_is_too_small_for_float32() -> None:
    check = gradient_check_numerical(lambda x: np.sin(np.float32(x)), [2.0], 1e-6)
    assert check.cause == "step-size"
    assert "too small" in check.reason


def test_a_kink_is_not_decided() -> None:
    check = gradient_check_numerical(lambda x: float(np.sum(abs(x))), [np.array([0.0, 1.0])])
    assert check.verdict == "unverified"
    assert "kink" in check.reason


def test_several_arguments_and_results() -> None:
    matrix, vector = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, -1.0])
    by_matrix = np.einsum("ij,k->ijk", np.eye(2), vector)
    right: list[Any] = [by_matrix, matrix]
    assert gradient_check_numerical(lambda a, v: a @ v, [matrix, vector], 1e-6, gradient=right).ok
    wrong = [by_matrix, matrix.T]
    assert (
        gradient_check_numerical(lambda a, v: a @ v, [matrix, vector], gradient=wrong).verdict == "disagrees"
    )


def test_a_single_gradient_may_come_bare_or_in_a_list() -> None:
    for given in (gradient(X), [gradient(X)], (gradient(X),), gradient(X).tolist()):
        assert gradient_check_numerical(function, [X], gradient=given).ok


def test_the_text_shows_difference_slope_and_prediction() -> None:
    text = repr(gradient_check_numerical(function, [X], 0.1))
    for words in ("step-size is to blame", "with epsilon 0.1", "predicted", "truncation", "±"):
        assert words in text


def test_a_step_across_a_corner_is_too_large_and_not_too_small() -> None:
    check = gradient_check_numerical(np.abs, [1e-7], epsilon=1e-5)
    assert check.cause == "step-size" and check.step is not None
    assert check.step.fault == "corner"
    assert "too large: within it the function turns a corner" in check.reason
    assert "corner there, as relu and abs have" in check.explain().replace("\n", " ").replace("       ", "")


@pytest.mark.parametrize(("epsilon", "fault"), [(1e-12, "rounding"), (0.1, "bend")])
def test_rounding_and_the_bend_of_a_smooth_function_are_no_corners(epsilon: float, fault: str) -> None:
    check = gradient_check_numerical(np.sin, [1.0], epsilon=epsilon)
    assert check.step is not None and check.step.fault == fault
