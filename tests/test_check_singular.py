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
