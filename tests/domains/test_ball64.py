"""Float64 balls hold every number they must, also at the ends of the range of float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.domains import entrywise64
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import Ball64, BallDomain64

from .rigor import BITS, encloses, hard_balls, members

DOMAIN = BallDomain64()
SEEDS = range(60)

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("seed", SEEDS)
def test_arithmetic_encloses_what_any_members_give(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = hard_balls(rng, (40,)), hard_balls(rng, (3, 40))
    with DOMAIN.active():
        y = getattr(DOMAIN, name)(a, b)
    with BallDomain(BITS).active():
        for one, other in zip(members(rng, a), members(rng, b)):
            truth = BINARY[name](one, other)
            defined = np.asarray(np.frompyfunc(lambda entry: entry.is_finite(), 1, 1)(truth), bool)
            assert encloses(Ball64(y.mid[defined], y.radius()[defined]), truth[defined])


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_enclose_in_any_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = hard_balls(rng, (5, 7), unknown=0.02)
    indices = rng.integers(-4, 4, 5)
    with DOMAIN.active():
        total, running, scattered = (
            DOMAIN.sum(x, axes=(0,)),
            DOMAIN.running_sum(x, axis=0),
            DOMAIN.scatter_add(x, indices, 4),
        )
    exact = BallDomain(BITS)
    with exact.active():
        for entries in members(rng, x):
            assert encloses(total, exact.sum(entries, axes=(0,)))
            assert encloses(running, exact.running_sum(entries, axis=0))
            assert encloses(scattered, exact.scatter_add(entries, indices, 4))


def test_radii_of_ordinary_numbers_are_of_the_order_of_rounding() -> None:
    rng = np.random.default_rng(1)
    a, b = Ball64(rng.normal(size=100)), Ball64(rng.normal(size=100))
    for name in BINARY:
        y = getattr(DOMAIN, name)(a, b)
        assert (y.radius() <= 2.0**-51 * np.abs(y.mid)).all()


def test_a_sum_of_exact_numbers_is_exact_where_it_is_a_number_of_float64() -> None:
    balls = BallDomain64()
    one = balls.sub(balls.enter(np.array(2.0)), balls.enter(np.array([1.0, -0.25])))
    rounded = balls.add(balls.enter(np.array(0.1)), balls.enter(np.array(0.2)))
    tiny = balls.sub(balls.enter(np.array(2.0**-1000)), balls.enter(np.array(2.0**-1010)))
    assert one.rad is None and np.array_equal(one.mid, [1.0, 2.25])
    assert rounded.radius() > 0.0 and tiny.radius() > 0.0  # a processor may flush tiny differences to zero
    assert balls.add(balls.enter(np.array(np.inf)), balls.enter(np.array(1.0))).radius() == np.inf


def test_exact_zero_absorbs_the_unknown_in_products_and_nowhere_else() -> None:
    zero, unknown = Ball64(np.zeros(2)), Ball64(np.zeros(2), np.full(2, np.inf))
    with DOMAIN.active():
        product = DOMAIN.mul(zero, unknown)
    assert (product.mid == 0.0).all()
    assert (product.radius() == 0.0).all()
    nearly = Ball64(np.zeros(2), np.full(2, 5e-324))
    with DOMAIN.active():
        assert np.isinf(DOMAIN.mul(nearly, unknown).radius()).all()
        assert np.isinf(DOMAIN.div(zero, zero).radius()).all()
        assert np.isinf(DOMAIN.add(zero, unknown).radius()).all()


def test_numbers_that_are_none_are_unknown() -> None:
    ball = DOMAIN.enter(np.array([1.0, np.nan, np.inf, -np.inf]))
    assert np.isinf(ball.radius()).tolist() == [False, True, True, True]
    assert np.isfinite(ball.mid).all()


def test_integers_beyond_the_precision_of_float64_enter_with_a_radius() -> None:
    values = np.array([2**53 + 1, -(2**62) - 1, 7], np.int64)
    ball = DOMAIN.enter(values)
    with BallDomain(BITS).active():
        assert encloses(ball, BallDomain(BITS).enter(values))
    assert ball.radius()[0] > 0.0


def test_a_quotient_whose_parts_underflow_keeps_its_radius() -> None:
    # |a/b| times the radius of b is 2^-1080 and would vanish, though its quotient by b is 2^-80.
    a, b = Ball64(np.array([2.0**-1070])), Ball64(np.array([2.0**-1000]), np.array([2.0**-1010]))
    with DOMAIN.active():
        y = DOMAIN.div(a, b)
    exact = BallDomain(BITS)
    with exact.active():
        ends = exact.enter(a.mid) / (exact.enter(b.mid) - exact.enter(b.radius()))
        assert encloses(y, ends)


# A second for each seed, most of it exact arithmetic: a quarter of them here, all by night.
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.nightly if seed % 4 else ()) for seed in SEEDS]
)
def test_the_normal_distribution_encloses_what_any_members_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = hard_balls(rng, (80,))
    with DOMAIN.active():
        y = DOMAIN.ndtr(x)
    exact = BallDomain(BITS)
    with exact.active():
        for entries in members(rng, x):
            assert encloses(y, exact.ndtr(entries))


def test_many_values_of_the_normal_distribution_are_found_without_arb(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def called(*entries: Any) -> Any:
        raise AssertionError(f"entry by entry: {entries}")

    monkeypatch.setitem(entrywise64.ENTRYWISE, "ndtr", called)
    monkeypatch.setitem(entrywise64.ENTRYWISE, "erfc", called)
    y = BallDomain64().ndtr(Ball64(np.linspace(-30.0, 9.0, 500)))
    assert (y.radius() <= 2.0**-40 * y.mid).all()
