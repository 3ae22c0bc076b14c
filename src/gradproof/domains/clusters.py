"""Enclosures of a symmetric matrix's eigenvalues that hold also where some of them coincide."""

from __future__ import annotations

from typing import Any

import flint
import numpy as np
from flint import arb

from gradproof.domains.flint_matrix import UNKNOWN
from gradproof.ir.types import Array

MOST_SWEEPS = 30  # Jacobi's method converges quadratically; from a float64 start a handful suffices


def enclose_values(a: Array) -> list[Any]:
    """All eigenvalues, ascending, each in a ball.

    With q nearly orthogonal and b = q^T a q nearly diagonal: by Weyl the eigenvalues of b differ from its
    sorted diagonal by no more than the norm of what is off the diagonal, and by Ostrowski those of `a` differ
    from those of b by factors between 1 - e and 1 + e, e being the norm of q^T q - 1. Neither asks for gaps.
    """
    if not all(entry.is_finite() for entry in a.reshape(-1)):
        return [UNKNOWN] * a.shape[0]
    q = _nearly_diagonalising(_mid(a))
    b = np.dot(np.dot(q.T, a), q)
    diagonal = b.diagonal()
    off = _norm(np.where(np.eye(len(q), dtype=bool), arb(0), b))
    defect = _norm(np.dot(q.T, q) - np.eye(len(q), dtype=int))
    if not defect < 1:
        return [UNKNOWN] * a.shape[0]
    factor = 1 / (1 + arb(0, defect.abs_upper()))
    # The radius of a diagonal entry counts with the rest, so that midpoints alone decide the order.
    spread = off + max(entry.rad() for entry in diagonal)
    return [(mid + arb(0, spread.abs_upper())) * factor for mid in sorted(_mid(diagonal))]


def _nearly_diagonalising(a: Array) -> Array:
    """Exact numbers: float64's eigenvectors, improved by Jacobi's rotations. Alone they prove nothing."""
    start = np.array([[float(entry) for entry in row] for row in a])
    vectors = np.linalg.eigh(start)[1] if np.isfinite(start).all() else np.eye(len(a))
    q = _orthogonal(np.asarray(np.frompyfunc(arb, 1, 1)(vectors), dtype=object))
    b = _mid(np.dot(np.dot(q.T, a), q))
    scale = _norm(b) * arb(2) ** (4 - flint.ctx.prec)
    for _ in range(MOST_SWEEPS):
        pairs = [(i, j) for i in range(len(a)) for j in range(i) if abs(b[i, j]) > scale]
        if not pairs:
            break
        for i, j in pairs:
            c, s = _rotation(b[i, i], b[j, j], b[i, j])
            for matrix in (b, b.T, q):  # columns, rows, and the product of all rotations
                matrix[:, i], matrix[:, j] = (
                    _mid(c * matrix[:, i] - s * matrix[:, j]),
                    _mid(s * matrix[:, i] + c * matrix[:, j]),
                )
    return q


def _orthogonal(q: Array) -> Array:
    """The nearest orthogonal matrix by the iteration of Newton and Schulz; each step doubles the digits."""
    right_bits = (
        45  # what float64's eigenvectors have at least, short of matrices that break the proof anyway
    )
    while right_bits < flint.ctx.prec:
        q = _mid(np.dot(q, 3 * np.eye(len(q), dtype=int) - np.dot(q.T, q)) / 2)
        right_bits *= 2
    return q


def _rotation(first: Any, second: Any, off: Any) -> tuple[Any, Any]:
    """Cosine and sine of the smaller angle that makes `off` zero."""
    if off.contains(0):
        return arb(1), arb(0)
    cotangent = (second - first) / (2 * off)
    size = abs(cotangent) + (cotangent * cotangent + 1).sqrt()
    tangent = 1 / size if cotangent > 0 else -1 / size
    cosine = (tangent * tangent + 1).rsqrt()
    return cosine, tangent * cosine


def _norm(x: Array) -> Any:
    """An upper bound of the Frobenius norm, and so of the spectral one."""
    return sum((entry.abs_upper() ** 2 for entry in x.reshape(-1)), arb(0)).sqrt().abs_upper()


def _mid(x: Array) -> Array:
    return np.asarray(np.frompyfunc(lambda entry: entry.mid(), 1, 1)(x), dtype=object)
