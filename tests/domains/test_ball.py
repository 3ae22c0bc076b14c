"""Arbitrary-precision balls: exact entry, honest exit, and zeros that absorb what is unknown."""

from __future__ import annotations

import math
from typing import Any

import flint
import numpy as np
import pytest
from flint import acb, arb

from gradproof.domains.ball import BallDomain, float_ball

DOMAIN = BallDomain(128)
UNKNOWN = arb("nan")


def _array(rows: Any) -> Any:
    return np.array(
        [[arb(entry) if not isinstance(entry, (arb, acb)) else entry for entry in row] for row in rows],
        object,
    )


def _is_known(y: Any) -> Any:
    return [[bool(entry.is_finite()) for entry in row] for row in y]


def test_product_with_an_exact_zero_absorbs_the_unknown() -> None:
    a, b = _array([[UNKNOWN, 2], [3, 0]]), _array([[0, 1], [5, 7]])
    with DOMAIN.active():
        y = DOMAIN.matmul(a, b)
    assert _is_known(y) == [[True, False], [True, True]]
    assert y[0, 0] == 10


def test_an_unknown_entry_on_the_right_spoils_what_it_meets() -> None:
    a, b = _array([[1, 0], [0, 1]]), _array([[UNKNOWN, 1], [2, 3]])
    with DOMAIN.active():
        y = DOMAIN.matmul(a, b)
    assert _is_known(y) == [[False, True], [True, True]]


def test_a_ball_around_zero_does_not_absorb() -> None:
    with DOMAIN.active():
        y = DOMAIN.matmul(_array([[arb(0, 1e-300)]]), _array([[UNKNOWN]]))
    assert _is_known(y) == [[False]]


def test_complex_products_absorb_as_well() -> None:
    a, b = _array([[acb(0, 1), acb(0)]]), _array([[acb(2)], [acb(UNKNOWN, 0)]])
    with DOMAIN.active():
        y = DOMAIN.matmul(a, b)
    assert y[0, 0] == acb(0, 2)


def test_batched_products_are_products_of_each_pair() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 9, (2, 1, 3, 4)).astype(float), rng.integers(-9, 9, (5, 4, 2)).astype(float)
    with DOMAIN.active():
        mid, rad = DOMAIN.leave(DOMAIN.matmul(DOMAIN.enter(a), DOMAIN.enter(b)))
    assert (mid == a @ b).all()
    assert (rad == 0.0).all()


def test_products_of_nothing_are_zero() -> None:
    assert (
        DOMAIN.leave(DOMAIN.matmul(DOMAIN.enter(np.zeros((2, 0))), DOMAIN.enter(np.zeros((0, 3)))))[0] == 0.0
    ).all()
    assert DOMAIN.matmul(DOMAIN.enter(np.zeros((0, 2))), DOMAIN.enter(np.zeros((2, 3)))).shape == (0, 3)


@pytest.mark.parametrize("value", [0.0, 1.0, -3.5, 5e-324, 1.7e308, 2.0**-1074])
def test_floats_enter_and_leave_exactly(value: float) -> None:
    assert float_ball(DOMAIN.enter(np.asarray(value))[()]) == (value, 0.0)


def test_what_float64_cannot_hold_leaves_as_a_ball_that_does() -> None:
    with DOMAIN.active():
        third = arb(1) / 3
        mid, rad = float_ball(third)
        assert not abs(third - mid) > rad
        assert 0.0 < rad < 1e-16
        tiny = arb(2) ** -3000
        mid, rad = float_ball(tiny)
        assert not abs(tiny - mid) > rad
        assert math.isinf(float_ball(arb(2) ** 3000)[1])
        assert math.isinf(float_ball(UNKNOWN)[1])


def test_infinities_enter_as_unknown() -> None:
    entered = DOMAIN.enter(np.array([np.inf, -np.inf, np.nan]))
    assert not any(entry.is_finite() for entry in entered)


def test_precision_returns_to_what_it_was_after_an_error() -> None:
    before = flint.ctx.prec

    def fail() -> None:
        with DOMAIN.active():
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert flint.ctx.prec == before
