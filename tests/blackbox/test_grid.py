"""Grids: hidden float32 and rounded values are recognised, ordinary values are not mistaken for them."""

import numpy as np

from gradproof.blackbox.grid import hidden_eps, quantum_of
from gradproof.blackbox.ladder import Ladder


def test_float32_values_are_recognised_in_float64() -> None:
    values = np.sin(np.linspace(1, 2, 8))
    assert hidden_eps(values.astype(np.float32).astype(np.float64)) == np.finfo(np.float32).eps
    assert hidden_eps(values) == 0.0


def test_short_numbers_fit_any_dtype_and_tell_nothing() -> None:
    assert hidden_eps(2.0 ** np.arange(-20, 3)) == 0.0
    assert hidden_eps(np.array([0.5, 1.0, np.nan, np.inf])) == 0.0


def pairs(plus: np.ndarray, minus: np.ndarray, centre: float) -> Ladder:
    steps = 2.0 ** np.arange(-len(plus), 0)
    return Ladder(centre, tuple(range(-len(plus), 0)), steps, plus, minus, 2.0**-52)


def test_a_grid_is_found_with_its_spacing() -> None:
    counts = np.array([0, 1, 2, 5, 11])
    found = quantum_of(pairs(1.0 + 1e-6 * counts, 1.0 - 1e-6 * counts, 1.0))
    assert abs(found - 1e-6) < 1e-12


def test_smooth_values_lie_on_no_grid() -> None:
    steps = 2.0 ** np.arange(-6, 0)
    assert quantum_of(pairs(np.exp(steps), np.exp(-steps), 1.0)) == 0.0
    assert quantum_of(pairs(np.ones(3), np.ones(3), 1.0)) == 0.0
