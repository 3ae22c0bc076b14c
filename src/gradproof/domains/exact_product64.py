"""Products of float64 matrices as an exact part and a small rest.

A residual is the small difference of large numbers: the rounding of an ordinary product would drown it. Here both
factors lose their lower bits first, so that the product of what is left is exact in float64, and only the small
products with the lower bits are rounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.domains.ball64 import Ball64, BallDomain64, add, all_finite, as_ball, known
from gradproof.domains.halving import rows_along, sum_by_halves
from gradproof.domains.product64 import matmul
from gradproof.domains.rounding64 import TINY, UNIT, up
from gradproof.ir.types import Array

_MANTISSA = 53
FEW = 16  # terms that may be added one after the other
_LEAST, _MOST = 1e-140, 1e140  # largest entries within: products of two slices stay in the range of float64


Product = Callable[[Ball64, Ball64], Ball64]


def sharp_product(a: Ball64, b: Ball64, product: Product) -> tuple[Array, Ball64]:
    """`a @ b` as the sum of an array that is exact and a ball, by `product`, that is small beside |a| |b|."""
    bits = (_MANTISSA - _bits_of_count(a.shape[-1])) // 2
    left, right = _upper_bits(a.mid, -1, bits), _upper_bits(b.mid, -2, bits)
    rest = add(product(Ball64(left), Ball64(b.mid - right, b.rad)), product(Ball64(a.mid - left, a.rad), b))
    return np.matmul(left, right), rest


class SharpBallDomain64(BallDomain64):
    """Float64 balls with products of matrices that are rounded once, and whose radii follow entry by entry, at five
    times the cost, and with short sums."""

    name = "float64 balls with exact products"

    def matmul(self, a: Any, b: Any) -> Ball64:
        a, b = as_ball(a), as_ball(b)
        if not (is_known(a) and is_known(b)):
            return super().matmul(a, b)
        return self._product(a, b)

    def _product(self, a: Ball64, b: Ball64) -> Ball64:
        main, rest = sharp_product(Ball64(a.mid), Ball64(b.mid), matmul)
        return _spread(add(Ball64(main), rest), a, b)

    def sum(self, x: Ball64, axes: tuple[int, ...]) -> Ball64:
        """By halves: as many roundings lie between a term and the sum as there are rounds."""
        n = math.prod(x.shape[axis] for axis in axes)
        if n < FEW or not is_known(x):
            return super().sum(x, axes)
        rad = np.sum(np.abs(x.mid), axis=axes) * (_bits_of_count(n) * UNIT * 1.01)
        if x.rad is not None:
            rad = rad + np.sum(x.rad, axis=axes)
        return known(sum_by_halves(rows_along(x.mid, axes), np.add), up(rad, n + 8))


class NormedBallDomain64(SharpBallDomain64):
    """The same with radii by norms: they grow from op to op as they do in more digits, which shows how deep a program
    is."""

    def _product(self, a: Ball64, b: Ball64) -> Ball64:
        main, rest = sharp_product(a, b, matmul)
        return add(Ball64(main), rest)


def is_known(x: Ball64) -> bool:
    """Whether every entry has a bound."""
    return all_finite(x.mid) and (x.rad is None or all_finite(x.rad))


def entrywise_product(a: Ball64, b: Ball64) -> Ball64:
    """`a @ b` whose radius follows from the radii entry by entry: dearer than by norms, and sharper."""
    return _spread(matmul(Ball64(a.mid), Ball64(b.mid)), a, b)


def _spread(y: Ball64, a: Ball64, b: Ball64) -> Ball64:
    """The product of the midpoints, widened by what the radii of the factors do to it."""
    n = a.shape[-1]
    spread = y.radius()
    if a.rad is not None:
        spread = spread + np.matmul(a.rad, b.magnitude())
    if b.rad is not None:
        spread = spread + np.matmul(np.abs(a.mid), b.rad)
    # A product of radii may have underflowed, unless all of them are zero.
    return known(y.mid, np.where(spread > 0.0, up(spread + n * TINY, n + 16), _covered(a, b, n)))


def _covered(a: Ball64, b: Ball64, n: int) -> float:
    return 0.0 if a.rad is None and b.rad is None else n * TINY


def _upper_bits(x: Array, axis: int, bits: int) -> Array:
    """The entries rounded to multiples of 2^-bits of the largest along the axis.

    Products of two such entries are multiples of 2^(-2 bits) and at most 1, in units of the largest ones; n of them
    can be added in any order without rounding while 2 bits + log2(n) <= 53. Where the largest is tiny or huge, so that
    this could leave the range of float64, the upper bits are zero and all is in the rest.
    """
    largest = np.max(np.abs(x), axis=axis, keepdims=True, initial=0.0)
    moderate = (largest > _LEAST) & (largest < _MOST)
    # To add and take away a power of two 53 - bits places above the largest entry rounds to that multiple.
    shift = np.ldexp(1.0, np.frexp(np.where(moderate, largest, 1.0))[1] + (_MANTISSA - bits))
    return np.where(moderate, (x + shift) - shift, 0.0)


def _bits_of_count(n: int) -> int:
    return int(max(n, 1) - 1).bit_length()
