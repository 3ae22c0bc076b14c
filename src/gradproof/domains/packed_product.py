"""Matrix products of balls of 128 bits by float64 products of slices that BLAS computes without any rounding.

Rows of the left matrix and columns of the right one are scaled below 1 and cut into slices of so few bits that sums of
products of slices are integers below 2^53, exact in any order. What is cut off, and the radii, by Cauchy and Schwarz,
become the radius. Several times faster than exact products of integers, at the price of a radius that is relative to
the largest entries of a row and a column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.domains.flint_library import WORDS, Library, in_parts
from gradproof.domains.rounding64 import UNIT
from gradproof.ir.types import Array

SLICES = 6
MOST_BITS = 21  # of a slice: six of them are the 126 highest bits of a mantissa of 128
FEWEST_BITS = 15  # with fewer, from eight thousand columns on, the library's own product is the better one
SMALLEST = 1 << 18  # products of numbers from which slicing pays
FAR = 1 << 40  # exponents beyond this are left to the library
_RADIUS_BITS = 30
_NEAR_ZERO = -500  # a radius below 2^-500 of its row is taken as 2^-500, whose square is still a number


@dataclass(frozen=True)
class Sliced:
    """One operand: entries are 2^scale times the sum of slices[t] 2^(-bits t), t from 1."""

    slices: (
        Array  # of the left operand (rows, slices, k); of the right one (slices, k, columns), the last first
    )
    used: int  # slices up to this one are not all zero
    scale: Array
    is_exact: bool
    norm: Array  # upper bounds of the norms of rows or columns, scaled: of the midpoints, and of the radii
    radius_norm: Array
    is_zero: Array  # rows or columns that are exactly zero


def sliced_product(library: Library, a: Array, b: Array) -> Array | None:
    """Words of a @ b for words of shapes (m, k, 6) and (k, n, 6); None where that is better left to the library."""
    m, k, n = len(a), len(b), b.shape[1]
    bits = min(MOST_BITS, (53 - math.ceil(math.log2(SLICES * k))) // 2)
    if m * k * n < SMALLEST or bits < FEWEST_BITS:
        return None
    left, right = _sliced(a, 1, bits), _sliced(b, 0, bits)
    if left is None or right is None:
        return None
    top, middle, low, rest = _digits(left, right, bits)
    cut = k * ((not left.is_exact) + (not right.is_exact)) + bool(rest.any())
    # Pairs of slices that were not multiplied: at most five on a level, and every level far below the one before.
    cut += SLICES * k if left.used + right.used > SLICES + 1 else 0
    radius = _radius(left, right, cut * 2.0 ** (-SLICES * bits))
    scale = (left.scale + right.scale).reshape(-1)
    parts = [_balls(x, scale - place * bits) for x, place in ((top, 2), (middle, 4), (low, 6))]
    _add_radius(parts[2], radius, scale)
    y = _total(library, parts)
    if y is None:
        return None
    y[(left.is_zero | right.is_zero).reshape(-1)] = 0
    return y.reshape(m, n, WORDS)


def _sliced(words: Array, axis: int, bits: int) -> Sliced | None:
    """The operand whose sums run along `axis`."""
    exponent, size, first, second, radius_exponent, radius = (words[..., word] for word in range(WORDS))
    limbs = size >> 1
    has_mid, has_radius = limbs > 0, radius > 0
    odd = (limbs > 2) | (~has_mid & (exponent != 0)) | (~has_radius & (radius_exponent != 0))
    if odd.any() or max(np.abs(exponent).max(), np.abs(radius_exponent).max()) > FAR:
        return None
    largest = np.maximum(np.where(has_mid, exponent, -FAR), np.where(has_radius, radius_exponent, -FAR))
    scale = largest.max(axis=axis, keepdims=True)
    scale = np.where(scale == -FAR, 0, scale)
    shift = np.where(has_mid, scale - exponent, 0)
    high, low = _shifted(np.where(limbs == 2, second, first), np.where(limbs == 2, first, 0), shift, has_mid)
    sign = np.where(size & 1, -1.0, 1.0)
    rows, columns = limbs.shape
    slices = np.empty((rows, SLICES, columns) if axis == 1 else (SLICES, rows, columns))
    used = 0
    for t in range(SLICES):
        place = slices[:, t] if axis == 1 else slices[SLICES - 1 - t]
        np.multiply(_bits(high, low, t * bits, bits), sign, out=place)
        used = t + 1 if place.any() else used
    relative = np.ldexp(
        radius.astype(np.float64), np.maximum(radius_exponent - scale, _NEAR_ZERO) - _RADIUS_BITS
    )
    return Sliced(
        slices,
        used,
        scale,
        bool(((limbs <= 1) & (shift <= SLICES * bits - 64)).all()),
        _norm((high >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-53, axis),
        _norm(relative, axis),
        np.logical_not((has_mid | has_radius).any(axis=axis, keepdims=True)),
    )


def _shifted(high: Array, low: Array, shift: Array, nonzero: Array) -> tuple[Array, Array]:
    """Mantissas of two limbs moved down by `shift` bits; what falls off at the end is lost."""
    high, low = (np.where(nonzero, limb, 0).view(np.uint64) for limb in (high, low))
    moved = np.minimum(shift, 127).astype(np.uint64)
    part = moved & np.uint64(63)
    above = high >> part
    below = (low >> part) | ((high << (np.uint64(63) - part)) << np.uint64(1))
    is_short = moved < 64
    return np.where(is_short, above, np.uint64(0)), np.where(is_short, below, above)


def _bits(high: Array, low: Array, start: int, count: int) -> Array:
    """`count` bits from `start` on, counted from the highest of 128."""
    end, mask = start + count, np.uint64((1 << count) - 1)
    if end <= 64:
        return np.asarray((high >> np.uint64(64 - end)) & mask)
    if start >= 64:
        return np.asarray((low >> np.uint64(128 - end)) & mask)
    return np.asarray(((high << np.uint64(end - 64)) | (low >> np.uint64(128 - end))) & mask)


def _norm(x: Array, axis: int) -> Array:
    """Upper bounds of Euclidean norms; every entry is zero or at least 2^-502, so that no square underflows."""
    squares = np.einsum("ij,ij->i" if axis == 1 else "ij,ij->j", x, x)
    return np.asarray(np.expand_dims(np.sqrt(squares) * (1.0 + (x.shape[axis] + 16) * UNIT), axis))


def _digits(left: Sliced, right: Sliced, bits: int) -> tuple[Array, Array, Array, Array]:
    """The product as digits: t 2^-2b + m 2^-4b + l 2^-6b + r 2^-7b with m, l and r not negative; b is `bits`."""
    carry: Any = 0
    digits: dict[int, Array] = {}
    for level in range(SLICES + 1, 2, -1):
        total = _level(left, right, level) + carry
        digits[level], carry = total & ((1 << bits) - 1), total >> bits
    pairs = [(digits[level] << bits) + digits[level + 1] for level in (3, 5)]
    return _level(left, right, 2) + carry, pairs[0], pairs[1], digits[SLICES + 1]


def _level(left: Sliced, right: Sliced, level: int) -> Array:
    """The sum of the products of all slices t of the left and u of the right with t + u = level, exactly."""
    m, _, k = left.slices.shape
    n = right.slices.shape[2]
    first, last = max(1, level - right.used), min(left.used, level - 1)
    if first > last:
        return np.zeros((m, n), np.int64)
    columns = left.slices.reshape(m, -1)[:, (first - 1) * k : last * k]
    rows = right.slices[SLICES - level + first : SLICES - level + last + 1].reshape(-1, n)
    return np.asarray(np.matmul(columns, rows), np.int64)


def _radius(left: Sliced, right: Sliced, cut: float) -> Array:
    """|a||rb| + |ra|(|b| + |rb|) by norms, and what was cut off; relative to the scales, rounded up."""
    rows = np.concatenate([left.norm, left.radius_norm], axis=1)
    columns = np.concatenate([right.radius_norm, right.norm + right.radius_norm], axis=0)
    return np.asarray((np.matmul(rows, columns) + cut) * (1.0 + 32.0 * UNIT)).reshape(-1)


def _balls(integers: Array, place: Array) -> Array:
    """Words of integers below 2^53 times 2^place, exactly."""
    flat = integers.reshape(-1).astype(np.float64)
    words = np.zeros((flat.size, WORDS), np.int64)
    mantissa, exponent = np.frexp(np.abs(flat))
    words[:, 0] = np.where(flat == 0.0, 0, exponent + place)
    words[:, 1] = np.where(flat == 0.0, 0, 2 + (flat < 0.0))
    words[:, 2] = (mantissa * 2.0**53).astype(np.int64) << 11
    return words


def _add_radius(words: Array, radius: Array, place: Array) -> None:
    """Radii of 30 bits, rounded up."""
    mantissa, exponent = np.frexp(radius)
    whole = np.ceil(mantissa * 2.0**_RADIUS_BITS).astype(np.int64)
    over = whole == 1 << _RADIUS_BITS
    words[:, 5] = np.where(over, whole >> 1, whole)
    words[:, 4] = np.where(radius > 0.0, exponent + over + place, 0)


def _total(library: Library, parts: list[Array]) -> Array | None:
    first, y = np.zeros_like(parts[0]), np.zeros_like(parts[0])

    def add(part: slice) -> bool:
        one = library.binary("add", first[part], parts[0][part], parts[1][part])
        return one and library.binary("add", y[part], first[part], parts[2][part])

    return y if in_parts(library, add, len(y)) else None
