"""Matrix products of float64 balls: one BLAS product for the midpoint, norms for the radius."""

from __future__ import annotations

import numpy as np

from gradproof.domains.ball64 import Ball64, all_finite, known
from gradproof.domains.rounding64 import TINY, UNIT, up
from gradproof.ir.types import Array


def matmul(a: Ball64, b: Ball64) -> Ball64:
    """`a @ b` with a radius that covers the roundings of BLAS in any order of summation.

    The radius is bounded by Cauchy and Schwarz, |a| |b| <= ||row|| ||column||, so that it costs no further
    products; for dense data this is within a factor of two of the entrywise bound.
    """
    if not (_all_finite(a) and _all_finite(b)):
        return _matmul_with_unknowns(a, b)
    n = a.mid.shape[-1]
    mid = np.matmul(a.mid, b.mid)
    rows, columns = _norm(a.mid, -1), _norm(b.mid, -2)
    # Three terms, |a||b| for the roundings of the product and |ra||b + rb|, |a||rb| for the radii, as one thin product.
    left, right = [rows * ((n + 2) * UNIT * 1.01)], [columns]
    if a.rad is not None:
        left.append(_norm(a.rad, -1))
        right.append(columns if b.rad is None else up(columns + _norm(b.rad, -2)))
    if b.rad is not None:
        left.append(rows)
        right.append(_norm(b.rad, -2))
    rad = np.matmul(np.concatenate(left, axis=-1), np.concatenate(right, axis=-2))
    rad *= 1.0 + 32.0 * UNIT
    if _cannot_leave_the_range(left, right):
        return Ball64(mid, rad)
    # Where a row or a column is exactly zero the product is, too; elsewhere a term may have underflowed, and
    # so may the radius itself, so that it cannot tell.
    longest_row, longest_column = sum(left[1:], rows), sum(right[1:], columns)
    return known(mid, np.where((longest_row > 0.0) & (longest_column > 0.0), up(rad + n * TINY), 0.0))


SAFE_LEAST, SAFE_MOST = (
    1e-140,
    1e140,
)  # products of two such norms neither underflow nor overflow, with their error


def _cannot_leave_the_range(left: list[Array], right: list[Array]) -> bool:
    """Whether every norm is zero or of a moderate size, so that nothing on the way can underflow or overflow."""
    norms = (*left[1:], left[0] / UNIT, *right)
    return all(_between(SAFE_LEAST, norm, SAFE_MOST) or _is_safe(norm) for norm in norms)


def _is_safe(norm: Array) -> bool:
    return bool(((norm == 0.0) | ((norm > SAFE_LEAST) & (norm < SAFE_MOST))).all())


def _between(least: float, x: Array, most: float) -> bool:
    return bool(x.min(initial=most) > least and x.max(initial=least) < most)


def _norm(x: Array, axis: int) -> Array:
    """An upper bound of the Euclidean norms along an axis, that axis kept with length one."""
    squares = np.einsum("...ij,...ij->...i" if axis == -1 else "...ij,...ij->...j", x, x)
    if not _between(1e-280, squares, 1e280):
        return _scaled_norm(x, axis)
    # In this range nothing underflows: eight more roundings than the sum has are made up for.
    norm = np.sqrt(squares)
    norm *= 1.0 + (x.shape[axis] + 16) * UNIT
    return np.asarray(norm[..., None] if axis == -1 else norm[..., None, :])


def _scaled_norm(x: Array, axis: int) -> Array:
    """The same where squares of tiny or huge entries would vanish or overflow."""
    scale = np.max(np.abs(x), axis=axis, keepdims=True, initial=0.0)
    unit = np.where(scale > 0.0, scale, 1.0)
    squares = np.sum(np.square(x / unit), axis=axis, keepdims=True)
    return np.asarray(up(unit * np.sqrt(squares) * (1.0 + (x.shape[axis] + 8) * UNIT)))


def _all_finite(x: Ball64) -> bool:
    return x.rad is None or all_finite(x.rad)


def _matmul_with_unknowns(a: Ball64, b: Ball64) -> Ball64:
    """An unknown entry spoils exactly those sums in which it meets something that is not zero."""
    unknown_a, unknown_b = ~np.isfinite(a.radius()), ~np.isfinite(b.radius())
    known_a = Ball64(np.where(unknown_a, 0.0, a.mid), np.where(unknown_a, 0.0, a.radius()))
    known_b = Ball64(np.where(unknown_b, 0.0, b.mid), np.where(unknown_b, 0.0, b.radius()))
    y = matmul(known_a, known_b)
    meets_a = np.matmul(
        unknown_a.astype(np.float64), (unknown_b | (known_b.magnitude() > 0.0)).astype(np.float64)
    )
    meets_b = np.matmul(
        (unknown_a | (known_a.magnitude() > 0.0)).astype(np.float64), unknown_b.astype(np.float64)
    )
    spoilt = (meets_a + meets_b) > 0.0
    return Ball64(np.where(spoilt, 0.0, y.mid), np.where(spoilt, np.inf, y.radius()))
