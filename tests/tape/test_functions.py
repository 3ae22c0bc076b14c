"""Every NumPy function the tape knows: NumPy's values, and gradients that differences and balls confirm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.engine.run import run
from gradproof.judge.verdict import Verdict
from gradproof.tape import Array, GradientTape
from gradproof.tape.functions._table import newer
from gradproof.tape.lowering import lowered
from gradproof.tape.program import TapeSource, build

from .cases import CASES

PARAMETERS = [pytest.param(function, points, id=name) for name, function, points in CASES]
STEP = 1e-6
CLOSE = 2e-7  # a central difference over this step, on values of order one


def _weights(y: Any) -> Any:
    return np.random.default_rng(5).uniform(0.5, 1.5, np.shape(y))


def _scalar(function: Callable[..., Any], *xs: Any) -> Any:
    y = function(*xs)
    return np.sum(y * _weights(y))


@pytest.mark.parametrize(("function", "points"), PARAMETERS)
def test_values_are_those_of_numpy_bit_for_bit(function: Callable[..., Any], points: tuple[Any, ...]) -> None:
    with GradientTape() as tape:
        y = function(*tape.watch(points))
    expected = function(*(np.array(point) for point in points))
    assert isinstance(y, Array)
    assert y.dtype == np.asarray(expected).dtype
    np.testing.assert_array_equal(np.asarray(y), expected)


@pytest.mark.parametrize(("function", "points"), PARAMETERS)
def test_gradient_agrees_with_central_differences(
    function: Callable[..., Any], points: tuple[Any, ...]
) -> None:
    with GradientTape() as tape:
        xs = tape.watch(points)
        y = _scalar(function, *xs)
    gradients = tape.gradient(y, xs)
    for k, gradient in enumerate(gradients):
        assert gradient.shape == np.shape(points[k])
        assert gradient.dtype == np.asarray(points[k]).dtype
        np.testing.assert_allclose(gradient, _difference(function, points, k), rtol=1e-5, atol=CLOSE * 10)


def _difference(function: Callable[..., Any], points: tuple[Any, ...], k: int) -> Any:
    slopes = np.empty(np.shape(points[k]))
    for place in np.ndindex(slopes.shape):
        ends = []
        for sign in (1, -1):
            moved = [np.array(point) for point in points]
            moved[k][place] += sign * STEP
            ends.append(_scalar(function, *moved))
        slopes[place] = (ends[0] - ends[1]) / (2 * STEP)
    return slopes


@pytest.mark.parametrize(("function", "points"), PARAMETERS)
def test_gradient_is_proven_correct(function: Callable[..., Any], points: tuple[Any, ...]) -> None:
    with GradientTape() as tape:
        xs = tape.watch(points)
        y = _scalar(function, *xs)
    for gradient in tape.gradient(y, xs):
        assert gradient.verdict is Verdict.CORRECT, gradient.explain()
        assert np.all(gradient.error <= 1e-9 * (1.0 + np.abs(gradient)))


@pytest.mark.parametrize(("function", "points"), PARAMETERS)
def test_the_ops_of_a_function_mean_what_numpy_computed(
    function: Callable[..., Any], points: tuple[Any, ...]
) -> None:
    """The last op carries NumPy's own value; computed anew from the ops it must agree."""
    with GradientTape() as tape:
        xs = tape.watch(points)
        y = function(*xs)
    np.testing.assert_array_equal(lowered(y._record).value, np.asarray(y))
    program = build([lowered(y._record)], [TapeSource((x._record,)) for x in xs]).program
    domain = BallDomain(128)
    mid, _ = domain.leave(run(domain, program).outputs()[0])
    np.testing.assert_allclose(mid, np.asarray(y), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (np.maximum, [0.0, 1.0, 0.0]),
        (np.fmax, [1.0, 1.0, 0.0]),
        (np.minimum, [0.0, 0.0, 1.0]),
        (np.fmin, [1.0, 0.0, 1.0]),
    ],
)
def test_the_slope_goes_where_the_value_came_from_also_beside_nan(
    function: Any, expected: list[float]
) -> None:
    with GradientTape() as tape:
        x = tape.watch(np.array([1.0, 3.0, 1.0]))
        y = function(x, np.array([np.nan, 2.0, 2.0]))
    np.testing.assert_array_equal(tape.gradient(y, x), expected)


def test_the_slope_goes_to_the_nan_that_wins() -> None:
    with GradientTape() as tape:
        x = tape.watch(np.array([np.nan]))
        y = np.maximum(x, np.array([2.0]))
    np.testing.assert_array_equal(tape.gradient(y, x), [1.0])


def test_a_function_that_this_numpy_lacks_is_left_out() -> None:
    assert newer("cumsum", "a_function_of_numpy_9") == (np.cumsum,)
