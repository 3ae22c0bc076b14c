"""Random balls with all the hard numbers, and the question whether a result encloses what it must."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb

from gradproof.domains.ball64 import Ball64

Array = np.ndarray[Any, Any]

BITS = 4000  # wide enough that sums over the whole range of float64 are exact
HARD = (
    0.0,
    -0.0,
    5e-324,
    -3e-320,
    2.0**-1022,
    2.0**-1070,
    2.0**-540,
    1e-200,
    1.0,
    1.0 + 2.0**-52,
    3.0,
    1e200,
    1.7e308,
)


def hard_numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """A mixture of special numbers, ordinary ones, and ones of any exponent."""
    special = rng.choice(HARD, size=shape) * rng.choice((-1.0, 1.0), size=shape)
    ordinary = rng.normal(size=shape)
    anywhere = np.ldexp(rng.normal(size=shape), rng.integers(-1074, 1020, size=shape))
    kind = rng.integers(3, size=shape)
    return np.where(kind == 0, special, np.where(kind == 1, ordinary, anywhere))


def hard_balls(rng: np.random.Generator, shape: tuple[int, ...], unknown: float = 0.1) -> Ball64:
    """Balls exact, narrow, wide, and unknown (an infinite radius)."""
    mid = hard_numbers(rng, shape)
    if rng.random() < 0.25:
        return Ball64(mid)
    kind = rng.integers(4, size=shape)
    narrow, wide = np.abs(mid) * 2.0 ** rng.integers(-60, 0), np.abs(hard_numbers(rng, shape))
    rad = np.where(kind == 0, 0.0, np.where(kind <= 2, narrow, wide))
    lost = rng.random(shape) < unknown
    return Ball64(np.where(lost, 0.0, mid), np.where(lost, np.inf, rad))


def members(rng: np.random.Generator, x: Ball64) -> list[Any]:
    """Numbers in the balls, exactly: midpoints, ends, and ones in between; of unknown ones, anything."""
    mid, rad = x.mid, x.radius()
    lost = ~np.isfinite(rad)
    mid = np.where(lost, hard_numbers(rng, mid.shape), mid)
    rad = np.where(lost, 0.0, rad)
    shares = (np.zeros(mid.shape), rng.choice((-1.0, 1.0), size=mid.shape), rng.uniform(-1.0, 1.0, mid.shape))
    exact = np.frompyfunc(lambda m, r, s: arb(m) + arb(r) * arb(s), 3, 1)
    return [np.asarray(exact(mid, rad, share), dtype=object) for share in shares]


def encloses(y: Ball64, truth: Any) -> bool:
    """Whether every entry of `truth` lies in its ball."""
    pairs = zip(y.mid.flat, y.radius().flat, np.asarray(truth, dtype=object).flat, strict=True)
    return all(
        np.isinf(rad) or not abs(arb(float(mid)) - entry) > arb(float(rad)) for mid, rad, entry in pairs
    )
