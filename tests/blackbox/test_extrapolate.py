"""Extrapolation: exact on power series, honest on noise, and not fooled by what lies below its window."""

import numpy as np

from gradproof.blackbox.extrapolate import Estimate, Quotients, extrapolated, steady


def quotients(steps: np.ndarray, y: np.ndarray, rounding: float = 1e-16) -> Quotients:
    flat = np.zeros(len(steps), dtype=bool)
    return Quotients(steps, y, 1 / steps, np.full(len(steps), rounding), 2, flat)


def estimate(steps: np.ndarray, y: np.ndarray, rounding: float = 1e-16) -> Estimate:
    found = extrapolated(quotients(steps, y, rounding))
    assert found is not None
    return found


STEPS = 2.0 ** np.array([-42.0, -30, -18, -10, -9, -8, -7, -6, -5, -4, -3])


def polynomial(steps: np.ndarray) -> np.ndarray:
    return 3.0 + 2.0 * steps**2 - 7.0 * steps**4 + steps**6


def test_a_polynomial_is_extrapolated_exactly() -> None:
    found = estimate(STEPS, polynomial(STEPS))
    assert abs(found.value - 3.0) <= found.error < 1e-12


def test_the_scale_of_the_values_does_not_matter() -> None:
    for size in (1e-280, 1e280):
        found = estimate(STEPS, polynomial(STEPS) * size, 1e-16 * size)
        assert abs(found.value - 3.0 * size) <= found.error < 1e-11 * size


def test_noise_seen_below_a_window_widens_its_bar() -> None:
    noise = 1e-6 * np.random.default_rng(3).normal(size=len(STEPS))
    found = estimate(STEPS, polynomial(STEPS) + noise / STEPS)
    assert abs(found.value - 3.0) <= found.error
    assert found.error > 1e-7


def test_a_window_without_steps_below_it_is_no_better_than_its_smallest_step() -> None:
    noise = 1e-6 * np.random.default_rng(3).normal(size=8)
    steps = STEPS[-8:]
    found = estimate(steps, polynomial(steps) + noise / steps)
    assert abs(found.value - 3.0) <= found.error


def test_a_miss_that_grows_with_the_step_is_no_noise() -> None:
    # Two small steps see slope 3.1: as noise of single values that is little, as a slope it is 0.1.
    steps = 2.0 ** np.concatenate([[-30.0, -24], np.arange(-8, -2)])
    y = np.where(steps < 2.0**-20, 3.1, 3.0) + np.where(steps < 2.0**-28, 1e-6, 0.0)
    found = estimate(steps, y)
    assert abs(found.value - 3.1) <= found.error


def test_small_steps_that_agree_with_each_other_refute_a_window() -> None:
    # The larger steps see slope 3, the smaller ones agree on 3.1 to rounding: the function has a finer scale.
    steps = 2.0 ** np.concatenate([[-30, -27, -24], np.arange(-8, -2)])
    y = np.where(steps < 2.0**-20, 3.1, 3.0)
    found = extrapolated(quotients(steps, y))
    assert found is None or abs(found.value - 3.1) <= found.error


def test_a_wide_gap_is_not_bridged() -> None:
    assert extrapolated(quotients(np.array([1e-6, 1e-2]), np.array([1.0, 1.0]))) is None


def test_too_few_steps_give_nothing() -> None:
    assert extrapolated(quotients(np.array([0.5]), np.array([1.0]))) is None
    assert extrapolated(quotients(np.zeros(0), np.zeros(0))) is None


def test_noise_is_not_steady() -> None:
    noise = 1e-8 * np.random.default_rng(5).normal(size=len(STEPS))
    assert not steady(quotients(STEPS, 3.0 + noise / STEPS)).any()
    assert steady(quotients(STEPS, np.full(len(STEPS), 3.0)))[1:].all()
