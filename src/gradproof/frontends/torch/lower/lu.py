"""Factors of elimination that PyTorch keeps for its backward ops, and solutions by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.recipes.elimination import LARGEST_FACTOR, packed_factors, rows_in
from gradproof.frontends.torch.lower._table import lower
from gradproof.ir.types import Array
from gradproof.ops.linalg import adjoint as adjoint_of

# Of the largest entry: how far recorded factors may be from those computed again. Those of another matrix are further.
_NEAR = 1e-3


def turned(m: Any, x: Any) -> Any:
    return m.transpose(x, order=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def order_of(pivots: Array) -> Array:
    """The rows in the order in which exchanges, counted from 1, have left them."""
    exchanged = np.asarray(pivots).astype(np.int64) - 1
    n = exchanged.shape[-1]
    order = np.broadcast_to(np.arange(n), exchanged.shape).copy()
    for place in np.ndindex(exchanged.shape[:-1]):
        rows = order[place]
        for k, other in enumerate(exchanged[place]):
            rows[k], rows[other] = rows[other], rows[k]
    return order


def kept_factors(m: Any, a: Any, factors: Any, pivots: Any) -> Any:
    """The factors of a matrix, or of its transpose, whichever was factorised; None where that is not to be told.

    `factors` and `pivots` are what PyTorch returned. A matrix that lies in memory by rows is factorised transposed.
    """
    if factors is None or factors.array is None or pivots.array is None or a.shape[-1] > LARGEST_FACTOR:
        return None
    order, seen = order_of(pivots.array), np.asarray(factors.array)
    for matrix in (a, turned(m, a)):
        with np.errstate(all="ignore"):
            found = packed_factors(m, matrix, order)
        apart = np.abs(np.asarray(found.value) - seen)
        if bool((apart <= _NEAR * np.max(np.abs(seen), initial=0.0)).all()):
            return found
    return None


@lower("linalg_lu_factor_ex", "linalg_lu_factor")
def _factorised(m: Any, e: Any, a: Any, *_: Any, pivot: Any = True, **__: Any) -> Any:
    if not pivot or a.shape[-1] != a.shape[-2]:
        raise NotImplementedError("factors of a matrix that is not square, or without exchanges of rows")
    return packed_factors(m, a, order_of(e.outputs[1].array)), None, None


@lower("linalg_lu_solve")
def _lu_solve(
    m: Any, e: Any, factors: Any, pivots: Any, b: Any, *, left: Any = True, adjoint: Any = False
) -> Any:
    order = order_of(pivots.value)
    if left:
        return _solved(m, factors, order, b, adjoint)
    return adjoint_of(m, _solved(m, factors, order, adjoint_of(m, b), not adjoint))


def _solved(m: Any, factors: Any, order: Array, b: Any, is_adjoint: bool) -> Any:
    """The solution for the matrix whose rows in this order are the product of the factors, or for its adjoint."""
    n = factors.shape[-1]
    ones = np.ones((n, n), np.asarray(factors.value).dtype)
    lower_ = m.add(m.mul(factors, m.constant(np.tril(ones, -1))), m.constant(np.eye(n, dtype=ones.dtype)))
    product = m.matmul(lower_, m.mul(factors, m.constant(np.triu(ones))))
    if is_adjoint:
        return rows_in(m, m.solve(adjoint_of(m, product), b), np.argsort(order, axis=-1))
    return m.solve(product, rows_in(m, b, order))
