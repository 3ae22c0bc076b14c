"""What a reader is to see in a slice is in its numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from gradproof.diagnosis.drawing.line import Line
from gradproof.diagnosis.figures import Slice
from tests.diagnosis.drawing.drawn import figures_of

F32 = np.float32


def slice_of(function: Any, *args: Any) -> Slice:
    figures = figures_of(function, *args)
    assert figures.slice is not None, figures.lacking
    return figures.slice


def test_a_kink_is_seen_in_the_proven_slopes_and_none_is_claimed_at_it() -> None:
    found = slice_of(lambda x: np.abs(x) + 0.25 * x, 0.0)
    np.testing.assert_array_equal(found.proven_slope[found.t < 0], -0.75)
    np.testing.assert_array_equal(found.proven_slope[found.t > 0], 1.25)
    [at] = np.flatnonzero(found.t == 0)
    assert np.isnan(found.proven_slope[at])
    assert found.proven_value[at] == 0.0
    assert found.computed_slope[at] in (-0.75, 0.25, 1.25)


def test_a_jump_is_seen_in_the_values() -> None:
    found = slice_of(lambda x: np.where(x >= 2.0, x, 0.0 * x), 2.0)
    assert np.ptp(found.proven_value) > 2.0
    assert (found.proven_value[found.t < 0] == 0).all()
    assert (found.proven_value[found.t > 0] > 2.0).all()


def test_rounding_is_seen_as_steps_of_the_computed_values() -> None:
    found = slice_of(lambda x: (x + F32(1e10)) - F32(1e10), F32(1.0))
    np.testing.assert_allclose(found.proven_value, 1.0 + found.t, atol=1e-3)
    assert set(found.computed_value) <= {1024.0 * k for k in range(-20, 21)}
    assert 2 <= len(set(found.computed_value)) < 20
    assert found.t[-1] > 256.0, "a narrower window would show a constant"


def test_where_digits_are_lost_the_window_is_one_in_which_it_shows() -> None:
    found = slice_of(lambda x: np.log(np.exp(x) + F32(1)) - x, F32(14.0))
    off = np.nanmax(np.abs(found.computed_value - found.proven_value))
    assert 0.02 < off / np.ptp(found.proven_value) < 2.0


def test_a_smooth_function_is_drawn_at_its_own_scale_and_both_curves_agree() -> None:
    found = slice_of(np.sin, 1.0)
    assert found.t[-1] == 1.0
    np.testing.assert_allclose(found.proven_value, np.sin(1.0 + found.t), atol=1e-6)
    np.testing.assert_allclose(found.proven_slope, np.cos(1.0 + found.t), atol=1e-6)
    np.testing.assert_allclose(found.computed_slope, found.proven_slope, atol=1e-6)


def test_it_ends_where_the_numbers_of_the_dtype_do() -> None:
    nodes: Any = {0: SimpleNamespace(value=np.float16(300.0))}
    near = Line(nodes, None, 0, ()).nearest(np.array([-1e5, 0.0, 6e4, 1e5]))
    np.testing.assert_array_equal(near, [0.0, 6e4])


def test_a_window_never_holds_many_waves() -> None:
    found = slice_of(np.sin, 1e6)
    assert found.t[-1] < 20.0


def test_a_steep_function_is_not_pressed_flat() -> None:
    found = slice_of(np.exp, 14.0)
    assert np.max(found.proven_value) < 100.0 * np.median(found.proven_value)


def test_where_the_function_has_no_value_nothing_is_drawn() -> None:
    found = slice_of(np.log, 1e-3)
    beyond = found.t < -1e-3
    assert beyond.any()
    assert np.isnan(found.proven_value[beyond]).all()
    assert np.isnan(found.proven_slope[beyond]).all()


def test_balls_of_float64_are_not_taken_where_they_are_too_wide() -> None:
    found = slice_of(lambda x: (1.0 - np.cos(x)) / x**2, 1e-7)
    x = 1e-7 + found.t
    np.testing.assert_allclose(found.proven_slope, -x / 12.0, rtol=1e-4, atol=1e-9)


def test_of_an_array_the_worst_entry_moves() -> None:
    x = np.array([[1.0, 2.0], [3.0, 20.0]], np.float32)
    found = slice_of(lambda x: np.sum(np.log(np.exp(x) + F32(1)) - x), x)
    assert found.direction == "along `x[1, 1]`"
    assert "float32" in found.computed_by


def test_a_wrong_gradient_is_drawn_as_it_is_computed() -> None:
    figures = figures_of(np.sin, 1.0, gradient=lambda x: 2.0 * np.cos(x))
    assert figures.slice is not None
    found = figures.slice
    np.testing.assert_allclose(found.proven_slope, np.cos(1.0 + found.t), atol=1e-6)
    np.testing.assert_allclose(found.computed_slope, 2.0 * np.cos(1.0 + found.t), atol=1e-5)


def test_what_cannot_be_moved_is_said() -> None:
    figures = figures_of(lambda x: np.abs(x) ** 2, 1 + 2j)
    assert figures.slice is None
    assert "real numbers" in figures.lacking["slice"]
