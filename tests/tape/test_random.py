"""Random NumPy functions: the error bound covers the true error every time, and is not much larger."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from gradproof.judge.verdict import Verdict
from gradproof.tape import GradientTape, Missing

from .random_functions import Plain, exact_decisions, random_function, true_gradient

N_FUNCTIONS = 120
N_NIGHTLY = 3000
DIGITS = 450  # values up to 1e300 still leave a hundred digits to a difference
MOST_EXCESS = 100.0  # the bound is within this factor of the error in the median


def _assert_bounds_hold(seeds: range) -> None:
    excesses, n_flipped = [], 0
    for seed in seeds:
        function, functions = random_function(seed), Plain()
        with np.errstate(all="ignore"), GradientTape() as tape:
            x = tape.watch(function.point)
            y = function(functions, x)
        gradient = tape.gradient(y, x)
        assert not isinstance(gradient, Missing), seed
        with mpmath.workdps(DIGITS):
            if not np.isfinite(np.asarray(y)):
                continue  # what overflows has no number of digits that would be enough for a difference
            if functions.taken != exact_decisions(function):
                n_flipped += 1  # rounding took another branch, whose gradient is not the one computed here
                continue
            truth = true_gradient(function)
            for observed, bound, exact in zip(gradient, gradient.error, truth, strict=True):
                error = abs(mpmath.mpf(float(observed)) - exact)
                assert error <= mpmath.mpf(float(bound)) + mpmath.mpf(10) ** -45, (seed, observed, bound)
                if error > mpmath.mpf(10) ** -40:
                    excesses.append(float(bound / error))
        assert gradient.verdict in (Verdict.CORRECT, Verdict.INACCURATE, Verdict.NONFINITE), (
            seed,
            gradient.explain(),
        )
    assert np.median(excesses) <= MOST_EXCESS
    assert n_flipped <= len(seeds) / 20


def test_error_covers_the_true_error_and_is_tight() -> None:
    _assert_bounds_hold(range(N_FUNCTIONS))


@pytest.mark.nightly
def test_error_covers_the_true_error_of_three_thousand_functions() -> None:
    _assert_bounds_hold(range(N_FUNCTIONS, N_NIGHTLY))
