"""Square roots and the inverse circular and hyperbolic functions in float64, with proven error bounds.

They are built from log1p (5.4 u) and atan (6.2 u), which count a relative error of their argument at most
once. u is the unit 2^-53; the bounds in the comments are sums to first order, and the constants leave at
least a tenth of slack for the rest.
"""

from __future__ import annotations

import numpy as np

from gradproof.domains.enclosure64 import Elementary, bending, steady, straight_ends
from gradproof.domains.log64 import log1p_of
from gradproof.domains.rounding64 import TINY, UNIT, Bound
from gradproof.domains.trig64 import atan_of
from gradproof.ir.types import Array

_INSIDE_ONE = float(np.nextafter(1.0, 0.0))
_VAST = 1e300  # beyond, twice the argument may overflow
_SQUARABLE = 2.0**500


def _sqrt(x: Array) -> tuple[Array, Array]:
    """Rounded correctly: 1 u."""
    y = np.sqrt(x)
    return y, 0.5 / y


def _rsqrt(x: Array) -> tuple[Array, Array]:
    """Two roundings: 2 u."""
    y = 1.0 / np.sqrt(x)
    return y, 0.5 * y / x


def _asin(x: Array) -> tuple[Array, Array]:
    """atan(x / w), w the root of (1 - x)(1 + x): 2.5 u for the root, 1 u for the quotient, atan: 9.7 u."""
    w = (1.0 - x) * (1.0 + x)
    np.sqrt(w, out=w)
    return atan_of(x / w), 1.0 / w


def _acos(x: Array) -> tuple[Array, Array]:
    """2 atan of the root of (1 - x)/(1 + x): 1.5 u for the quotient, 1 u for the root, atan: 8.7 u."""
    below, above = 1.0 - x, 1.0 + x
    y = atan_of(np.sqrt(below / above))
    y += y
    below *= above
    return y, 1.0 / np.sqrt(below)


def _asinh(x: Array) -> tuple[Array, Array]:
    """log1p(a + a v), v = a / (1 + w), w the root of 1 + a^2, a = |x|.

    w has 2 u, 1 + w 1 u, v and a v 1 u each: 5 u on at most half of the sum, the sum 1 u, log1p: 8.9 u.
    v is 1 to within 2^-499 where a is too large to be squared, and is computed at 2^500 instead.
    """
    a = np.abs(x)
    v = np.minimum(a, _SQUARABLE)
    w = v * v
    w += 1.0
    np.sqrt(w, out=w)
    v /= w + 1.0
    v *= a
    v += a
    return np.copysign(log1p_of(v)[0], x), np.divide(1.0, w, out=w)


def _acosh(x: Array) -> tuple[Array, Array]:
    """log1p(t + w), t = x - 1, w = sqrt(t) sqrt(t + 2): t has 1 u, w 4 u, the sum 1 u, log1p: 10.4 u."""
    t = x - 1.0
    w = np.sqrt(t) * np.sqrt(t + 2.0)
    t += w
    return log1p_of(t)[0], np.divide(1.0, w, out=w)


def _atanh(x: Array) -> tuple[Array, Array]:
    """log1p(2a / (1 - a)) / 2 with a = |x|: 1 u for the difference, 1 u for the quotient, log1p: 7.4 u."""
    a = np.abs(x)
    below = 1.0 - a
    y = log1p_of((a + a) / below)[0]
    y *= 0.5
    below *= a + 1.0
    return np.copysign(y, x), np.divide(1.0, below, out=below)


def _round_one(mid: Array, rad: Array) -> Array:
    """|f''/f'| = |x| / (1 - x^2) <= 1/2 / (1 - |x|) for asin and acos."""
    return np.asarray(0.5 / ((1.0 - np.abs(mid)) - rad))


def _pole_at_one(mid: Array, rad: Array) -> Array:
    """|f''/f'| = 2|x| / (1 - x^2) <= 1 / (1 - |x|) for atanh."""
    return np.asarray(1.0 / ((1.0 - np.abs(mid)) - rad))


SQRT = Elementary(
    _sqrt, Bound(1.125 * UNIT, TINY), bending(lambda mid, rad: 0.5 / (mid - rad)), low=0.0, ends=straight_ends
)
RSQRT = Elementary(
    _rsqrt, Bound(3.0 * UNIT, TINY), bending(lambda mid, rad: 1.5 / (mid - rad)), low=TINY, ends=straight_ends
)
ASIN = Elementary(
    _asin, Bound(11.0 * UNIT, TINY), bending(_round_one), -_INSIDE_ONE, _INSIDE_ONE, straight_ends
)
ACOS = Elementary(
    _acos, Bound(10.0 * UNIT, TINY), bending(_round_one), -_INSIDE_ONE, _INSIDE_ONE, straight_ends
)
ASINH = Elementary(_asinh, Bound(10.0 * UNIT, TINY), steady(0.5), -_VAST, _VAST, straight_ends)
ACOSH = Elementary(  # |f''/f'| = x / (x^2 - 1) <= 1 / (x - 1)
    _acosh,
    Bound(12.0 * UNIT, TINY),
    bending(lambda mid, rad: 1.0 / ((mid - 1.0) - rad)),
    1.0,
    _VAST,
    straight_ends,
)
ATANH = Elementary(
    _atanh, Bound(9.0 * UNIT, TINY), bending(_pole_at_one), -_INSIDE_ONE, _INSIDE_ONE, straight_ends
)
