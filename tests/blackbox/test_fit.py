"""Fits beneath noise: near the truth, refused where they contradict smaller windows, no bar by luck."""

import numpy as np
import pytest

from gradproof.blackbox import fit
from gradproof.blackbox.fit import Equations, Fit, Samples, best, fits

STEPS = np.array(sorted([0.0, *(s * 1.7**-k for k in range(12) for s in (1, -1))], key=abs))


def samples(function: np.ufunc, noise: float, seed: int, steps: np.ndarray = STEPS) -> Samples:
    rng = np.random.default_rng(seed)
    values = function(steps) + noise * rng.uniform(-1, 1, len(steps))
    return Samples(steps, values, np.full(len(steps), 1e-16))


def covered(noise: float, seeds: range) -> float:
    """The share of noises under which the bar reaches the slope of exp at 0."""
    found = [best(fits(samples(np.exp, noise, seed), noise)) for seed in seeds]
    return float(np.mean([one is not None and abs(one.slope - 1) <= one.error for one in found]))


@pytest.mark.parametrize("noise", [1e-8, 1e-5, 1e-3])
def test_the_bar_reaches_the_slope_beneath_noise(noise: float) -> None:
    assert covered(noise, range(100)) >= 0.98


def test_a_bar_without_its_factor_for_few_values_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit, "confidence", lambda free: 0.3)
    monkeypatch.setattr(fit, "BIAS_SAFETY", 0.0)
    assert covered(1e-3, range(100)) < 0.98


def test_the_slope_is_sharper_than_any_single_difference() -> None:
    found = best(fits(samples(np.exp, 1e-6, 1), 1e-6))
    assert found is not None
    assert abs(found.slope - 1) < 1e-5


def test_a_window_in_which_the_function_is_another_one_is_not_used() -> None:
    # Beyond 0.01 the slope is 3, within it 1: large windows look straight and are wrong.
    steps = np.array(sorted([0.0, *(s * 1.7**-k for k in range(20) for s in (1, -1))], key=abs))
    function = lambda t: np.where(abs(t) < 0.01, t, 3 * t - np.sign(t) * 0.02)
    found = best(fits(samples(function, 1e-6, 2, steps), 1e-6))
    assert found is not None
    assert found.width < 0.03
    assert abs(found.slope - 1) <= found.error


def test_what_is_left_over_far_above_the_noise_of_small_steps_refuses_a_window() -> None:
    wavy = lambda t: t + 1e-2 * np.sin(300 * t)
    assert all(one.width < 0.05 for one in fits(samples(wavy, 1e-9, 3), 1e-9))


def test_a_window_that_contradicts_a_smaller_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def told(inside: Samples, width: float, wanted: Equations) -> list[Fit]:
        slope = 1.0 if width < 0.1 else 2.0
        return [Fit(slope, 1e-3, 0.01 * (2 - width), 0.0, width, 1, 1e-3, slope)]

    monkeypatch.setattr(fit, "_of_window", told)
    found = fits(samples(np.exp, 1e-3, 1), 1e-3)
    assert found
    assert all(one.slope == 1.0 for one in found)


def wandering_samples(seed: int) -> Samples:
    """A line beneath a random walk of deviation 0.01 over a step of one, on both sides of the point."""
    rng = np.random.default_rng(seed)
    steps = np.sort(STEPS)
    walk = 0.01 * np.concatenate(
        [[0.0], np.cumsum(rng.normal(size=len(steps) - 1) * np.sqrt(np.diff(steps)))]
    )
    order = np.argsort(abs(steps), kind="stable")
    return Samples(steps[order], (steps + walk - walk[steps == 0])[order], np.full(len(steps), 1e-16))


def test_the_bar_reaches_the_slope_beneath_noise_that_wanders(monkeypatch: pytest.MonkeyPatch) -> None:
    def held() -> float:
        found = [best(fits(wandering_samples(seed), 1e-3)) for seed in range(60)]
        return float(np.mean([one is None or abs(one.slope - 1) <= one.error for one in found]))

    assert held() >= 0.97
    monkeypatch.setattr(fit, "SHOWN", -np.inf)  # noise is always taken for independent
    assert held() < 0.9
