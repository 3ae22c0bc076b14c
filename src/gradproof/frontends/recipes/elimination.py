"""The factors of Gaussian elimination, in the order of rows that a run has taken."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ir.types import Array

LARGEST_FACTOR = 32  # columns of a matrix whose elimination is written out step by step


def packed_factors(m: Any, a: Any, order: Array) -> Any:
    """Both factors in one matrix, the ones of the lower one left out; `order` names the rows of `a` one by one."""
    if min(a.shape[-2:]) > LARGEST_FACTOR:
        raise NotImplementedError("the factors of a large matrix")
    return _eliminated(m, rows_in(m, a, order))


def rows_in(m: Any, x: Any, order: Array) -> Any:
    """The rows of a matrix in another order."""
    return m.take_along(x, np.array(np.broadcast_to(order[..., None], x.shape)), axis=x.ndim - 2)


def _part(m: Any, x: Any, rows: tuple[int, int], columns: tuple[int, int]) -> Any:
    lead = tuple(x.shape[:-2])
    zeros = (0,) * len(lead)
    return m.strided_slice(x, begin=(*zeros, rows[0], columns[0]), end=(*lead, rows[1], columns[1]))


def _eliminated(m: Any, a: Any) -> Any:
    """Without any exchange of rows, the factors below the diagonal."""
    rows, columns = a.shape[-2:]
    if rows <= 1 or columns == 0:
        return a
    top = _part(m, a, (0, 1), (0, columns))
    left = m.div(_part(m, a, (1, rows), (0, 1)), _part(m, a, (0, 1), (0, 1)))
    if columns == 1:
        return m.concat(top, left, axis=a.ndim - 2)
    rest = m.sub(_part(m, a, (1, rows), (1, columns)), m.mul(left, _part(m, a, (0, 1), (1, columns))))
    return m.concat(top, m.concat(left, _eliminated(m, rest), axis=a.ndim - 1), axis=a.ndim - 2)
