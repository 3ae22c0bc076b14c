"""mpmath values of matrix functions, by its own matrices or from the definitions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np


def _stacked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Apply a function of mpmath matrices to every matrix of a stack; integer arrays come as they are."""

    def reference(*xs: Any, **params: Any) -> Any:
        lead = np.broadcast_shapes(*(x.shape[:-2] for x in xs))
        spread = [np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in xs]
        results = [function(*(_matrix(x[place]) for x in spread), **params) for place in np.ndindex(*lead)]
        parts = [result if isinstance(result, tuple) else (result,) for result in results]
        arrays = tuple(
            np.concatenate([_array(part).reshape(-1) for part in column]) for column in zip(*parts)
        )
        return arrays if isinstance(results[0], tuple) else arrays[0]

    return reference


def _matrix(x: Any) -> Any:
    return x if x.dtype.kind in "biu" else mpmath.matrix(x.tolist())


def _array(x: Any) -> Any:
    return np.array(x.tolist() if isinstance(x, mpmath.matrix) else x, dtype=object)


def _minor(a: Any, row: int, column: int) -> Any:
    rows = [i for i in range(a.rows) if i != row]
    columns = [j for j in range(a.cols) if j != column]
    return _laplace(mpmath.matrix([[a[i, j] for j in columns] for i in rows])) if rows else mpmath.mpf(1)


def _laplace(a: Any) -> Any:
    """The determinant by expansion along the first row: exact on dyadic entries, singular or not."""
    if a.rows == 1:
        return a[0, 0]
    return sum(((-1) ** j * a[0, j] * _minor(a, 0, j) for j in range(a.cols)), mpmath.mpf(0))


def _adjugate(a: Any) -> Any:
    n = a.rows
    return mpmath.matrix([[(-1) ** (i + j) * _minor(a, j, i) for j in range(n)] for i in range(n)])


def _triangular_solve(
    a: Any, b: Any, lower: bool = True, adjoint: bool = False, unit_diagonal: bool = False
) -> Any:
    n = a.rows
    read = mpmath.matrix(n, n)
    for i in range(n):
        for j in range(n):
            if i == j:
                read[i, j] = 1 if unit_diagonal else a[i, j]
            elif (j < i) == lower:
                read[i, j] = a[i, j]
    return mpmath.inverse(read.T if adjoint else read) * b


def _cholesky(a: Any) -> Any:
    n = a.rows
    return mpmath.cholesky(mpmath.matrix([[a[max(i, j), min(i, j)] for j in range(n)] for i in range(n)]))


def _qr(a: Any, signs: Any) -> Any:
    """Columns of Q span the leading columns of `a`: R is the Cholesky factor of their Gram matrix."""
    rank = min(a.rows, a.cols)
    square = mpmath.matrix([[a[i, j] for j in range(rank)] for i in range(a.rows)])
    r = mpmath.diag([int(sign) for sign in signs[0]]) * mpmath.cholesky(square.T * square).T
    q = square * mpmath.inverse(r)
    return q, q.T * a


def _eigh(a: Any, anchors: Any) -> Any:
    n = a.rows
    values, vectors = mpmath.eigsy(
        mpmath.matrix([[a[max(i, j), min(i, j)] for j in range(n)] for i in range(n)])
    )
    for k, flip in enumerate(_flips(vectors, anchors)):
        vectors[:, k] *= flip
    return values, vectors


def _svd(a: Any, anchors: Any) -> Any:
    u, s, vh = mpmath.svd_r(a)
    v = vh.T
    for k, flip in enumerate(_flips(v, anchors)):
        u[:, k] *= flip
        v[:, k] *= flip
    return s, u, v


def _flips(vectors: Any, anchors: Any) -> list[int]:
    return [int(sign * mpmath.sign(vectors[int(row), k])) for k, (row, sign) in enumerate(anchors.T)]


def _lstsq(a: Any, b: Any, l2: float = 0.0) -> Any:
    if a.rows >= a.cols:
        return mpmath.inverse(a.T * a + l2 * mpmath.eye(a.cols)) * (a.T * b)
    return a.T * (mpmath.inverse(a * a.T + l2 * mpmath.eye(a.rows)) * b)


def _pinv(a: Any) -> Any:
    return _lstsq(a, mpmath.eye(a.rows))


def _sylvester(a: Any, b: Any, c: Any) -> Any:
    """By the eigenvectors of both sides, in which the equation falls apart into numbers."""
    (left, p), (right, q) = mpmath.eig(a), mpmath.eig(b)
    inner = mpmath.inverse(p) * c * q
    for i in range(a.rows):
        for j in range(b.rows):
            inner[i, j] /= left[i] + right[j]
    return (p * inner * mpmath.inverse(q)).apply(mpmath.re)


REFERENCES = {
    "solve": _stacked(lambda a, b: mpmath.inverse(a) * b),
    "triangular_solve": _stacked(_triangular_solve),
    "inverse": _stacked(mpmath.inverse),
    "det": _stacked(_laplace),
    "log_abs_det": _stacked(lambda a: mpmath.log(abs(_laplace(a)))),
    "adjugate": _stacked(_adjugate),
    "cholesky": _stacked(_cholesky),
    "qr": _stacked(_qr),
    "lstsq": _stacked(_lstsq),
    "pinv": _stacked(_pinv),
    "sylvester": _stacked(_sylvester),
    "matrix_sqrt": _stacked(mpmath.sqrtm),
    "matrix_exp": _stacked(mpmath.expm),
    "eigh": _stacked(_eigh),
    "svd": _stacked(_svd),
}
