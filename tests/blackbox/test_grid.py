"""Grids: found in rounded values, not in floats as they are."""

import math

import numpy as np
import pytest

from gradproof.blackbox.grid import Grid, common_spacing, grid_of

RNG = np.random.default_rng(3)
VALUES = np.sin(RNG.uniform(0.2, 1.2, 9))


@pytest.mark.parametrize("spacing", [1e-3, 0.007, math.pi * 1e-5, 2.0**-12])
@pytest.mark.parametrize("shift", [0.0, 0.123456789])
def test_multiples_of_a_spacing_are_recognised(spacing: float, shift: float) -> None:
    grid = grid_of(np.round(VALUES / spacing) * spacing + shift)
    assert grid is not None
    multiple = grid.spacing / spacing
    assert multiple == pytest.approx(round(multiple), rel=1e-6)
    assert 1 <= round(multiple) <= 4  # nine values may share a factor by chance


def test_numbers_of_few_digits_have_a_spacing_that_follows_their_size() -> None:
    grid = grid_of(np.array([float(f"{value:.4g}") for value in [*VALUES, 31.41592, 271.82818]]))
    assert grid is not None
    assert grid.digits == 4
    assert grid.at(np.array([0.5, 200.0])) == pytest.approx([1e-4, 0.1])


def test_half_precision_is_recognised_by_its_bits() -> None:
    grid = grid_of(VALUES.astype(np.float16).astype(np.float64))
    assert grid is not None
    assert grid.bits == 11


def test_of_values_larger_than_those_seen_the_digits_say_nothing() -> None:
    grid = Grid(0.01, digits=3, largest=5.0)
    assert grid.at(np.array([4.0, 1e6])) == pytest.approx([0.01, 0.01])


def test_floats_as_they_are_lie_on_no_grid() -> None:
    assert all(grid_of(RNG.normal(size=RNG.integers(4, 12))) is None for _ in range(300))


def test_few_values_tell_nothing() -> None:
    assert grid_of(np.array([1.0, 2.0, 3.0])) is None


def test_one_value_off_the_grid_refutes_it() -> None:
    values = np.append(np.round(VALUES, 3), 0.12345678901234)
    assert common_spacing(np.unique(values), 1e-15) < 1e-6
