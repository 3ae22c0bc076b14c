"""`derivative`: what it finds, what it says, and what it counts."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.blackbox import derivative


class Counting:
    """A function that counts the points it is asked for."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.n_points = 0
        self.n_calls = 0

    def __call__(self, x: Any) -> Any:
        self.n_calls += 1
        self.n_points += np.size(x)
        return self.function(x)


def test_every_evaluation_is_counted_when_points_come_one_by_one() -> None:
    counting = Counting(lambda x: math.sin(float(x)) if np.ndim(x) == 0 else None)
    found = derivative(counting, 1.0)
    # The array that was refused held two points; it is one evaluation that came to nothing.
    assert found.evaluations in (counting.n_points, counting.n_points - 1)


def test_every_evaluation_is_counted_when_points_come_as_arrays() -> None:
    counting = Counting(np.sin)
    found = derivative(counting, 1.0)
    assert found.evaluations == counting.n_points
    assert counting.n_calls < counting.n_points / 1.5


def test_a_function_that_mixes_its_points_is_called_one_by_one() -> None:
    found = derivative(lambda x: x * x + 0 * np.sum(x) + np.mean(x) - x, 1.5)
    assert abs(found.value - 3.0) <= found.error


def test_a_function_that_looks_at_all_points_for_its_branch_is_called_one_by_one() -> None:
    found = derivative(lambda x: np.exp(x) if np.size(x) < 3 else np.exp(x) + 1e-3, 1.0)
    assert abs(found.value - math.e) <= found.error


@pytest.mark.parametrize("integer", [2, np.int64(2), np.array(2)])
def test_an_integer_is_taken_as_a_float_and_that_is_said(integer: Any) -> None:
    found = derivative(lambda x: x**3, integer)
    assert abs(found.value - 12.0) <= found.error
    assert "x was an integer" in found.reason


def test_flat_places_have_slope_zero() -> None:
    for function, x in ((lambda x: max(x, 0.0), -0.1), (math.floor, 3.5), (lambda x: 5 + max(x, 0.0), -1e-3)):
        found = derivative(function, x)
        assert found.status == "ok"
        assert abs(found.value) <= found.error < 1e-3


def test_a_smooth_function_rounded_to_decimals_is_not_taken_for_flat() -> None:
    found = derivative(lambda x: round(math.sin(x), 6), 1.0)
    assert abs(found.value - math.cos(1.0)) <= found.error < 1e-2


def test_hidden_float32_widens_the_bar() -> None:
    def function(x: float) -> float:
        one, large = np.float32(1), np.float32(1e10)
        return float(((np.float32(x) * large + one) - large) ** 2)

    # Powers of two as steps make the rounding symmetric: every central difference is exactly 0, the slope is 2e10.
    found = derivative(function, 1.0)
    assert found.status == "cannot tell" or abs(found.value - 2e10) <= found.error


def test_a_bar_is_never_narrower_than_a_few_units_in_the_last_place() -> None:
    found = derivative(lambda x: math.tanh(1e20 * x), 0.0)
    assert abs(found.value - 1e20) <= found.error
    assert found.error >= 8 * 2.0**-52 * 1e20


def test_a_corner_that_swings_is_not_told_as_a_slope() -> None:
    def function(x: float) -> float:
        return abs(x) * (2 + math.sin(math.log(abs(x)))) if x else 0.0

    assert derivative(function, 0.0).status in ("cannot tell", "kink")


def test_a_narrow_feature_around_zero_is_found() -> None:
    found = derivative(lambda x: math.exp(-((x / 1e-20) ** 2)) * x * 1e20, 0.0)
    assert abs(found.value - 1e20) <= found.error < 1e10


def test_a_ripple_finer_than_the_function_is_not_smoothed_away() -> None:
    found = derivative(lambda x: x + 1e-9 * math.sin(1e8 * x), 0.3)
    truth = 1 + 0.1 * math.cos(1e8 * 0.3)
    assert abs(found.value - truth) <= found.error < 1e-3


def test_a_rounded_corner_is_no_kink() -> None:
    found = derivative(lambda x: math.sqrt(x * x + 1e-20), 0.0)
    assert found.status == "ok"
    assert abs(found.value) <= found.error < 1e-6


def test_a_function_with_a_jump_in_its_second_derivative_has_a_first() -> None:
    found = derivative(lambda x: max(x, 0.0) ** 2, 0.0)
    assert found.status == "ok"
    assert abs(found.value) <= found.error < 1e-6


@pytest.mark.parametrize(
    "function", [lambda x: x * math.log(abs(x)) if x else 0.0, lambda x: math.sin(1 / x) if x else 0.0]
)
def test_slopes_that_settle_nowhere_are_not_told(function: Callable[[float], float]) -> None:
    assert derivative(function, 0.0).status in ("cannot tell", "infinite slope", "jump")


def test_random_numbers_are_not_differentiated() -> None:
    rng = np.random.default_rng(7)
    assert derivative(lambda x: rng.normal(), 1.0).status == "cannot tell"


def test_the_text_says_value_bar_and_how_it_was_found() -> None:
    text = repr(derivative(math.sin, 1.0))
    assert text.startswith("Derivative: 0.5403023058681")
    assert "±" in text
    assert "central differences" in text
    assert "evaluations" in text


def test_the_text_of_a_kink_names_both_slopes() -> None:
    text = repr(derivative(abs, 0.0))
    assert text.startswith("Derivative: none, a kink: -1 ")
    assert "from the left, 1 " in text


def test_a_value_that_is_not_finite_has_no_slope() -> None:
    found = derivative(lambda x: math.inf if x == 1.0 else x, 1.0)
    assert found.status == "cannot tell"
    assert "inf" in found.reason


def test_the_curve_shows_both_kinds_of_error() -> None:
    found = derivative(math.exp, 0.5)
    errors = abs(found.curve.differences - found.value)
    best = int(np.argmin(errors))
    assert 0 < best < len(errors) - 1
    assert errors[0] > 100 * errors[best]
    assert errors[-1] > 100 * errors[best]


def test_steps_in_the_usable_range_are_usable_and_steps_outside_are_not() -> None:
    found = derivative(math.exp, 0.5)
    assert found.usable is not None
    low, high = found.usable

    def error(step: float) -> float:
        return abs((math.exp(0.5 + step) - math.exp(0.5 - step)) / (2 * step) / math.exp(0.5) - 1)

    assert error(low * 3) < 1e-6
    assert error(high / 1.5) < 1e-6
    assert error(high * 5) > 1e-6
    assert error(low / 1e4) > 1e-6


def test_one_evaluation_is_told_in_the_singular() -> None:
    assert "1 evaluation," in str(derivative(lambda x: float("nan"), 1.0))
