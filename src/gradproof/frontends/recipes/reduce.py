"""Reductions that are no sums: extremes and logical ones."""

from __future__ import annotations

import math
from typing import Any


def reduced_last(m: Any, x: Any, reduced: tuple[int, ...]) -> Any:
    """The axes to be reduced moved to the end and made one."""
    kept = tuple(axis for axis in range(x.ndim) if axis not in reduced)
    shape = (*(x.shape[axis] for axis in kept), math.prod(x.shape[axis] for axis in reduced))
    return m.reshape(m.transpose(x, order=(*kept, *reduced)), shape=shape)


def extreme(m: Any, x: Any, reduced: tuple[int, ...], decision: str, shape: tuple[int, ...]) -> Any:
    """A maximum is a decision, which entry is largest, and the entry it names."""
    if not reduced:
        return m.identity(x)
    rows = reduced_last(m, x, reduced)
    place = getattr(m, decision)(rows, axis=rows.ndim - 1)
    best = m.take_along(rows, m.reshape(place, shape=(*place.shape, 1)), axis=rows.ndim - 1)
    return m.reshape(best, shape=shape)


def joined(m: Any, x: Any, reduced: tuple[int, ...], op: str, shape: tuple[int, ...]) -> Any:
    """Halves are joined until one entry is left."""
    rows = reduced_last(m, x, reduced)
    last = rows.ndim - 1
    while (n := rows.shape[last]) > 1:
        lead = (0,) * last
        first = m.strided_slice(rows, begin=(*lead, 0), end=(*rows.shape[:last], (n + 1) // 2))
        second = m.strided_slice(rows, begin=(*lead, n // 2), end=tuple(rows.shape))
        rows = getattr(m, op)(first, second)
    return m.reshape(rows, shape=shape)
