"""erf and erfc in float64, with proven error bounds.

Only operations that IEEE 754 rounds correctly are used. u is the unit 2^-53; the bounds in the comments are
sums to first order, and the constants leave at least a tenth of slack for the rest.
"""

from __future__ import annotations

import numpy as np

from gradproof.domains.enclosure64 import Elementary, bending, straight_ends
from gradproof.domains.exp64 import exp_of
from gradproof.domains.polynomial64 import horner
from gradproof.domains.rounding64 import UNIT, Bound
from gradproof.ir.types import Array

_PEAK = 2.0 / np.pi**0.5  # the slope of erf at 0
_UPPER_BITS = np.int64(-(1 << 27))  # keeps 26 bits of a significand, so that the square is exact
_FARTHEST = 26.7  # erfc is below 2^-1022 from 26.6 on

# erf(x)/x on z = x^2 <= 1/4: the interpolant at Chebyshev's points, rounded, within 0.3 u.
ERF_POLYNOMIAL = (
    1.1283791670955126,
    -0.37612638903183476,
    0.11283791670925353,
    -0.026866170632887928,
    0.00522397737302147,
    -0.0008548297753674966,
    0.00012053335124353741,
    -1.4845849259707869e-05,
    1.4725865480556744e-06,
)

# g(t) = (1 + 2x) exp(x^2) erfc(x) with t = (x - 3)/(x + 3), for 0 <= x <= 26.7: likewise, within 0.7 u.
TAIL_POLYNOMIAL = (
    1.2530080582697296,
    -0.13562110612458067,
    -0.04756229435344729,
    0.129645158702703,
    -0.11927366341548272,
    0.0683080273458934,
    -0.023770514915117863,
    0.0025293917867935138,
    0.001888690320590943,
    -0.0007798320242911579,
    -0.00010515953755295767,
    0.00012509807542694448,
    4.948301808096589e-06,
    -2.0096364229006126e-05,
    -7.278813934053984e-07,
    3.463411772529843e-06,
    3.4928363002920543e-07,
    -6.042200982798982e-07,
    -1.3118442194435426e-07,
    9.127725697745239e-08,
    3.279811428394019e-08,
    -8.31411475646341e-09,
    -4.133924340999741e-09,
)


def _gauss(a: Array) -> Array:
    """exp(-a^2) for 0 <= a <= 26.7, within 5.3 u.

    a = h + l with h^2 exact; a^2 = h^2 + l (a + h), and the second term, d < 5e-5, goes into a short series
    whose rest is below 0.01 u. exp has 3.2 u, the series and the product 1 u each.
    """
    h = (a.view(np.int64) & _UPPER_BITS).view(np.float64)
    d = (a - h) * (a + h)
    h *= h
    np.negative(h, out=h)
    series = d * (-1.0 / 6.0)
    series += 0.5
    series *= d
    series -= 1.0
    series *= d
    series += 1.0
    series *= exp_of(h)
    return series


def _tail(a: Array) -> tuple[Array, Array]:
    """erfc(a) and exp(-a^2) for 0 <= a <= 26.7.

    t has 3 u |t|, and |t g'(t)| <= 1.4 g(t): 4.2 u. Horner's rule has 5.1 u, as g >= 1; the truncation is
    0.7 u, dividing by 1 + 2a costs 2 u, the product 1 u: with exp(-a^2) below 18.3 u.
    """
    gauss = _gauss(a)
    t = a - 3.0
    t /= a + 3.0
    tail = horner(TAIL_POLYNOMIAL, t)
    tail /= 1.0 + 2.0 * a
    tail *= gauss
    return tail, gauss


def _erf(x: Array) -> tuple[Array, Array]:
    """x Q(x^2) up to 1/2, and 1 - erfc beyond.

    The first has 1.6 u from Horner's rule, 0.3 u left out, 0.2 u from x^2, 1 u from the product; the second
    has 18.3 u * 0.93 + 1 u < 18.1 u.
    """
    a = np.minimum(np.abs(x), _FARTHEST)
    tail, slope = _tail(a)
    np.subtract(1.0, tail, out=tail)
    near = horner(ERF_POLYNOMIAL, a * a)
    near *= a
    np.copyto(tail, near, where=a <= 0.5)
    slope *= _PEAK
    return np.copysign(tail, x), slope


def _erfc(x: Array) -> tuple[Array, Array]:
    """The tail itself, or 2 minus it, which is at least 1 and so at least as large: 18.3 u + 1 u."""
    y, slope = _tail(np.minimum(np.abs(x), _FARTHEST))
    np.copyto(y, 2.0 - y, where=x < 0.0)
    slope *= _PEAK
    return y, slope


def _bend(mid: Array, rad: Array) -> Array:
    """The largest |f''/f'| = 2|x| over the ball."""
    return np.asarray(2.0 * (np.abs(mid) + rad))


_FLOOR = 2.0**-1020  # underflow, and everything beyond 26.6

ERF = Elementary(_erf, Bound(20.0 * UNIT, _FLOOR), bending(_bend), ends=straight_ends)
ERFC = Elementary(_erfc, Bound(22.0 * UNIT, _FLOOR), bending(_bend), ends=straight_ends)
