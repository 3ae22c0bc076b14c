"""The error of a central difference falls, reaches a bottom and rises, and the usable steps lie there."""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis.drawing.steps import usable_range
from tests.diagnosis.drawing.drawn import figures_of


def test_the_curve_of_a_sine_has_both_branches_and_a_usable_range_between() -> None:
    curve = figures_of(np.sin, 1.0).steps
    assert curve is not None
    steps, errors = curve.steps, curve.errors
    best = int(np.argmin(errors))
    assert 1e-8 < steps[best] < 1e-3
    assert errors[0] > 1e-2
    large = steps > 1e-2
    np.testing.assert_allclose(errors[large], 1 - np.sin(steps[large]) / steps[large], rtol=1e-3)
    assert curve.usable is not None
    low, high = curve.usable
    assert 1e-11 < low < 1e-8
    assert 5e-4 < high < 3e-3
    assert (errors[(steps >= low) & (steps <= high)] <= curve.usable_to).all()


def test_in_float32_fewer_steps_serve() -> None:
    curve = figures_of(np.sin, np.float32(1.0)).steps
    assert curve is not None
    assert curve.usable_to == 1e-3
    assert curve.usable is not None
    assert curve.usable[0] > 1e-5
    assert curve.steps[0] < 1e-7


def test_where_no_step_serves_none_is_called_usable() -> None:
    figures = figures_of(
        lambda x: ((x * np.float32(1e10) + np.float32(1)) - np.float32(1e10)) ** 2, np.float32(1.0)
    )
    assert figures.steps is not None
    assert figures.steps.usable is None


def test_without_a_slope_there_is_no_relative_error() -> None:
    assert "proven slope" in figures_of(np.abs, 0.0).lacking["steps"]
    assert "zero" in figures_of(lambda x: x * x, 0.0).lacking["steps"]


def test_a_single_good_step_is_luck() -> None:
    steps = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    assert usable_range(steps, np.array([9.0, 0.1, 9.0, 9.0, 9.0]), 1.0) is None
    assert usable_range(steps, np.array([9.0, 0.1, 9.0, 0.1, 0.1]), 1.0) == (4.0, 5.0)
    assert usable_range(steps, np.array([0.1, np.nan, 0.1, 0.1, 0.1]), 1.0) == (3.0, 5.0)
