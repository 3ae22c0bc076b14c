"""Factors of elimination that PyTorch keeps for its backward ops, and solutions by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.recipes.elimination import LARGEST_FACTOR, packed_factors, rows_in
from gradproof.frontends.torch.lower._table import lower
from gradproof.ir.types import Array
from gradproof.ops.linalg import adjoint as adjoint_of
from gradproof.ops.linalg import triangle

# Of the largest entry: how far recorded factors may be from those computed again. Those of another matrix are further.
_NEAR = 1e-3


def turned(m: Any, x: Any) -> Any:
    return m.transpose(x, order=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def order_of(pivots: Array, n_rows: int | None = None) -> Array:
    """The rows in the order in which exchanges, counted from 1, have left them."""
    exchanged = np.asarray(pivots).astype(np.int64) - 1
    n = exchanged.shape[-1] if n_rows is None else n_rows
    order = np.broadcast_to(np.arange(n), (*exchanged.shape[:-1], n)).copy()
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
def _factorised(m: Any, e: Any, a: Any, *_: Any, **__: Any) -> Any:
    return packed_factors(m, a, order_of(e.outputs[1].array, a.shape[-2])), None, None


@lower("linalg_lu")
def _both_factors(m: Any, e: Any, a: Any, *_: Any, **__: Any) -> Any:
    """(permutation, lower factor, upper factor): the permutation is a fact of the run."""
    moved = np.asarray(e.outputs[0].array)
    order = np.argmax(moved, axis=-2) if moved.size else np.broadcast_to(np.arange(a.shape[-2]), a.shape[:-1])
    return m.constant(moved), *_unpacked(m, packed_factors(m, a, order))


@lower("lu_unpack")
def _lu_unpack(m: Any, e: Any, factors: Any, pivots: Any, data: Any = True, is_pivot: Any = True) -> Any:
    moved = m.constant(np.asarray(e.outputs[0].array))
    return (moved, *_unpacked(m, factors)) if data else (moved, None, None)


def _unpacked(m: Any, factors: Any) -> tuple[Any, Any]:
    """The lower factor with its ones, and the upper one."""
    rows, columns = factors.shape[-2:]
    n, lead = min(rows, columns), (0,) * (factors.ndim - 2)
    whole = tuple(factors.shape[:-2])
    left = m.strided_slice(factors, begin=(*lead, 0, 0), end=(*whole, rows, n))
    below = triangle(m, left, skip_diagonal=True)
    ones = m.constant(np.eye(rows, n, dtype=np.asarray(factors.value).dtype))
    top = m.strided_slice(factors, begin=(*lead, 0, 0), end=(*whole, n, columns))
    return m.add(below, ones), triangle(m, top, lower=False)


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
    product = m.matmul(*_unpacked(m, factors))
    if is_adjoint:
        return rows_in(m, m.solve(adjoint_of(m, product), b), np.argsort(order, axis=-1))
    return m.solve(product, rows_in(m, b, order))
