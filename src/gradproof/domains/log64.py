"""log, log1p, softplus and log_sigmoid in float64, with proven error bounds.

Only operations that IEEE 754 rounds correctly are used. u is the unit 2^-53; the bounds in the comments are
sums to first order, and the constants leave at least a tenth of slack for the rest.
"""

from __future__ import annotations

import numpy as np

from gradproof.domains.enclosure64 import Elementary, bending, steady, straight_ends
from gradproof.domains.exp64 import LN2_HIGH, LN2_LOW, exp_of
from gradproof.domains.polynomial64 import MAGIC, horner
from gradproof.domains.rounding64 import TINY, UNIT, Bound
from gradproof.ir.types import Array

# (artanh(s)/s - 1) / z with z = s^2 <= 0.0295: the interpolant at Chebyshev's points, rounded; the tests
# prove that 1 + z R(z) is artanh(s)/s to within 0.1 u.
ARTANH_POLYNOMIAL = (
    0.3333333333333335,
    0.19999999999949306,
    0.1428571431319004,
    0.11111105534398308,
    0.09091446965173702,
    0.07665780997973033,
    0.0730921051891198,
)

_ROOT_HALF = np.float64(0.5**0.5).view(np.int64)  # the bits of sqrt(1/2), where significands are cut
_MAGIC_BITS = np.float64(MAGIC).view(np.int64)


def _split(x: Array) -> tuple[Array, Array]:
    """k and m with x = 2^k m and sqrt(1/2) <= m < sqrt(2), exactly, for normal x > 0."""
    bits = x.view(np.int64) - _ROOT_HALF
    bits >>= 52
    m = (x.view(np.int64) - (bits << 52)).view(np.float64)
    bits += _MAGIC_BITS
    k = bits.view(np.float64)
    k -= MAGIC
    return k, m


def _log_of_parts(k: Array, f: Array, rest: Array | float) -> Array:
    """k ln 2 + log(1 + f) + rest, for -0.293 <= f <= 0.4143, and rest below 2 u, zero if k = 0.

    log(1 + f) = 2 artanh(s), s = f / (2 + f): s has 2 u and counts 1.04 times; the term z R(z) <= 0.0101 adds
    0.05 u, the last sum 1 u: 3.3 u with the truncation. If k = 0 that is all.
    Otherwise |y| >= 0.346 >= |log(1 + f)|; k LN2_HIGH is exact, and the two sums add 1 u each: below 5.4 u.
    """
    s = f / (f + 2.0)
    z = s * s
    w = horner(ARTANH_POLYNOMIAL, z)
    w *= z
    s += s
    w *= s
    w += s
    w += k * LN2_LOW + rest
    w += k * LN2_HIGH
    return w


def _log(x: Array) -> tuple[Array, Array]:
    k, m = _split(x)
    m -= 1.0  # exact: 1/2 <= m <= 2
    return _log_of_parts(k, m, 0.0), 1.0 / x


def log1p_of(x: Array) -> tuple[Array, Array]:
    """log(1 + x), and 1 + x rounded, for x > -1.

    1 + x = w + e exactly. If k = 0 the reduced argument is x itself; otherwise log(1 + x) = log(w) + e/w to
    within u^2, and the error of e/w, below 2 u^2, does not count either.
    """
    w = x + 1.0
    ones = w - x
    e = x - (w - ones)
    e += 1.0 - ones
    k, f = _split(w)
    f -= 1.0
    e /= w
    near = k == 0.0
    np.copyto(f, x, where=near)
    np.copyto(e, 0.0, where=near)
    return _log_of_parts(k, f, e), w


def _log1p(x: Array) -> tuple[Array, Array]:
    y, w = log1p_of(x)
    return y, 1.0 / w


def _softplus(x: Array) -> tuple[Array, Array]:
    """max(x, 0) + log1p(exp(-|x|)): both count at most once, the sum 1 u: 3.2 u + 5.4 u + 1 u = 9.6 u."""
    t = exp_of(-np.abs(x))
    y, w = log1p_of(t)
    y += np.maximum(x, 0.0)
    np.copyto(t, 1.0, where=x >= 0.0)
    t /= w
    return y, t


def _log_sigmoid(x: Array) -> tuple[Array, Array]:
    y, slope = _softplus(-x)
    return np.negative(y, out=y), slope


_FLOOR = 2.0**-1020  # underflow, and exp below exp(-708), in any of these functions
_ABOVE_MINUS_ONE = float(np.nextafter(-1.0, 0.0))

LOG = Elementary(
    _log,
    Bound(6.0 * UNIT, _FLOOR),
    bending(lambda mid, rad: 1.0 / (mid - rad)),  # f'' / f' = -1/x
    low=TINY,  # subnormal numbers have no leading one to split at
    ends=straight_ends,
)
LOG1P = Elementary(
    _log1p,
    Bound(6.0 * UNIT, _FLOOR),
    bending(lambda mid, rad: 1.0 / ((1.0 + mid) - rad)),
    low=_ABOVE_MINUS_ONE,
    ends=straight_ends,
)
SOFTPLUS = Elementary(_softplus, Bound(11.0 * UNIT, _FLOOR), steady(1.0), ends=straight_ends)
LOG_SIGMOID = Elementary(_log_sigmoid, Bound(11.0 * UNIT, _FLOOR), steady(1.0), ends=straight_ends)
