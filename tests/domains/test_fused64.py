"""The quick kernels of float64 balls: they enclose where they say so, and leave the rest to the careful ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains import ball64, fused64
from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import Ball64, BallDomain64
from gradproof.domains.fused64 import BLOCK, fused_product, fused_quotient, fused_sum

from .rigor import BITS, encloses, hard_balls, members
from .test_ball64 import BINARY

KERNELS: dict[str, Any] = {
    "add": fused_sum(np.add),
    "sub": fused_sum(np.subtract),
    "mul": fused_product,
    "div": fused_quotient,
}
CAREFUL: dict[str, Any] = {
    "add": ball64._careful_add,
    "sub": lambda a, b: ball64._careful_add(a, -b),
    "mul": ball64._careful_mul,
    "div": ball64._careful_div,
}


def _ordinary(rng: np.random.Generator, shape: tuple[int, ...], seed: int) -> Ball64:
    """Numbers far from the ends of the range; radii of nothing, of a rounding, or nearly of their size."""
    mid = rng.uniform(1.0, 2.0, shape) * rng.choice((-1.0, 1.0), shape) * 2.0 ** rng.integers(-300, 300)
    share = (None, 2.0**-53, 0.9)[seed % 3]
    return Ball64(mid, None if share is None else np.abs(mid) * share * rng.random(shape))


def _fused(name: str, a: Ball64, b: Ball64) -> tuple[bool, Ball64]:
    shape = np.broadcast_shapes(a.shape, b.shape)
    mid, rad = np.empty(shape), np.empty(shape)
    with BallDomain64().active():
        sure = KERNELS[name](mid, rad, a.mid, a.rad, b.mid, b.rad)
    return sure, Ball64(mid, rad)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", range(27))
def test_of_ordinary_numbers_they_are_sure_and_right(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = _ordinary(rng, (60,), seed), _ordinary(rng, (2, 60), seed // 3)
    sure, y = _fused(name, a, b)
    assert sure
    with BallDomain(BITS).active():
        for one, other in zip(members(rng, a), members(rng, b)):
            assert encloses(y, BINARY[name](one, other))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", range(30))
def test_of_hard_numbers_they_are_right_if_they_are_sure(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [(hard_balls(rng, (1,)), hard_balls(rng, (1,))) for _ in range(20)]
    for a, b in pairs:
        sure, y = _fused(name, a, b)
        if not sure:
            continue
        with BallDomain(BITS).active():
            for one, other in zip(members(rng, a), members(rng, b)):
                assert encloses(y, BINARY[name](one, other))


@pytest.mark.parametrize("name", ["add", "sub", "mul"])
@pytest.mark.parametrize("seed", range(9))
def test_exact_zeros_among_ordinary_numbers_are_no_hindrance(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = (_with_zeros(rng, _ordinary(rng, (60,), kind)) for kind in (seed, seed // 3))
    sure, y = _fused(name, a, b)
    assert sure
    with BallDomain(BITS).active():
        for one, other in zip(members(rng, a), members(rng, b)):
            assert encloses(y, BINARY[name](one, other))


def _with_zeros(rng: np.random.Generator, x: Ball64) -> Ball64:
    """The sizes brought together as well, so that sums with a zero are ordinary numbers."""
    mid = np.where(rng.random(x.shape) < 0.3, 0.0, x.mid / np.abs(x.mid).max())
    return Ball64(mid, None if x.rad is None else np.abs(mid) * 0.5)


@pytest.mark.parametrize("radius", [0.0, 1e-320, 2.0**-1000])
def test_zeros_that_are_not_exact_are_not_claimed_to_be(radius: float) -> None:
    a, b = Ball64(np.zeros(2), np.full(2, radius)), Ball64(np.full(2, 2.0**-1000))
    assert _fused("mul", a, b)[0] == (radius == 0.0)
    assert _fused("div", a, Ball64(np.full(2, 2.0**1000)))[0] == (radius == 0.0)
    assert not _fused("add", a, b)[0]
    assert not _fused("mul", b, b)[0]


def test_what_underflows_is_not_claimed() -> None:
    assert not _fused("mul", Ball64(np.array([2.0**-600])), Ball64(np.array([2.0**-600])))[0]
    assert not _fused("div", Ball64(np.array([2.0**-600])), Ball64(np.array([2.0**600])))[0]


@pytest.mark.parametrize("name", KERNELS)
def test_blocks_meet_without_a_seam(name: str) -> None:
    """Larger than a block, with a bias repeated along the rows and one entry that only the careful formulas can do."""
    rng = np.random.default_rng(0)
    a, b = _ordinary(rng, (300, BLOCK // 100), 1), _ordinary(rng, (BLOCK // 100,), 1)
    a.mid[-1, 3] = 0.0
    with BallDomain64().active():
        y, expected = getattr(BallDomain64(), name)(a, b), CAREFUL[name](a, b)
    np.testing.assert_array_equal(y.mid, expected.mid)
    np.testing.assert_allclose(y.rad, expected.rad, rtol=1e-12)


def test_blocks_cover_an_array_once() -> None:
    for shape in ((), (7,), (3 * BLOCK + 5,), (11, BLOCK), (2, 3, BLOCK)):
        seen = np.zeros(shape, int)
        for block in fused64.blocks(shape):
            seen[block] += 1
        assert (seen == 1).all()
