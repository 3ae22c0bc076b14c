"""Rounding upwards really is upwards, and leaves zero and infinity alone."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from gradproof.domains.rounding64 import TINY, Bound, up


def test_a_sum_of_rounded_products_is_below_what_up_makes_of_it() -> None:
    rng = np.random.default_rng(23)
    terms = 10.0 ** rng.uniform(-5.0, 5.0, (2000, 4, 2))
    computed = np.zeros(2000)
    for i in range(4):
        computed = computed + terms[:, i, 0] * terms[:, i, 1]
    bounds = up(computed)
    misses = 0
    for row, value, bound in zip(terms.tolist(), computed.tolist(), bounds.tolist(), strict=True):
        exact = sum((Fraction(a) * Fraction(b) for a, b in row), Fraction(0))
        assert exact <= Fraction(bound)
        misses += exact > Fraction(value)
    assert misses > 100, "the plain sum is below the truth often enough for this test to mean something"


def test_a_single_rounding_is_made_up_for_at_every_scale() -> None:
    x = 10.0 ** np.random.default_rng(24).uniform(-322.0, 307.0, 5000)
    assert (up(x, 1) >= np.nextafter(x, np.inf)).all()
    assert (up(x, 1) <= x * (1.0 + 2.0**-50) + 2.0 * TINY).all()


def test_zero_and_infinity_stay_and_nan_is_kept() -> None:
    assert up(np.array([0.0, np.inf])).tolist() == [0.0, np.inf]
    assert np.isnan(up(np.array([np.nan]))).all()


def test_a_bound_adds_its_three_parts() -> None:
    bound = Bound(relative=0.5, absolute=0.25, argument=2.0)
    assert bound.error(np.array([-3.0]), np.array([-4.0])).tolist() == [2.0 + 0.25 + 6.0]
