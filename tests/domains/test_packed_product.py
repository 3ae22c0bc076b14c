"""Products of sliced matrices hold the product of every choice of members, to the last of their 128 bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb

from gradproof.domains import packed_product
from gradproof.domains.ball import BallDomain
from gradproof.domains.flint_library import WORDS, library
from gradproof.domains.packed import cells_of, from_objects, to_objects, words_of
from gradproof.domains.packed_product import SLICES, sliced_product

from .rigor import BITS, hard_balls

pytestmark = pytest.mark.skipif(library() is None, reason="the FLINT library cannot be called here")
Array = np.ndarray[Any, Any]
EXACT, ROUNDED = BallDomain(BITS), BallDomain(128)


@pytest.fixture(autouse=True)
def _slices_small_matrices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_product, "SMALLEST", 0)


def _short(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return ROUNDED.enter(rng.normal(size=shape).astype(np.float32))


def _long(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Midpoints of 128 bits without a radius, of similar size and of one sign, so that what is cut off adds up."""
    y = np.asarray(1 + ROUNDED.enter(rng.random(shape)) / 3, dtype=object)
    return np.asarray(np.frompyfunc(lambda entry: entry.mid(), 1, 1)(y), dtype=object)


def _narrow(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return ROUNDED.exp(ROUNDED.enter(rng.normal(size=shape)))


def _wide(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    ball = np.frompyfunc(lambda mid, rad: arb(mid, rad), 2, 1)
    return np.asarray(ball(rng.normal(size=shape), rng.random(shape)), dtype=object)


def _scattered(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Any exponents, zeros among them, and exact zeros in whole rows and columns."""
    x = hard_balls(rng, shape, unknown=0.0)
    y = np.asarray(np.frompyfunc(lambda mid, rad: arb(mid, rad), 2, 1)(x.mid, x.radius()), dtype=object)
    y[rng.integers(shape[0])] = arb(0)
    y[:, rng.integers(shape[1])] = arb(0)
    return y


KINDS = {"short": _short, "long": _long, "narrow": _narrow, "wide": _wide, "scattered": _scattered}
SHAPES = ((4, 3, 5), (1, 40, 2), (3, 1, 3), (2, 300, 2))


def _sliced(a: Array, b: Array) -> Array | None:
    found = library()
    assert found is not None
    with ROUNDED.active():
        y = sliced_product(found, *(words_of(from_objects(x)).reshape(*x.shape, WORDS) for x in (a, b)))
        return None if y is None else to_objects(cells_of(y, y.shape[:2]))


def _members(rng: np.random.Generator, x: Array) -> list[Array]:
    """Midpoints, and ends of the balls; all at the same end, so that nothing cancels, or at any."""
    ends = (np.zeros(x.shape), np.ones(x.shape), rng.choice((-1.0, 1.0), x.shape))
    at = np.frompyfunc(lambda entry, share: entry.mid() + entry.rad() * arb(share), 2, 1)
    return [np.asarray(at(x, end), dtype=object) for end in ends]


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_products_hold_those_of_all_members(left: str, right: str, shape: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(sum(shape) + 7 * len(left) + len(right))
    with ROUNDED.active():
        a, b = KINDS[left](rng, shape[:2]), KINDS[right](rng, shape[1:])
    y = _sliced(a, b)
    assert y is not None
    with EXACT.active():
        for one, other in zip(_members(rng, a), _members(rng, b)):
            truth = EXACT.matmul(one, other)
            assert all(ball.overlaps(entry) for ball, entry in zip(y.flat, truth.flat, strict=True))


def test_products_of_float32_numbers_are_exact_and_of_others_nearly_so() -> None:
    rng = np.random.default_rng(0)
    with ROUNDED.active():
        short, long = _short(rng, (3, 20)), _long(rng, (20, 3))
        exact, close = _sliced(short, np.asarray(short.T)), _sliced(np.asarray(long.T), long)
    assert exact is not None
    assert close is not None
    assert all(entry.rad() == 0 for entry in exact.flat)
    assert all(100 < entry.rel_accuracy_bits() < 128 for entry in close.flat)


def test_what_is_below_the_last_digit_is_in_the_radius() -> None:
    """63 bits times 64 bits: nothing is cut off the numbers, and the last bit of the product is on the last level."""
    a, b = 2**63 - 1, 2**64 - 1
    with ROUNDED.active():
        y = _sliced(np.array([[arb(a)]], dtype=object), np.array([[arb(b)]], dtype=object))
        assert y is not None
        assert y[0, 0].contains(arb(a * b))


def test_what_pairs_of_low_slices_would_add_is_in_the_radius() -> None:
    """64 bits times 64 bits, all of them set."""
    a = 2**64 - 1
    with ROUNDED.active():
        row = np.full((1, 200), arb(a), dtype=object)
        y = _sliced(row, np.asarray(row.T))
        assert y is not None
        assert y[0, 0].contains(arb(200 * a * a))


def test_an_exactly_zero_row_gives_exactly_zero() -> None:
    rng = np.random.default_rng(0)
    with ROUNDED.active():
        a = _narrow(rng, (3, 4))
        a[1] = arb(0)
        y = _sliced(a, _wide(rng, (4, 2)))
    assert y is not None
    assert all(entry == 0 for entry in y[1])


def test_unknown_entries_and_far_exponents_are_left_to_the_library() -> None:
    for odd in (arb("nan"), arb(2) ** (1 << 45)):
        with ROUNDED.active():
            assert _sliced(np.array([[odd]], dtype=object), np.array([[arb(1)]], dtype=object)) is None


def test_sums_of_slices_stay_below_what_float64_adds_exactly() -> None:
    """The largest slices there are, in the largest matrix that is sliced with their number of bits."""
    for k in (3, 300, 5000):
        bits = min(packed_product.MOST_BITS, (53 - int(np.ceil(np.log2(SLICES * k)))) // 2)
        assert SLICES * k * (2**bits - 1) ** 2 < 2**53
