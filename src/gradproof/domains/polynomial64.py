"""Polynomials in float64 by Horner's rule, and the magic number that rounds to integers."""

from __future__ import annotations

from gradproof.ir.types import Array

# Added to |t| < 2^31 this leaves the integer nearest to t in the low bits of the significand, correctly
# rounded by the addition itself; subtracting it again gives that integer as a float, exactly.
MAGIC = 1.5 * 2.0**52


def horner(coefficients: tuple[float, ...], x: Array) -> Array:
    """The polynomial with these coefficients, lowest degree first.

    The rounding error is at most the sum of (2j + 1) UNIT |c_j x^j|, to first order.
    """
    y = x * coefficients[-1]
    y += coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        y *= x
        y += coefficient
    return y
