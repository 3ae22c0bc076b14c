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
    return mpmath.inverse(read.H if adjoint else read) * b


def _cholesky(a: Any) -> Any:
    """Of the Hermitian matrix whose lower triangle is given."""
    n = a.rows
    whole = mpmath.matrix(n, n)
    for i in range(n):
        whole[i, i] = mpmath.re(a[i, i])
        for j in range(i):
            whole[i, j], whole[j, i] = a[i, j], mpmath.conj(a[i, j])
    return mpmath.cholesky(whole)


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


def _eig(a: Any, chosen: Any, places: Any) -> Any:
    found, right = mpmath.eig(a)
    pending, values, vectors = list(range(a.rows)), [], mpmath.matrix(a.rows, a.rows)
    for k, (sign, re, im, exponent) in enumerate(places.T.tolist()):
        near = mpmath.mpc(re, im) * mpmath.mpf(2) ** exponent
        best = min(pending, key=lambda place: abs(found[place] - near))
        pending.remove(best)
        values.append(found[best])
        column = right[:, best]
        component = column[int(np.flatnonzero(chosen[:, k])[0])]
        size = mpmath.sqrt(sum(abs(entry) ** 2 for entry in column))
        vectors[:, k] = column * (sign * abs(component) / component / size)
    return mpmath.matrix(values), vectors


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
        return mpmath.inverse(a.H * a + l2 * mpmath.eye(a.cols)) * (a.H * b)
    return a.H * (mpmath.inverse(a * a.H + l2 * mpmath.eye(a.rows)) * b)


def _pinv(a: Any) -> Any:
    return _lstsq(a, mpmath.eye(a.rows))


def _sylvester(a: Any, b: Any, c: Any) -> Any:
    """As one system for the columns of x under each other, by mpmath's own elimination."""
    n, k = a.rows, b.rows
    system, right = mpmath.matrix(n * k, n * k), mpmath.matrix(n * k, 1)
    for i in range(n):
        for j in range(k):
            right[i + n * j] = c[i, j]
            for p in range(n):
                system[i + n * j, p + n * j] += a[i, p]
            for q in range(k):
                system[i + n * j, i + n * q] += b[q, j]
    x = mpmath.inverse(system) * right
    return mpmath.matrix([[x[i + n * j] for j in range(k)] for i in range(n)])


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
    "eig": _stacked(_eig),
    "svd": _stacked(_svd),
}
