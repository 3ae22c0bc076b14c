"""sin, cos, tan and atan in float64, with proven error bounds.

Only operations that IEEE 754 rounds correctly are used. u is the unit 2^-53; the bounds in the comments are
sums to first order, and the constants leave at least a tenth of slack for the rest.
"""

from __future__ import annotations

import numpy as np

from gradproof.domains.enclosure64 import Elementary, steady, straight_ends
from gradproof.domains.polynomial64 import MAGIC, horner
from gradproof.domains.rounding64 import TINY, UNIT, Bound
from gradproof.ir.types import Array

FARTHEST = 2.0**17  # with k below 2^17 the products with the 36-bit parts of pi/2 are exact

# pi/2 in three parts, 36 + 36 + 53 bits.
QUARTER_1 = float.fromhex("0x1.921fb54440000p+0")
QUARTER_2 = float.fromhex("0x1.68c234c400000p-39")
QUARTER_3 = float.fromhex("0x1.8cc51701b839ap-72")
_PER_QUARTER = 2.0 / np.pi

# The interpolants at Chebyshev's points of (sin(r)/r - 1)/z and (cos(r) - 1 + z/2)/z^2 on z = r^2 <= 0.617,
# and of (atan(t)/t - 1)/z on z = t^2 <= 0.1717, rounded; the tests prove what they leave out: 0.2 u, 0.1 u
# and 0.1 u.
SIN_POLYNOMIAL = (
    -0.16666666666666666,
    0.008333333333330946,
    -0.00019841269836756245,
    2.7557316101344523e-06,
    -2.5051131593271127e-08,
    1.591811115969976e-10,
)
COS_POLYNOMIAL = (
    0.041666666666666664,
    -0.0013888888888887395,
    2.4801587298764232e-05,
    -2.7557317270974144e-07,
    2.0876146110922643e-09,
    -1.1382621080319172e-11,
)
ATAN_POLYNOMIAL = (
    -0.3333333333333333,
    0.19999999999995519,
    -0.14285714284666184,
    0.11111111015227572,
    -0.09090904576954117,
    0.07692183163650894,
    -0.06664511064599371,
    0.05858145587628202,
    -0.050854323376990765,
    0.0392311556198723,
    -0.01917627151752634,
)


def _reduced(x: Array) -> tuple[Array, Array]:
    """The bits of k and r with x = k pi/2 + r, |r| <= 0.7855, for |x| <= 2^17.

    k QUARTER_1 and k QUARTER_2 are exact, and so is t = x - k QUARTER_1: a multiple of 2^-53 below 1.
    high + low is t - k QUARTER_2 exactly. What is left are u |r| and errors of at most 3 * 2^-124 |k| from
    the third part, and |k| <= 1.28 |x|: an error of u |r| + 2^-121 |x|, and none if k = 0.
    """
    n = x * _PER_QUARTER
    n += MAGIC
    k = n - MAGIC
    t = x - k * QUARTER_1
    w = k * QUARTER_2
    high = t - w
    back = high - t
    low = (t - (high - back)) - (w + back)
    k *= QUARTER_3
    low -= k
    high += low
    return n.view(np.int64), high


def _sin_and_cos(x: Array) -> tuple[Array, Array]:
    """sin and cos of x, for |x| <= 2^17.

    sin(r) = r + r z S(z): the second term, 0.103 |r| at most, has 4.2 u, the sum 1 u, the truncation 0.2 u; r
    has 1 u and counts once: 2.8 u. cos(r) = 1 - z (1/2 - z C(z)): the second term, 0.293 at most, has 4 u; r
    counts 0.56 u; over cos(r) >= 0.707 that is 2.6 u with the truncation, and the sum 1 u: 3.6 u. Either has
    2^-121 |x| from the reduction in addition.
    """
    k, r = _reduced(x)
    z = r * r
    s = horner(SIN_POLYNOMIAL, z)
    s *= z
    s *= r
    s += r
    c = horner(COS_POLYNOMIAL, z)
    c *= z
    c -= 0.5
    c *= z
    c += 1.0
    odd = (k & 1).astype(np.bool_)
    sines, cosines = np.where(odd, c, s), np.where(odd, s, c)
    # sin changes sign in the third and fourth quarter, cos in the second and third.
    sines.view(np.int64)[...] ^= (k & 2) << 62
    cosines.view(np.int64)[...] ^= ((k + 1) & 2) << 62
    return sines, cosines


def _sin(x: Array) -> tuple[Array, Array]:
    s, c = _sin_and_cos(x)
    return s, np.abs(c, out=c)


def _cos(x: Array) -> tuple[Array, Array]:
    s, c = _sin_and_cos(x)
    return c, np.abs(s, out=s)


def _wave_spread(mid: Array, rad: Array, y: Array, slope: Array) -> Array:
    """|sin(m + d) - sin(m)| <= |cos m| |d| + |sin m| d^2 / 2, likewise cos; and never more than 1 + |y|."""
    del mid
    size = np.abs(y)
    spread = size * rad
    spread *= 0.5
    spread += slope
    spread += 2.0**-100  # what the reduction may hide of a slope near zero: 2^-120 |x|
    spread *= rad
    size += 1.0
    return np.where(rad < np.inf, np.minimum(spread, size), np.inf)


_STEEPEST = (
    2.0**10
)  # tan is left to others closer to its poles, so that the error of the reduction never counts


def _tan(x: Array) -> tuple[Array, Array]:
    """sin / cos: 2.8 u + 3.6 u + 1 u = 7.4 u.

    |y| <= 2^10 means |cos| >= 2^-10.1, so that the reduction adds at most 2^-110 |x| (1 + |y|), which is
    below 2^-110 |x| + 2^-93 |y|.
    """
    s, c = _sin_and_cos(x)
    s /= c
    s[~(np.abs(s) <= _STEEPEST)] = np.nan
    return s, 1.0 + s * s


def _tan_spread(mid: Array, rad: Array, y: Array, slope: Array) -> Array:
    """tan(m + d) - tan(m) = (1 + tan^2 m) tan d / (1 - tan m tan d); tan d <= d (1 + 0.35 d^2) up to 1/4."""
    del mid
    step = rad * (1.0 + 0.35 * rad * rad)
    turn = np.abs(y) * step
    return np.where((rad <= 0.25) & (turn <= 0.25), slope * step / (1.0 - turn), np.inf)


def atan_of(x: Array) -> Array:
    """An offset of 0, pi/4 or pi/2 plus atan(t) with |t| <= 0.4143.

    t is |x|, (|x| - 1)/(|x| + 1) with 3 u, or -1/|x| with 1 u. The polynomial's second term, 0.053 |t| at
    most, has 5 u, the sum 1 u, the truncation 0.1 u: atan(t) has at most 4.4 u, and is at most the result in
    size. The offset is within 0.28 u of pi/4 (result above 0.392) or 0.56 u of pi/2 (above 1.17); with the
    last sum below 6.2 u.
    """
    a = np.abs(x)
    steep = a > 2.414
    middle = a > 0.4142
    middle &= ~steep
    t = np.where(middle, a - 1.0, a)
    d = np.where(middle, a + 1.0, 1.0)
    np.copyto(t, -1.0, where=steep)
    np.copyto(d, a, where=steep)
    t /= d
    z = t * t
    y = horner(ATAN_POLYNOMIAL, z)
    y *= z
    y *= t
    y += t
    y += np.where(middle, 0.25 * np.pi, np.where(steep, 0.5 * np.pi, 0.0))
    return np.copysign(y, x)


def _atan(x: Array) -> tuple[Array, Array]:
    a = np.abs(x)
    np.minimum(a, 1e150, out=a)  # the square must not overflow; a slope above the true one is allowed
    a *= a
    a += 1.0
    return atan_of(x), np.divide(1.0, a, out=a)


_WAVE = Bound(5.0 * UNIT, TINY, 2.0**-120)

SIN = Elementary(_sin, _WAVE, _wave_spread, -FARTHEST, FARTHEST)
COS = Elementary(_cos, _WAVE, _wave_spread, -FARTHEST, FARTHEST)
TAN = Elementary(_tan, Bound(9.0 * UNIT, TINY, 2.0**-109), _tan_spread, -FARTHEST, FARTHEST)
ATAN = Elementary(_atan, Bound(8.0 * UNIT, TINY), steady(1.0), ends=straight_ends)
