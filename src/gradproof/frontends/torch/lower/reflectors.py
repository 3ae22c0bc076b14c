"""Products of reflections, each given by a column below the diagonal and a factor; least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower, shape_of
from gradproof.ops.linalg import adjoint, triangle


def _reflectors(m: Any, a: Any, tau: Any) -> list[tuple[Any, Any]]:
    """(column with its one on the diagonal, factor) of each; what stands above the ones is not looked at."""
    rows, n, lead = a.shape[-2], tau.shape[-1], tuple(a.shape[:-2])
    zeros = (0,) * len(lead)
    ones = m.constant(np.eye(rows, n, dtype=np.asarray(a.value).dtype))
    columns = m.strided_slice(a, begin=(*zeros, 0, 0), end=(*lead, rows, n))
    below = m.add(triangle(m, columns, skip_diagonal=True), ones)
    found = []
    for k in range(n):
        column = m.strided_slice(below, begin=(*zeros, 0, k), end=(*lead, rows, k + 1))
        factor = m.strided_slice(tau, begin=(*zeros, k), end=(*lead, k + 1))
        found.append((column, m.reshape(factor, shape=(*lead, 1, 1))))
    return found


def _applied(m: Any, x: Any, parts: list[tuple[Any, Any]]) -> Any:
    """The reflections of the columns of `x`, one after the other; a real one is its own transpose."""
    for column, factor in parts:
        x = m.sub(x, m.mul(factor, m.matmul(column, m.matmul(adjoint(m, column), x))))
    return x


@lower("linalg_householder_product", "orgqr")
def _householder_product(m: Any, e: Any, a: Any, tau: Any) -> Any:
    begin = np.broadcast_to(np.eye(*a.shape[-2:], dtype=np.asarray(a.value).dtype), a.shape)
    return _applied(m, m.constant(np.array(begin)), _reflectors(m, a, tau)[::-1])


@lower("ormqr")
def _ormqr(m: Any, e: Any, a: Any, tau: Any, x: Any, left: Any = True, transpose: Any = False) -> Any:
    parts = _reflectors(m, a, tau)
    if left:
        return _applied(m, x, parts if transpose else parts[::-1])
    return adjoint(m, _applied(m, adjoint(m, x), parts[::-1] if transpose else parts))


@lower("linalg_lstsq")
def _lstsq(m: Any, e: Any, a: Any, b: Any, rcond: Any = None, **_: Any) -> Any:
    """(solution, squares of what is left, and facts about the matrix), for one of full rank."""
    full = min(a.shape[-2:])
    if not full or (np.linalg.matrix_rank(np.asarray(a.value)) < full).any():
        raise NotImplementedError("least squares without full rank")
    is_vector = b.ndim == 1 or (b.ndim == a.ndim - 1 and tuple(b.shape) == tuple(a.shape[:-1]))
    right = m.reshape(b, shape=(*b.shape, 1)) if is_vector else b
    x = m.lstsq(a, right)
    left = None
    if e.outputs[1].array is not None and np.asarray(e.outputs[1].array).size:
        left = m.sum(m.square(m.sub(m.matmul(a, x), right)), axes=(right.ndim - 2,))
        left = m.reshape(left, shape=shape_of(e, 1))
    return m.reshape(x, shape=shape_of(e)), left, None, None
