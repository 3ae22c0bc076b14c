"""Symmetric eigenvalues and singular values, with their vectors; real matrices only.

A vector is known up to its sign. Which one a library picks is a discrete fact of the run, so it is an input:
`anchors` of shape (..., 2, k) names one component of every vector and the sign it has. Vectors of complex
matrices are known up to a phase, which no discrete fact settles; they are not supported.

The derivatives of vectors divide by differences of values. Functions that are smooth where values coincide,
such as the square root of a matrix by its eigenvectors, still have a derivative there; `engine/limits.py`
finds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ops._op import Sample, op
from gradproof.ops.factorise import fold_lower
from gradproof.ops.linalg import adjoint


def anchors_of(vectors: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The largest component of every column, and its sign: what best tells a vector from its negative."""
    rows = np.argmax(np.abs(vectors), axis=-2)
    components = np.take_along_axis(vectors, rows[..., None, :], axis=-2)[..., 0, :]
    return np.stack([rows, np.where(components < 0, -1, 1)], axis=-2).astype(np.int64)


def off_diagonal_quotient(m: Any, x: Any, values: Any) -> Any:
    """x_ij / (values_j - values_i) off the diagonal, zero on it; where x is zero, so is the quotient."""
    n = values.shape[-1]
    row = m.reshape(values, shape=(*values.shape[:-1], 1, n))
    column = m.reshape(values, shape=(*values.shape, 1))
    diagonal = np.eye(n, dtype=bool)
    gaps = m.select(diagonal, m.literal(np.ones(())), m.sub(row, column))
    return m.mul(m.select(diagonal, m.zeros(()), x), m.reciprocal(gaps))


def _eigh_pullback(m: Any, i: int, gy: Any, y: Any, a: Any, anchors: Any) -> Any:
    (values, vectors), (g_values, g_vectors) = y, gy
    n = values.shape[-1]
    inner = off_diagonal_quotient(m, m.matmul(adjoint(m, vectors), g_vectors), values)
    inner = m.add(inner, m.diag(g_values, rows=n, columns=n))
    return fold_lower(m, m.matmul(m.matmul(vectors, inner), adjoint(m, vectors)))


def _svd_pullback(m: Any, i: int, gy: Any, y: Any, a: Any, anchors: Any) -> Any:
    (s, u, v), (gs, gu, gv) = y, gy
    rows, columns = a.shape[-2:]
    rank = s.shape[-1]
    squares = m.mul(s, s)
    s_row = m.reshape(s, shape=(*s.shape[:-1], 1, rank))
    s_column = m.reshape(s, shape=(*s.shape, 1))
    left = off_diagonal_quotient(m, _skew(m, m.matmul(adjoint(m, u), gu)), squares)
    right = off_diagonal_quotient(m, _skew(m, m.matmul(adjoint(m, v), gv)), squares)
    inner = m.add(m.add(m.mul(left, s_row), m.mul(s_column, right)), m.diag(gs, rows=rank, columns=rank))
    ga = m.matmul(m.matmul(u, inner), adjoint(m, v))
    # What leaves the space that the vectors span moves them too, where there is anything outside of it.
    if rows > rank:
        outside = m.mul(_without(m, gu, u), m.reciprocal(s_row))
        ga = m.add(ga, m.matmul(outside, adjoint(m, v)))
    if columns > rank:
        outside = m.mul(_without(m, gv, v), m.reciprocal(s_row))
        ga = m.add(ga, m.matmul(u, adjoint(m, outside)))
    return ga


def _skew(m: Any, x: Any) -> Any:
    return m.sub(x, adjoint(m, x))


def _without(m: Any, x: Any, basis: Any) -> Any:
    return m.sub(x, m.matmul(basis, m.matmul(adjoint(m, basis), x)))


_SYMMETRIC = ((4.0, 1.0, -0.5), (1.0, 3.0, 0.25), (-0.5, 0.25, -2.0))
_STACK = (((2.0, 7.0), (0.5, 3.0)), ((1.0, -0.25), (0.25, -1.5)))
_STACK_ANCHORS = (((0, 1), (1, 1)), ((1, 0), (-1, 1)))
_TALL = ((1.0, -1.0), (0.25, 2.0), (3.0, 0.5))
_WIDE = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))
_SQUARE = ((4.0, 1.0, -0.5), (0.5, 3.0, 1.0), (-1.0, 0.25, 2.0))

# (values, vectors), values ascending; only the lower triangle is read.
op(
    "eigh",
    pullback=_eigh_pullback,
    n_outputs=2,
    samples=(
        Sample((_SYMMETRIC, ((2, 1, 0), (1, -1, 1)))),
        Sample((_STACK, _STACK_ANCHORS)),
        Sample((((2.0, 0.0), (0.0, 1.0)), ((1, 0), (1, 1)))),
    ),
)
# (values, left vectors, right vectors), values descending, as many as the shorter side has; the anchors are
# those of the right vectors.
op(
    "svd",
    pullback=_svd_pullback,
    n_outputs=3,
    samples=(
        Sample((_SQUARE, ((0, 1, 2), (1, -1, 1)))),
        Sample((_TALL, ((0, 1), (1, 1)))),
        Sample((_WIDE, ((2, 1), (-1, 1)))),
        Sample((_STACK, _STACK_ANCHORS)),
    ),
)
