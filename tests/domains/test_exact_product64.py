"""Products and sums of float64 balls that are sharper than the plain ones, and hold the exact result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from gradproof.domains.ball64 import Ball64, BallDomain64
from gradproof.domains.exact_product64 import SharpBallDomain64, entrywise_product, sharp_product

EXACT_BITS = 600
Array = np.ndarray[Any, Any]
SHARP, PLAIN = SharpBallDomain64(), BallDomain64()


@pytest.fixture(autouse=True)
def _exactly() -> Any:
    before, ctx.prec = ctx.prec, EXACT_BITS
    yield
    ctx.prec = before


def _exact(x: Array) -> Array:
    return np.asarray(np.frompyfunc(arb, 1, 1)(x), dtype=object)


def _contains(y: Ball64, truth: Array) -> bool:
    off = np.abs(truth - _exact(y.mid)) - _exact(y.radius())
    return all(bool(entry <= 0) for entry in np.asarray(off, dtype=object).flat)


def test_one_part_of_a_sharp_product_is_exact_and_the_other_small() -> None:
    rng = np.random.default_rng(3)
    for n in (1, 5, 300):
        a, b = rng.normal(size=(4, n)) * 10.0 ** rng.integers(-5, 5, (4, n)), rng.normal(size=(n, 2))
        main, rest = sharp_product(Ball64(a), Ball64(b), entrywise_product)
        truth = np.dot(_exact(a), _exact(b))
        assert _contains(rest, truth - _exact(main))
        assert rest.radius().max() <= 2.0**-66 * n * np.abs(a).max() * np.abs(b).max()


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160])
def test_sharp_products_of_tiny_and_huge_numbers_hold_too(scale: float) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(3, 6)) * scale, rng.normal(size=(6, 2)) * 1e-20
    main, rest = sharp_product(Ball64(a), Ball64(b), entrywise_product)
    assert _contains(rest, np.dot(_exact(a), _exact(b)) - _exact(main))


def test_radii_are_multiplied_entry_by_entry() -> None:
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=(3, 6)), rng.normal(size=(6, 2))
    rads = np.abs(a) * 2.0**-20, np.abs(b) * 2.0**-20
    y = entrywise_product(Ball64(a, rads[0]), Ball64(b, rads[1]))
    worst = np.abs(a) @ rads[1] + rads[0] @ (np.abs(b) + rads[1])
    assert (y.radius() >= worst).all()
    assert (y.radius() <= 1.0001 * worst).all()


def test_a_product_of_exact_matrices_is_rounded_once() -> None:
    rng = np.random.default_rng(6)
    a, b = rng.normal(size=(5, 400)), rng.normal(size=(400, 3))
    y = SHARP.matmul(Ball64(a), Ball64(b))
    assert _contains(y, np.dot(_exact(a), _exact(b)))
    assert (y.radius() <= 2.0**-51 * np.abs(y.mid)).all()
    assert (y.radius() < PLAIN.matmul(Ball64(a), Ball64(b)).radius() / 100).all()


def test_a_product_of_balls_holds_what_any_members_give() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.normal(size=(3, 40)), rng.normal(size=(40, 2))
    rads = np.abs(a) * 2.0**-30, np.abs(b) * 2.0**-30
    y = SHARP.matmul(Ball64(a, rads[0]), Ball64(b, rads[1]))
    for _ in range(5):
        signs = (rng.choice([-1.0, 1.0], x.shape) for x in (a, b))
        inside = [_exact(x) + _exact(rad * sign) for x, rad, sign in zip((a, b), rads, signs)]
        assert _contains(y, np.dot(*inside))


@pytest.mark.parametrize("axes", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("width", [0.0, 2.0**-30])
def test_a_long_sum_is_off_by_few_roundings(axes: tuple[int, ...], width: float) -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(37, 53))
    rad = np.abs(x) * width
    y = SHARP.sum(Ball64(x, rad), axes)
    sign = rng.choice([-1.0, 1.0], x.shape)
    assert _contains(y, np.sum(_exact(x) + _exact(rad * sign), axis=axes))
    n = int(np.prod([x.shape[axis] for axis in axes]))
    least = np.sum(np.abs(x), axis=axes) * 2.0**-53
    assert (y.radius() - np.sum(rad, axis=axes) <= 1.1 * (n - 1).bit_length() * least).all()


def test_what_is_unknown_stays_unknown() -> None:
    x = Ball64(np.zeros((20, 20)), np.where(np.eye(20) > 0, np.inf, 0.0))
    assert np.isinf(SHARP.sum(x, (0,)).radius()).all()
    assert np.isinf(SHARP.matmul(x, Ball64(np.ones((20, 20)))).radius()).all()
