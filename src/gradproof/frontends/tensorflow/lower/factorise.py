"""Solutions of linear equations, inverses, determinants and factors of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import lower, lower_to
from gradproof.ir import types
from gradproof.ops.eigen import anchors_of
from gradproof.ops.factorise import hermitian_part
from gradproof.ops.linalg import adjoint

lower_to("det", "MatrixDeterminant")
lower_to("matrix_sqrt", "MatrixSquareRoot")

# Rounding that a matrix meant to be symmetric may show: a few units in the last place of its largest entry.
ROUNDINGS = 64


@lower("MatrixInverse")
def _inverse(m: Any, event: Any, a: Any) -> Any:
    return m.inverse(adjoint(m, a) if event.attrs.get("adjoint") else a)


@lower("MatrixSolve")
def _solve(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.solve(adjoint(m, a) if event.attrs.get("adjoint") else a, b)


@lower("MatrixTriangularSolve")
def _triangular_solve(m: Any, event: Any, a: Any, b: Any) -> Any:
    lower_half, turned = bool(event.attrs.get("lower", True)), bool(event.attrs.get("adjoint", False))
    return m.triangular_solve(a, b, lower=lower_half, adjoint=turned)


@lower("MatrixSolveLs")
def _least_squares(m: Any, event: Any, a: Any, b: Any, l2: Any) -> Any:
    return m.lstsq(a, b, l2=float(l2.value))


@lower("LogMatrixDeterminant")
def _log_determinant(m: Any, event: Any, a: Any) -> Any:
    """(sign, log of the size)."""
    if np.iscomplexobj(a.value):
        raise NotImplementedError("the sign of a complex determinant")
    sign = m.cast(m.sign(m.det(a)), dtype=types.dtype_name(a.value))
    return sign, m.log_abs_det(a)


def _is_symmetric(a: Any) -> bool:
    value = np.asarray(a.value)
    apart = np.abs(value - np.conj(np.swapaxes(value, -1, -2)))
    unit = types.unit_roundoff(types.dtype_name(value))
    return bool((apart <= ROUNDINGS * unit * np.max(np.abs(value), initial=0.0)).all())


@lower("Cholesky")
def _cholesky(m: Any, event: Any, a: Any) -> Any:
    """Only the lower triangle is read. Of a symmetric matrix the gradient is meant in the space of those."""
    return m.cholesky(hermitian_part(m, a) if _is_symmetric(a) else a)


@lower("Qr")
def _qr(m: Any, event: Any, a: Any) -> Any:
    rows, columns = a.shape[-2:]
    if event.attrs.get("full_matrices") and rows != columns:
        raise NotImplementedError("columns of Q that no column of the matrix determines")
    diagonal = np.diagonal(event.outputs[1].array, axis1=-2, axis2=-1)
    if np.iscomplexobj(diagonal):
        raise NotImplementedError("the phases of complex factors")
    return m.qr(a, np.where(diagonal < 0, -1, 1)[..., None, :])


@lower("SelfAdjointEigV2")
def _eigh(m: Any, event: Any, a: Any) -> Any:
    """(values, vectors): which of a vector and its negative came out is a fact of the run."""
    _refuse_complex(a)
    if event.attrs.get("compute_v", True):
        return m.eigh(a, anchors_of(event.outputs[1].array))
    vectors = np.linalg.eigh(np.asarray(a.value, np.float64))[1]
    return m.eigh(a, anchors_of(vectors))[0], m.constant(event.outputs[1].array)


@lower("Svd")
def _svd(m: Any, event: Any, a: Any) -> Any:
    """(values, left vectors, right vectors)."""
    _refuse_complex(a)
    u, v = event.outputs[1:]
    if not event.attrs.get("compute_uv", True):
        right = np.linalg.svd(np.asarray(a.value, np.float64), full_matrices=False)[2]
        values = m.svd(a, anchors_of(np.swapaxes(right, -1, -2)))[0]
        return values, m.constant(u.array), m.constant(v.array)
    if event.attrs.get("full_matrices") and a.shape[-2] != a.shape[-1]:
        raise NotImplementedError("vectors that the matrix does not determine")
    return m.svd(a, anchors_of(v.array))


def _refuse_complex(a: Any) -> None:
    if np.iscomplexobj(a.value):
        raise NotImplementedError("vectors of complex matrices, which are known up to a phase")


def _banded(m: Any, bands: Any, row: Any, column: Any, place: Any, n: int) -> Any:
    """Dense matrices with the entries `place` of the flattened bands at (row, column), zero elsewhere."""
    flat = m.reshape(bands, shape=(*bands.shape[:-2], bands.shape[-2] * bands.shape[-1]))
    origin = np.full((n, n), flat.shape[-1])
    origin[row, column] = place
    padded = m.pad(flat, widths=(*((0, 0),) * (flat.ndim - 1), (0, 1)))
    return m.take(padded, origin, axis=flat.ndim - 1)


def _three_diagonals(m: Any, bands: Any) -> Any:
    """Above, main, below; the last entry above and the first below are not read."""
    n = bands.shape[-1]
    i = np.arange(n)
    row, column = np.concatenate([i[:-1], i, i[1:]]), np.concatenate([i[1:], i, i[:-1]])
    return _banded(m, bands, row, column, np.concatenate([i[:-1], n + i, 2 * n + i[1:]]), n)


@lower("TridiagonalSolve")
def _tridiagonal_solve(m: Any, event: Any, bands: Any, b: Any) -> Any:
    return m.solve(_three_diagonals(m, bands), b)


@lower("TridiagonalMatMul")
def _tridiagonal_matmul(m: Any, event: Any, above: Any, main: Any, below: Any, b: Any) -> Any:
    bands = m.concat(above, main, below, axis=main.ndim - 2)
    return m.matmul(_three_diagonals(m, bands), b)


@lower("BandedTriangularSolve")
def _banded_solve(m: Any, event: Any, bands: Any, b: Any) -> Any:
    """Row k of the bands is the k-th diagonal from the main one, which comes last in an upper matrix."""
    k, n = bands.shape[-2:]
    is_lower = bool(event.attrs.get("lower", True))
    row, band = (part.reshape(-1) for part in np.meshgrid(np.arange(n), np.arange(k), indexing="ij"))
    column = row - band if is_lower else row + band
    inside = (column >= 0) & (column < n)
    row, column, band = row[inside], column[inside], band[inside]
    place = (band if is_lower else k - 1 - band) * n + row
    dense = _banded(m, bands, row, column, place, n)
    return m.triangular_solve(dense, b, lower=is_lower, adjoint=bool(event.attrs.get("adjoint", False)))
