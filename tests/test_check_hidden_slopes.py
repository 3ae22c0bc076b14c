"""A zero that hides an unbounded slope beside a tie proves nothing: the derivative may not exist there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.judge.verdict import Verdict

B = np.array([1.0, 2.0, 2.0])


def angle(a: Any) -> Any:
    """A cone at equal vectors."""
    cosine = np.sum(a * B) / (np.sqrt(np.sum(a * a)) * np.sqrt(np.sum(B * B)))
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def clamped_norm(a: Any) -> Any:
    return np.sqrt(np.maximum(np.sum(a * a), 0.0))


def clamped_square(a: Any) -> Any:
    """x**2, written as a root: flat at 0."""
    return np.sqrt(np.maximum(np.sum(a) ** 4, 0.0))


def squared_angle(a: Any) -> Any:
    return angle(a) ** 4


@pytest.mark.parametrize(
    ("function", "point", "expected"),
    [
        (angle, B, Verdict.UNDEFINED),
        (clamped_norm, np.zeros(3), Verdict.UNDEFINED),
        (angle, B[::-1].copy(), Verdict.CORRECT),
        (clamped_norm, np.ones(3), Verdict.CORRECT),
    ],
)
def test_what_a_zero_hides_is_not_taken_for_flat(
    function: Callable[[Any], Any], point: np.ndarray[Any, Any], expected: Verdict
) -> None:
    (gradient,) = gradproof.check(function, point).gradients
    assert gradient.verdict is expected


@pytest.mark.parametrize(("function", "point"), [(clamped_square, np.zeros(2)), (squared_angle, B)])
def test_where_the_function_is_flat_all_the_same_nothing_else_is_proven(
    function: Callable[[Any], Any], point: np.ndarray[Any, Any]
) -> None:
    (gradient,) = gradproof.check(function, point).gradients
    assert gradient.verdict not in (Verdict.UNDEFINED, Verdict.WRONG, Verdict.INACCURATE)
    if gradient.reference is not None:
        np.testing.assert_allclose(gradient.reference, 0.0, atol=1e-12)
