"""Linear equations, inverses, determinants and factorisations of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.errors import NotSupported
from gradproof.ops.complex import modulus
from gradproof.ops.eigen import anchors_of
from gradproof.tape.functions._operands import operand, values
from gradproof.tape.functions._table import lowers
from gradproof.tape.functions.reductions import max_along, min_along


def _real(m: Any, x: Any, y: Any) -> Any:
    if np.asarray(values(x)).dtype.kind == "c":
        raise NotSupported("vectors of complex matrices, which are known up to a phase only")
    return operand(m, x, y.dtype)


@lowers(np.linalg.solve)
def _solve(m: Any, y: Any, a: Any, b: Any) -> Any:
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    if b.ndim > 1:
        return m.record("solve", [a, b], y, {})
    return m.reshape(
        m.record("solve", [a, m.reshape(b, shape=(*b.shape, 1))], y[..., None], {}), shape=y.shape
    )


@lowers(np.linalg.inv)
def _inv(m: Any, y: Any, a: Any) -> Any:
    return m.record("inverse", [operand(m, a, y.dtype)], y, {})


@lowers(np.linalg.det)
def _det(m: Any, y: Any, a: Any) -> Any:
    return m.record("det", [operand(m, a, y.dtype)], y, {})


@lowers(np.linalg.slogdet)
def _slogdet(m: Any, y: Any, a: Any) -> Any:
    """The sign is a decision about the determinant; the logarithm is that of its size."""
    sign, logarithm = y
    if not np.all(np.isfinite(logarithm)):
        raise NotSupported("the logarithm of a determinant that is zero")
    x = operand(m, a, sign.dtype)
    if sign.dtype.kind == "c":
        det = m.det(x)
        size = modulus(m, det)
        return m.div(det, operand(m, size, sign.dtype)), m.log(size)
    decision = m.record("sign", [m.det(x)], np.sign(sign).astype(np.int64), {})
    return m.cast(decision, dtype=sign.dtype.name), m.record("log_abs_det", [x], logarithm, {})


@lowers(np.linalg.cholesky)
def _cholesky(m: Any, y: Any, a: Any, *, upper: bool = False) -> Any:
    x = operand(m, a, y.dtype)
    if not upper:
        return m.record("cholesky", [x], y, {})
    swapped = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
    lower = m.cholesky(m.conj(m.transpose(x, order=swapped)))
    return m.conj(m.transpose(lower, order=swapped))


@lowers(np.linalg.qr)
def _qr(m: Any, y: Any, a: Any, mode: str = "reduced") -> Any:
    if mode != "reduced":
        raise NotSupported(f"QR in the mode {mode}")
    x = _real(m, a, y[0])
    diagonal = np.diagonal(y[1], axis1=-2, axis2=-1)
    signs = m.constant(np.where(diagonal < 0, -1, 1).astype(np.int64)[..., None, :])
    return m.record("qr", [x, signs], y, {})


def _eigh_parts(m: Any, x: Any, found: Any, uplo: str) -> Any:
    if uplo.upper() != "L":
        swapped = (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2)
        x = m.transpose(x, order=swapped)
    return m.record("eigh", [x, m.constant(anchors_of(found[1]))], tuple(found), {})


@lowers(np.linalg.eigh)
def _eigh(m: Any, y: Any, a: Any, UPLO: str = "L") -> Any:
    return _eigh_parts(m, _real(m, a, y[0]), y, UPLO)


@lowers(np.linalg.eigvalsh)
def _eigvalsh(m: Any, y: Any, a: Any, UPLO: str = "L") -> Any:
    x = _real(m, a, y)
    return _eigh_parts(m, x, (y, _vectors(x.value, UPLO)), UPLO)[0]


def _vectors(x: Any, uplo: Any) -> Any:
    return np.linalg.eigh(x, uplo)[1]


def _svd_parts(m: Any, x: Any) -> Any:
    """Values, left vectors and right vectors, the vectors as columns."""
    u, s, vh = np.linalg.svd(x.value, full_matrices=False)
    v = np.swapaxes(vh, -1, -2)
    return m.record("svd", [x, m.constant(anchors_of(v))], (s, u, v), {})


@lowers(np.linalg.svd)
def _svd(
    m: Any, y: Any, a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    if hermitian:
        raise NotSupported("singular values of a Hermitian matrix by its eigenvalues")
    if not compute_uv:
        return _svd_parts(m, _real(m, a, y))[0]
    x = _real(m, a, y[1])
    if full_matrices and x.shape[-1] != x.shape[-2]:
        raise NotSupported("the vectors beyond the rank, which the matrix does not settle")
    s, u, v = _svd_parts(m, x)
    return u, s, m.transpose(v, order=(*range(v.ndim - 2), v.ndim - 1, v.ndim - 2))


@lowers(np.linalg.svdvals)
def _svdvals(m: Any, y: Any, x: Any) -> Any:
    return _svd_parts(m, _real(m, x, y))[0]


@lowers(np.linalg.cond)
def _cond(m: Any, y: Any, x: Any, p: Any = None) -> Any:
    if p not in (None, 2):
        raise NotSupported(f"a condition number of order {p}")
    s = _svd_parts(m, _real(m, x, y))[0]
    last = s.ndim - 1
    return m.div(
        *(
            pick(m, reduce(s.value, axis=-1), s, last)
            for pick, reduce in ((max_along, np.max), (min_along, np.min))
        )
    )


@lowers(np.linalg.pinv)
def _pinv(m: Any, y: Any, a: Any, *args: Any, **options: Any) -> Any:
    """Of full rank: (A^T A)^-1 A^T, or A^T (A A^T)^-1 for a wide matrix."""
    x = _real(m, a, y)
    if np.linalg.matrix_rank(x.value).min(initial=min(x.shape[-2:])) < min(x.shape[-2:]):
        raise NotSupported("the pseudo-inverse of a matrix without full rank")
    flipped = m.transpose(x, order=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))
    if x.shape[-2] >= x.shape[-1]:
        return m.solve(m.matmul(flipped, x), flipped)
    return m.matmul(flipped, m.inverse(m.matmul(x, flipped)))


@lowers(np.linalg.lstsq)
def _lstsq(m: Any, y: Any, a: Any, b: Any, rcond: Any = None) -> Any:
    """Solution of the normal equations; residuals, rank and singular values are facts beside it."""
    x, residuals, rank, _ = y
    a, b = _real(m, a, x), _real(m, b, x)
    if int(rank) < a.shape[1] or a.shape[0] < a.shape[1]:
        raise NotSupported("least squares without full column rank")
    flipped = m.transpose(a, order=(1, 0))
    right = b if b.ndim > 1 else m.reshape(b, shape=(*b.shape, 1))
    solution = m.reshape(m.solve(m.matmul(flipped, a), m.matmul(flipped, right)), shape=x.shape)
    misfit = m.sub(m.matmul(a, m.reshape(solution, shape=(a.shape[1], right.shape[1]))), right)
    squares = m.sum(m.square(misfit), axes=(0,)) if residuals.size else m.constant(residuals)
    return solution, squares, m.constant(np.asarray(values(rank))), _svd_parts(m, a)[0]
