"""Factors of matrices and solutions of linear equations."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.domains.eigen_places import nearest, places_of
from gradproof.frontends.jax.lower._table import lower
from gradproof.frontends.recipes.elimination import packed_factors
from gradproof.ir import types
from gradproof.ops.eigen import anchors_of
from gradproof.ops.factorise import hermitian_part
from gradproof.ops.linalg import adjoint

ROUNDINGS = 64  # units in the last place of its largest entry that a matrix meant to be symmetric may show
LARGEST_REST = 64  # rows of a matrix for which the rest of its factor is written out


def _is_symmetric(a: Any) -> bool:
    value = np.asarray(a.value)
    apart = np.abs(value - np.conj(np.swapaxes(value, -1, -2)))
    unit = types.unit_roundoff(types.dtype_name(value))
    return bool((apart <= ROUNDINGS * unit * np.max(np.abs(value), initial=0.0)).all())


def _refuse_complex(a: Any) -> None:
    if np.iscomplexobj(a.value):
        raise NotImplementedError("vectors of complex matrices, which are known up to a phase")


@lower("cholesky")
def _cholesky(m: Any, event: Any, a: Any) -> Any:
    """Only the lower triangle is read. Of a symmetric matrix the gradient is meant in the space of those.

    The kernel leaves in the upper triangle what it was given; JAX's own function puts zeros there afterwards.
    """
    factor = _of_symmetric(m, a) if _is_symmetric(a) else m.cholesky(a)
    returned = np.asarray(event.outputs[0].array)
    if not np.triu(returned, 1).any():
        return factor
    return m.select(m.constant(np.tril(np.ones(returned.shape, bool))), factor, a)


def _of_symmetric(m: Any, a: Any) -> Any:
    """The factor of the symmetric part, and what JAX's rule makes of the rest, which is zero.

    What is not symmetric in a change of the matrix has no meaning. JAX hands on some gradient for it, which is the
    part that vanishes when the matrix is computed from something symmetric.
    """
    part = hermitian_part(m, a)
    factor = m.cholesky(part)
    n = a.shape[-1]
    if n > LARGEST_REST:
        return factor
    solved = m.triangular_solve(factor, m.sub(a, part), lower=True)
    both = adjoint(m, m.triangular_solve(factor, adjoint(m, solved), lower=True))
    halved = np.tril(np.ones((n, n))) - np.eye(n) / 2
    return m.add(factor, m.matmul(factor, m.mul(both, halved)))


@lower("eigh")
def _eigh(m: Any, event: Any, a: Any) -> Any:
    """(vectors, values): which of a vector and its negative came out is a fact of the run."""
    _refuse_complex(a)
    if event.attrs.get("subset_by_index") not in (None, (0, a.shape[-1])) or not _is_symmetric(a):
        raise NotImplementedError("some of the vectors, or a matrix that is not symmetric")
    values, vectors = m.eigh(hermitian_part(m, a), anchors_of(event.outputs[0].array))
    return vectors, values


@lower("eig")
def _eig(m: Any, event: Any, a: Any) -> Any:
    """(values, vectors if they were asked for): their order, and which multiples they are, are facts of the run."""
    if event.attrs["compute_left_eigenvectors"]:
        raise NotImplementedError("left vectors of a matrix")
    returned = [np.asarray(one.array) for one in event.outputs]
    if not np.iscomplexobj(a.value):
        a = m.complex(a, m.zeros(tuple(a.shape)))
    vectors = returned[1] if len(returned) > 1 else _vectors_of(np.asarray(a.value), returned[0])
    found = m.eig(a, *map(m.constant, places_of(returned[0], vectors)))
    return found[: len(returned)] if len(returned) > 1 else found[0]


def _vectors_of(a: Any, values: Any) -> Any:
    """Vectors that nobody asked for, in the order of the values."""
    found, vectors = np.linalg.eig(a)
    for place in np.ndindex(*values.shape[:-1]):
        vectors[place] = vectors[place][:, nearest(found[place], values[place])]
    return vectors


@lower("svd")
def _svd(m: Any, event: Any, a: Any) -> Any:
    """(values, left vectors, right vectors transposed), or the values alone."""
    _refuse_complex(a)
    if event.attrs.get("subset_by_index") is not None:
        raise NotImplementedError("some of the vectors")
    if not event.attrs.get("compute_uv", True):
        right = np.linalg.svd(np.asarray(a.value, np.float64), full_matrices=False)[2]
        return m.svd(a, anchors_of(np.swapaxes(right, -1, -2)))[0]
    if event.attrs.get("full_matrices") and a.shape[-2] != a.shape[-1]:
        raise NotImplementedError("vectors that the matrix does not determine")
    returned, since = np.swapaxes(event.outputs[2].array, -1, -2), m.builder.next_id
    values, left, right = m.svd(a, anchors_of(returned))
    # What was returned is rounded by the factorisation, and turned afterwards without any rounding.
    return values, left, adjoint(m, m.settle_value(right, returned, since))


@lower("qr")
def _qr(m: Any, event: Any, a: Any) -> Any:
    rows, columns = a.shape[-2:]
    if event.attrs.get("pivoting") or (event.attrs.get("full_matrices") and rows != columns):
        raise NotImplementedError("columns of Q that no column of the matrix determines")
    diagonal = np.diagonal(event.outputs[1].array, axis1=-2, axis2=-1)
    if np.iscomplexobj(diagonal):
        raise NotImplementedError("the phases of complex factors")
    return m.qr(a, np.where(diagonal < 0, -1, 1)[..., None, :])


@lower("lu")
def _lu(m: Any, event: Any, a: Any) -> Any:
    """(both factors in one matrix, pivots, permutation): in which order rows are taken is a fact of the run."""
    packed = packed_factors(m, a, np.asarray(event.outputs[2].array))
    return packed, m.constant(event.outputs[1].array), m.constant(event.outputs[2].array)


@lower("lu_pivots_to_permutation")
def _permutation(m: Any, event: Any, pivots: Any) -> Any:
    return m.constant(event.outputs[0].array)


def _transposed(m: Any, x: Any) -> Any:
    return m.transpose(x, order=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


@lower("triangular_solve")
def _triangular_solve(m: Any, event: Any, a: Any, b: Any) -> Any:
    """op(a) x = b, or x op(a) = b, which is the first with everything transposed."""
    attrs = event.attrs
    left = bool(attrs["left_side"])
    turned = bool(attrs["transpose_a"]) == left
    conjugated = bool(attrs["conjugate_a"])
    if not left:
        b = _transposed(m, b)
    # An adjoint is a transpose and a conjugate: the conjugate that is too many or missing is taken beforehand.
    if conjugated != turned:
        a = m.conj(a)
    options = {"lower": bool(attrs["lower"]), "unit_diagonal": bool(attrs["unit_diagonal"])}
    x = m.triangular_solve(a, b, adjoint=turned, **options)
    return x if left else _transposed(m, x)


@lower("tridiagonal_solve")
def _tridiagonal_solve(m: Any, event: Any, below: Any, main: Any, above: Any, b: Any) -> Any:
    """The first entry below and the last one above are not read."""
    n = main.shape[-1]
    lead = tuple(main.shape[:-1])
    zeros = (0,) * len(lead)
    size = {"rows": n, "columns": n}
    low = m.strided_slice(below, begin=(*zeros, 1), end=(*lead, n))
    high = m.strided_slice(above, begin=(*zeros, 0), end=(*lead, n - 1))
    sides = m.add(m.diag(low, offset=-1, **size), m.diag(high, offset=1, **size))
    return m.solve(m.add(m.diag(main, **size), sides), b)


@lower("gradproof.solve")
def _solve(m: Any, event: Any, *xs: Any) -> Any:
    """The equation whose matrix has these columns; the last operand is its right-hand side.

    Along the axes that stand apart there are many of them.
    """
    *columns, b = xs
    n, apart = len(columns), event.attrs["apart"]
    order = (*apart, *(axis for axis in range(b.ndim) if axis not in apart))
    lead = tuple(b.shape[axis] for axis in apart)

    def rows(x: Any) -> Any:
        return m.reshape(m.transpose(x, order=order), shape=(*lead, n))

    matrix = m.stack(*map(rows, columns), axis=len(lead) + 1)
    found = m.solve(matrix, m.reshape(rows(b), shape=(*lead, n, 1)))
    found = m.reshape(found, shape=tuple(b.shape[axis] for axis in order))
    return m.transpose(found, order=tuple(order.index(axis) for axis in range(b.ndim)))
