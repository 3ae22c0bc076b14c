"""Matrix products, solutions, inverses, determinants, factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import is_complex, lower, number
from gradproof.frontends.torch.lower.lu import kept_factors, turned
from gradproof.ir import types
from gradproof.ir.shapes import joint_shape
from gradproof.ops.eigen import anchors_of
from gradproof.ops.factorise import hermitian_part
from gradproof.ops.linalg import adjoint

KEPT = 0.5  # a singular value of an inverse, times the largest of its matrix, is 1 or more; less is a rounded zero


@lower("mm", "bmm", "matmul", "linalg_matmul")
def _matmul(m: Any, e: Any, a: Any, b: Any, *_: Any) -> Any:
    return m.product(a, b, e.outputs[0].array)


@lower("mv")
def _mv(m: Any, e: Any, a: Any, b: Any) -> Any:
    return m.reshape(m.matmul(a, m.reshape(b, shape=(b.shape[0], 1))), shape=(a.shape[0],))


def _sum_of(m: Any, x: Any, product: Any, beta: Any, alpha: Any) -> Any:
    product = product if alpha == 1 else m.mul(product, number(m, alpha, product))
    if beta == 0:
        return product
    return m.add(x if beta == 1 else m.mul(x, number(m, beta, x)), product)


@lower("addmm", "baddbmm")
def _addmm(m: Any, e: Any, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    product = m.product(a, b, e.outputs[0].array, x) if beta == alpha == 1 else m.matmul(a, b)
    return _sum_of(m, x, product, beta, alpha)


@lower("addmv")
def _addmv(m: Any, e: Any, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum_of(m, x, _mv(m, e, a, b), beta, alpha)


@lower("addbmm")
def _addbmm(m: Any, e: Any, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum_of(m, x, m.sum(m.matmul(a, b), axes=(0,)), beta, alpha)


@lower("addr")
def _addr(m: Any, e: Any, x: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return _sum_of(m, x, m.mul(m.reshape(a, shape=(a.shape[0], 1)), b), beta, alpha)


@lower("linear")
def _linear(m: Any, e: Any, x: Any, weight: Any, bias: Any = None) -> Any:
    turned = m.transpose(weight, order=(1, 0)) if weight.ndim == 2 else weight
    y = (
        m.einsum(x, turned, equation="...c,cd->...d")
        if weight.ndim == 2
        else m.sum(x * turned, axes=(x.ndim - 1,))
    )
    return y if bias is None else m.add(y, bias)


@lower("_linalg_det")
def _det(m: Any, e: Any, a: Any) -> Any:
    """(determinant, and the factors its backward op is given)."""
    return m.det(a), kept_factors(m, a, *e.outputs[1:3]), None


@lower("_linalg_slogdet")
def _slogdet(m: Any, e: Any, a: Any) -> Any:
    if is_complex(a):
        raise NotImplementedError("the sign of a complex determinant")
    sign = m.cast(m.sign(m.det(a)), dtype=types.dtype_name(a.value))
    return sign, m.log_abs_det(a), kept_factors(m, a, *e.outputs[2:4]), None


@lower("linalg_inv_ex", "inverse", "linalg_inv")
def _inverse(m: Any, e: Any, a: Any, *_: Any, **__: Any) -> Any:
    return m.inverse(a), None


@lower("cholesky_inverse")
def _cholesky_inverse(m: Any, e: Any, factor: Any, upper: Any = False) -> Any:
    """Of the matrix that a triangular factor stands for; the other triangle is not looked at."""
    shown = np.triu(np.ones(factor.shape[-2:])) if upper else np.tril(np.ones(factor.shape[-2:]))
    half = m.select(m.constant(shown > 0), factor, m.zeros(()))
    turned_half = adjoint(m, half)
    return m.inverse(m.matmul(turned_half, half) if upper else m.matmul(half, turned_half))


@lower("_trilinear")
def _trilinear(
    m: Any,
    e: Any,
    a: Any,
    b: Any,
    c: Any,
    wide_a: Any,
    wide_b: Any,
    wide_c: Any,
    summed: Any,
    unroll: int = 1,
) -> Any:
    """A sum of products of three arrays, each of which lacks some of the axes."""
    rank = a.ndim + len(wide_a)
    parts = []
    for x, lacking in ((a, wide_a), (b, wide_b), (c, wide_c)):
        sizes = iter(x.shape)
        parts.append(m.reshape(x, shape=tuple(1 if k in lacking else next(sizes) for k in range(rank))))
    product = m.mul(m.mul(parts[0], parts[1]), parts[2])
    return m.sum(product, axes=tuple(summed)) if summed else product


@lower("_linalg_solve_ex", "linalg_solve_ex", "linalg_solve")
def _solve(m: Any, e: Any, a: Any, b: Any, left: Any = True, check_errors: Any = False) -> Any:
    """(solution, the factors its backward op is given, and facts about them)."""
    factors = kept_factors(m, a, *e.outputs[1:3]) if len(e.outputs) > 2 else None
    if not left:
        return turned(m, m.solve(turned(m, a), turned(m, b))), factors, None, None
    if b.ndim == a.ndim - 1:
        return m.reshape(m.solve(a, m.reshape(b, shape=(*b.shape, 1))), shape=b.shape), factors, None, None
    return m.solve(a, b), factors, None, None


@lower("linalg_solve_triangular")
def _solve_triangular(
    m: Any, e: Any, a: Any, b: Any, upper: Any, left: Any = True, unitriangular: Any = False
) -> Any:
    options = {"adjoint": False, "unit_diagonal": bool(unitriangular)}
    if left:
        return m.triangular_solve(a, b, lower=not upper, **options)
    return turned(m, m.triangular_solve(turned(m, a), turned(m, b), lower=bool(upper), **options))


@lower("triangular_solve")
def _triangular_solve(
    m: Any, e: Any, b: Any, a: Any, upper: Any = True, transpose: Any = False, unitriangular: Any = False
) -> Any:
    a, upper = (turned(m, a), not upper) if transpose else (a, upper)
    solved = m.triangular_solve(a, b, lower=not upper, adjoint=False, unit_diagonal=bool(unitriangular))
    return solved, None


@lower("cholesky_solve")
def _cholesky_solve(m: Any, e: Any, b: Any, factor: Any, upper: Any = False) -> Any:
    factor = adjoint(m, factor) if upper else factor
    half = m.triangular_solve(factor, b, lower=True, adjoint=False)
    return m.triangular_solve(factor, half, lower=True, adjoint=True)


# Rounding that a matrix meant to be symmetric may show: a few units in the last place of its largest entry.
_ROUNDINGS = 64


def _is_symmetric(a: Any) -> bool:
    value = np.asarray(a.value)
    apart = np.abs(value - np.conj(np.swapaxes(value, -1, -2)))
    unit = types.unit_roundoff(types.dtype_name(value))
    return bool((apart <= _ROUNDINGS * unit * np.max(np.abs(value), initial=0.0)).all())


@lower("linalg_cholesky_ex", "linalg_cholesky", "cholesky")
def _cholesky(m: Any, e: Any, a: Any, upper: Any = False, **_: Any) -> Any:
    """The gradient is meant in the space of symmetric matrices; of another one PyTorch reads a part."""
    if not _is_symmetric(a):
        raise NotImplementedError("a matrix that is not symmetric")
    factor = m.cholesky(hermitian_part(m, a))
    return adjoint(m, factor) if upper else factor, None


@lower("linalg_qr")
def _qr(m: Any, e: Any, a: Any, mode: str = "reduced") -> Any:
    rows, columns = a.shape[-2:]
    if mode == "complete" and rows != columns:
        raise NotImplementedError("columns of Q that no column of the matrix determines")
    diagonal = np.diagonal(e.outputs[1].array, axis1=-2, axis2=-1)
    if np.iscomplexobj(diagonal):
        raise NotImplementedError("the phases of complex factors")
    q, r = m.qr(a, np.where(diagonal < 0, -1, 1)[..., None, :])
    return (None, r) if mode == "r" else (q, r)


@lower("_linalg_eigh", "linalg_eigh")
def _eigh(m: Any, e: Any, a: Any, UPLO: str = "L", compute_v: Any = True) -> Any:
    """(values, vectors): which of a vector and its negative came out is a fact of the run."""
    _refuse_vectors(a)
    if not _is_symmetric(a):
        raise NotImplementedError("a matrix that is not symmetric")
    a = hermitian_part(m, a)
    if compute_v:
        values, v = m.eigh(a, anchors_of(e.outputs[1].array))
        return values, _any_basis(m, v, e.outputs[1].array, e.outputs[0].array)
    vectors = np.linalg.eigh(np.asarray(a.value, np.float64))[1]
    return m.eigh(a, anchors_of(vectors))[0], None


@lower("_linalg_svd", "linalg_svd")
def _svd(m: Any, e: Any, a: Any, full_matrices: Any = False, compute_uv: Any = True, **_: Any) -> Any:
    """(left vectors, values, right vectors turned)."""
    _refuse_vectors(a)
    if not compute_uv:
        right = np.linalg.svd(np.asarray(a.value, np.float64), full_matrices=False)[2]
        return None, m.svd(a, anchors_of(np.swapaxes(right, -1, -2)))[0], None
    if full_matrices and a.shape[-2] != a.shape[-1]:
        raise NotImplementedError("vectors that the matrix does not determine")
    values, u, v = m.svd(a, anchors_of(np.swapaxes(e.outputs[2].array, -1, -2)))
    left, sizes, right = (one.array for one in e.outputs)
    sizes = np.append(
        sizes, np.zeros_like(sizes[..., :1]), -1
    )  # at 0 the two vectors of a pair are not tied together
    v = _any_basis(m, v, np.swapaxes(right, -1, -2), sizes)
    return _any_basis(m, u, left, sizes), values, turned(m, v)


def _any_basis(m: Any, vectors: Any, returned: Any, values: Any) -> Any:
    """The vectors; where values coincide any basis of theirs is right, and the one that came out is not compared."""
    unit = types.unit_roundoff(types.dtype_name(values))
    size = np.max(np.abs(values), axis=-1, keepdims=True, initial=0.0)
    gaps = np.abs(np.diff(np.sort(values, axis=-1), axis=-1))
    coincide = (gaps <= _ROUNDINGS * values.shape[-1] * unit * size).any()
    return m.settle_value(vectors, returned, 0, same=False) if coincide else vectors


def _refuse_vectors(a: Any) -> None:
    if not np.asarray(a.value).size:
        raise NotImplementedError("vectors of a matrix without entries")
    if np.iscomplexobj(a.value):
        raise NotImplementedError("vectors of complex matrices, which are known up to a phase")


@lower("linalg_matrix_exp", "matrix_exp")
def _matrix_exp(m: Any, e: Any, a: Any) -> Any:
    return m.matrix_exp(a)


@lower("linalg_pinv")
def _pinv(m: Any, e: Any, a: Any, *rest: Any, hermitian: Any = False, **_: Any) -> Any:
    is_symmetric = hermitian is True or any(one is True for one in rest)
    if is_symmetric and not _is_symmetric(a):
        raise NotImplementedError("a matrix that is not symmetric")
    if _leaves_out(np.asarray(a.value), np.asarray(e.outputs[0].array)):
        raise NotImplementedError("a pseudo-inverse that takes small singular values for zero")
    return m.pinv(hermitian_part(m, a) if is_symmetric else a)


def _leaves_out(a: Any, inverse: Any) -> bool:
    """Whether a singular value was below the tolerance: all that are kept are at least 1 / the largest of `a`."""
    if not a.size or not np.isfinite(inverse).all():
        return False
    largest, least = (np.linalg.svd(x, compute_uv=False) for x in (a, inverse))
    return bool((least.min(-1) * largest.max(-1) < KEPT).any())


@lower("linalg_cross", "cross")
def _cross(m: Any, e: Any, a: Any, b: Any, dim: Any = -1) -> Any:
    shape = joint_shape(a.shape, b.shape)
    a, b = m.broadcast(a, shape=shape), m.broadcast(b, shape=shape)
    axis = (shape.index(3) if dim is None else dim) % len(shape)
    next_a, next_b = (m.take(x, np.asarray([1, 2, 0]), axis=axis) for x in (a, b))
    last_a, last_b = (m.take(x, np.asarray([2, 0, 1]), axis=axis) for x in (a, b))
    return m.mul(next_a, last_b) - m.mul(last_a, next_b)


@lower("kron")
def _kron(m: Any, e: Any, a: Any, b: Any) -> Any:
    n = max(a.ndim, b.ndim)
    wide_a, wide_b = ((1,) * (n - x.ndim) + tuple(x.shape) for x in (a, b))
    left = m.reshape(a, shape=tuple(k for one in wide_a for k in (one, 1)))
    right = m.reshape(b, shape=tuple(k for one in wide_b for k in (1, one)))
    return m.reshape(m.mul(left, right), shape=tuple(i * j for i, j in zip(wide_a, wide_b)))
