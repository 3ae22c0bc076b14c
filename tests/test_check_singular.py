"""What `check` says where a zero hides a kink: norms at zero, guarded formulas, ties that part at second order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof

ZEROS = np.zeros(2)


def guarded_norm(x: Any) -> Any:
    squares = np.sum(x * x)
    return np.where(squares == 0, 0.0, np.sqrt(np.where(squares == 0, 1.0, squares)))


def verdict_of(function: Callable[..., Any], at: Any) -> str:
    with np.errstate(all="ignore"):
        (gradient,) = gradproof.check(function, at).gradients
    return gradient.verdict.value


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.linalg.norm(x),
        lambda x: np.linalg.norm(x, 3),
        lambda x: np.sqrt(np.sum(np.abs(x) ** 2)),
        guarded_norm,
    ],
)
def test_a_norm_has_no_derivative_at_zero_however_it_is_written(function: Callable[..., Any]) -> None:
    assert verdict_of(function, ZEROS) == "undefined"


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.linalg.norm(x) ** 2,
        lambda x: np.linalg.norm(x) ** 3,
        lambda x: np.sqrt(np.sum(np.abs(x) ** 2)) ** 2,
        lambda x: guarded_norm(x) ** 2,
    ],
)
def test_a_power_of_a_norm_has_one(function: Callable[..., Any]) -> None:
    assert verdict_of(function, ZEROS) == "correct"


def test_a_norm_with_a_zero_entry_is_smooth() -> None:
    assert verdict_of(lambda x: np.linalg.norm(x), np.array([0.0, 2.0])) == "correct"


def test_numbers_that_are_equal_at_the_point_only_part_on_both_sides() -> None:
    (gradient,) = gradproof.check(lambda x: np.where(x * x == 0, x, 5 * x), 0.0).gradients
    assert gradient.verdict.value == "wrong"
    assert gradient.reference == 5.0


def test_numbers_that_are_equal_everywhere_stay_equal() -> None:
    assert verdict_of(lambda x: np.where(2 * x == x + x, x, 5 * x), 0.1) == "correct"


def sinc(x: Any, at_zero: float) -> Any:
    return np.where(x == 0, at_zero, np.sin(x) / np.where(x == 0, 1.0, x))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sinc(x, 1.0),
        lambda x: np.sum(sinc(np.stack([x, x + 1]), 1.0)),
        lambda x: sinc(x + 1.0, 1.0) if x > -2 else x,
        lambda x: np.where(x > 0, np.exp(-1 / np.where(x > 0, x, 1.0)), 0.0),
    ],
)
def test_a_gap_that_is_filled_with_the_limit_is_smooth(function: Callable[..., Any]) -> None:
    assert verdict_of(function, 0.0) == "correct"


@pytest.mark.parametrize(
    ("function", "at"),
    [
        (lambda x: sinc(x, 5.0), 0.0),
        (lambda x: np.where(x > 0, np.log(x), 0 * x), 0.0),
        (lambda x: np.where(x > 0, np.sqrt(x), 0 * x), 0.0),
        (lambda x: np.where(x >= 1, np.sqrt(x - 1), 0 * x), 1.0),
        (lambda x: np.where(np.sqrt(x) > 0, 5 * x, x), 0.0),
        (lambda x: np.where(x == 0, 0.0, x * np.sin(1 / np.where(x == 0, 1.0, x))), 0.0),
    ],
)
def test_a_side_that_is_steep_or_elsewhere_leaves_no_derivative(
    function: Callable[..., Any], at: float
) -> None:
    assert verdict_of(function, at) == "undefined"


def test_code_that_did_not_run_is_not_guessed_at() -> None:
    assert verdict_of(lambda x: x + 1 if x >= 1 else x, 1.0) == "unverified"


def test_what_oscillates_is_left_undecided() -> None:
    def wavy(x: Any) -> Any:
        return np.where(x == 0, 0.0, x * x * np.sin(1 / np.where(x == 0, 1.0, x)))

    (gradient,) = gradproof.check(wavy, 0.0).gradients
    assert gradient.verdict.value == "unverified"
    assert gradient.reason is not None


def test_code_beside_the_point_that_is_too_steep_is_named() -> None:
    (gradient,) = gradproof.check(guarded_norm, ZEROS).gradients
    assert [diagnostic.kind for diagnostic in gradient.diagnostics] == ["singular-point"]
    assert "beside this point" in str(gradproof.check(guarded_norm, ZEROS))


def test_digits_are_not_counted_where_there_is_nothing_to_compare_with() -> None:
    (gradient,) = gradproof.check(guarded_norm, ZEROS).gradients
    assert gradient.digits is None


def test_kinks_that_cancel_leave_a_derivative() -> None:
    assert verdict_of(lambda x: np.abs(x) - np.abs(x), 0.0) == "correct"


def test_a_bound_at_infinity_is_never_near() -> None:
    assert verdict_of(lambda x: np.sum(np.minimum(x, np.inf)), np.array([1.0, 2.0])) == "correct"
    assert verdict_of(lambda x: np.max(np.maximum(x, -np.inf)), np.array([1.0, 2.0])) == "correct"


def test_an_infinite_mask_leaves_the_derivative_of_what_is_not_masked() -> None:
    def masked_softmax(x: Any) -> Any:
        weights = np.exp(x + np.array([0.0, 0.0, -np.inf]))
        return weights[0] / np.sum(weights)

    (gradient,) = gradproof.check(masked_softmax, np.array([1.0, 2.0, 3.0])).gradients
    assert gradient.verdict.value == "correct"
    share = 1 / (1 + np.e)
    np.testing.assert_allclose(
        gradient.reference, share * (1 - share) * np.array([1.0, -1.0, 0.0]), rtol=1e-14
    )


def test_equations_that_are_nearly_singular_are_ill_conditioned_and_no_fault_of_the_library() -> None:
    hilbert = 1.0 / (np.arange(10)[:, None] + np.arange(10) + 1.0)
    (gradient,) = gradproof.check(lambda b: np.sum(np.linalg.solve(hilbert, b)), np.ones(10)).gradients
    assert [diagnostic.kind for diagnostic in gradient.diagnostics] == ["ill-conditioned"]
