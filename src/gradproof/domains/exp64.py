"""exp, expm1 and what follows from them (tanh, sigmoid, sinh, cosh) in float64, with proven error bounds.

Only operations that IEEE 754 rounds correctly are used. u is the unit 2^-53; the bounds in the comments are
sums to first order, and the constants leave at least a tenth of slack for the rest.
"""

from __future__ import annotations

import numpy as np

from gradproof.domains.enclosure64 import Elementary, folded_ends, steady, straight_ends
from gradproof.domains.polynomial64 import MAGIC, horner
from gradproof.domains.rounding64 import UNIT, Bound
from gradproof.ir.types import Array

HIGHEST = 709.0  # exp overflows at 709.78
LOWEST = -708.0  # exp(-708) is still a normal number; below, exp is taken as exp(-708) < 2^-1021

# ln 2 in two parts: the first has 42 bits, so that its product with an integer below 2^11 is exact.
LN2_HIGH = float.fromhex("0x1.62e42fefa3800p-1")
LN2_LOW = float.fromhex("0x1.ef35793c76730p-45")
_PER_LN2 = float.fromhex("0x1.71547652b82fep+0")

# (exp(r) - 1 - r) / r^2 on |r| <= 0.3466: the interpolant at Chebyshev's points, rounded. What is claimed of
# it, that r + r^2 q(r) is expm1(r) to within 0.4 u |r|, is proven in the tests for the numbers as they stand.
EXP_POLYNOMIAL = (
    0.5000000000000001,
    0.16666666666666669,
    0.041666666666624136,
    0.008333333333330063,
    0.001388888891720967,
    0.00019841269863050506,
    2.4801521302241082e-05,
    2.7557268464831627e-06,
    2.7620085455018414e-07,
    2.510038319586702e-08,
)


def _reduced(x: Array) -> tuple[Array, Array]:
    """p = expm1(r) and s = 2^k with x = k ln 2 + r, |r| <= 0.3466, for -708 <= x <= 709.

    k LN2_HIGH is exact, and so is x - k LN2_HIGH: a multiple of 2^-54 below 1/2. The second subtraction
    leaves an error of u |r| + 2^-85 in r, and none if k = 0. r^2 q(r): q has 1.6 u, r^2 and the product 1 u
    each, together below 0.72 u |r|. The last sum has 1 u, and |p| >= 0.84 |r|: p is the polynomial to 1.9 u,
    and expm1(r) to 2.4 u.
    """
    n = x * _PER_LN2
    n += MAGIC
    k = n - MAGIC
    r = x - k * LN2_HIGH
    k *= LN2_LOW
    r -= k
    p = horner(EXP_POLYNOMIAL, r)
    p *= r
    p *= r
    p += r
    bits = n.view(np.int64)
    bits += 1023
    bits <<= 52
    return p, n


def exp_of(x: Array) -> Array:
    """exp for x <= 709: (2.4 u * 0.42 + 0.35 u * 1.42) / 0.707 + 1 u < 3.2 u for 1 + p; scaling is exact."""
    p, scale = _reduced(np.maximum(x, LOWEST))
    p += 1.0
    p *= scale
    return p


def _exp(x: Array) -> tuple[Array, Array]:
    y = exp_of(x)
    return y, y


def _expm1(x: Array) -> tuple[Array, Array]:
    """s p + (s - 1), which is p if k = 0.

    Otherwise |s p| and |s - 1| are at most 1.42 |y|, and exp(x) is at most 3.42 |y|:
    2.4 u * 1.42 (p) + 0.35 u * 3.42 (r) + 1.42 u (s - 1, inexact if |k| > 53) + 1 u (the sum) < 7.1 u.
    """
    p, scale = _reduced(np.maximum(x, LOWEST))
    p *= scale
    slope = p + scale
    scale -= 1.0
    p += scale
    return p, slope


def _tanh(x: Array) -> tuple[Array, Array]:
    """t / (t + 2) with t = expm1(2|x|): t counts at most once, the sum and the quotient 1 u each: 9.2 u.

    From 22 on tanh is 1 to within 0.002 u.
    """
    t = np.minimum(np.abs(x), 22.0)
    t += t
    t = _expm1(t)[0]
    d = t + 2.0
    t /= d
    slope = t + 1.0  # 1 - y^2 = (1 + y) (1 - y), and 1 - y = 2 / (t + 2) without cancellation
    slope /= d
    slope += slope
    return np.copysign(t, x), slope


def _sigmoid(x: Array) -> tuple[Array, Array]:
    """1 / (1 + exp(-x)): exp counts at most once, the sum and the quotient 1 u each: below 5.2 u."""
    e = exp_of(np.minimum(-x, -LOWEST))
    y = e + 1.0
    np.divide(1.0, y, out=y)
    e *= y  # first, as y^2 alone may underflow
    e *= y
    return y, e


def _sinh(x: Array) -> tuple[Array, Array]:
    """(t + t / (t + 1)) / 2 with t = expm1(|x|): t counts once, the quotient 2 u, the sum 1 u: 10.1 u."""
    t, e = _expm1(np.abs(x))
    slope = 1.0 / e
    slope += e
    slope *= 0.5
    t += t / (t + 1.0)
    t *= 0.5
    return np.copysign(t, x), slope


def _cosh(x: Array) -> tuple[Array, Array]:
    """(e + 1/e) / 2 with e = exp(|x|): e counts at most once, the quotient 1 u, the sum 1 u: 5.2 u."""
    a = np.abs(x)
    y = exp_of(a)
    y += 1.0 / y
    y *= 0.5
    # sinh|x| is the root of y^2 - 1, but near 0 that cancels; |x| cosh x is never less than sinh|x|.
    slope = np.sqrt(np.maximum(y - 1.0, 0.0) + 8.0 * UNIT * y) * np.sqrt(y + 1.0)
    a *= y
    return y, np.minimum(slope, a)


def _cosh_spread(mid: Array, rad: Array, y: Array, slope: Array) -> Array:
    """|cosh(m + d) - cosh(m)| <= |sinh m| sinh d + cosh m (cosh d - 1).

    Up to d = 1/4, sinh d <= d (1 + 0.17 d^2) and cosh d - 1 <= d^2 / 2 (1 + 0.09 d^2).
    """
    del mid
    square = rad * rad
    spread = slope * rad * (1.0 + 0.17 * square) + y * (0.5 * square) * (1.0 + 0.09 * square)
    return np.where(rad <= 0.25, spread, np.inf)


_FLOOR = 2.0**-1020  # underflow, and everything below exp(-708), in any of these functions

EXP = Elementary(_exp, Bound(4.0 * UNIT, _FLOOR), steady(1.0), high=HIGHEST, ends=straight_ends)
EXPM1 = Elementary(_expm1, Bound(8.0 * UNIT, _FLOOR), steady(1.0), high=HIGHEST, ends=straight_ends)
TANH = Elementary(_tanh, Bound(12.0 * UNIT, _FLOOR), steady(2.0), ends=straight_ends)
SIGMOID = Elementary(_sigmoid, Bound(6.0 * UNIT, _FLOOR), steady(1.0), ends=straight_ends)
SINH = Elementary(_sinh, Bound(12.0 * UNIT, _FLOOR), steady(1.0), -HIGHEST, HIGHEST, straight_ends)
COSH = Elementary(_cosh, Bound(6.0 * UNIT, _FLOOR), _cosh_spread, -HIGHEST, HIGHEST, folded_ends)
