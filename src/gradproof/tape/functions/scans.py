"""Sorts, and running sums, products and extremes along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.errors import NotSupported
from gradproof.tape.functions._operands import operand, require_numbers
from gradproof.tape.functions._table import lowers


def sorted_along(m: Any, x: Traced, axis: int) -> Traced:
    """The entries in ascending order: a decision about places, and a gather."""
    order = m.argsort(x, axis=axis)
    return m.take_along(x, order, axis=axis)  # type: ignore[no-any-return]


@lowers(np.sort)
def _sort(
    m: Any, y: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    require_numbers(y)
    x = operand(m, a, y.dtype)
    if axis is None:
        x, axis = m.reshape(x, shape=(x.value.size,)), 0
    return sorted_along(m, x, int(axis) % x.ndim)


@lowers(np.argsort)
def _argsort(
    m: Any, y: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Any:
    if a.value.dtype.kind != "f" or axis is None:
        raise NotSupported("the order of integers is a fact of the run")
    return m.record("argsort", [a], y, {"axis": int(axis) % a.ndim})


@lowers(np.cumsum)
def cumsum(m: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    require_numbers(y)
    x = operand(m, a, y.dtype)
    x = m.reshape(x, shape=(x.value.size,)) if axis is None else x
    return m.record("cumsum", [x], y, {"axis": 0 if axis is None else int(axis) % x.ndim})


@lowers(np.cumprod)
def cumprod(m: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None) -> Any:
    require_numbers(y)
    x = operand(m, a, y.dtype)
    x = m.reshape(x, shape=(x.value.size,)) if axis is None else x
    return m.record("cumprod", [x], y, {"axis": 0 if axis is None else int(axis) % x.ndim})


def _running_extreme(op: str) -> Any:
    """After k rounds every entry is the extreme of the last 2**k; each round is one decision per entry."""

    def lower(m: Any, y: Any, a: Any, axis: Any = 0, dtype: Any = None) -> Any:
        require_numbers(y)
        x, axis = operand(m, a, y.dtype), int(axis) % a.ndim
        n, reach = x.shape[axis], 1
        places = np.arange(n)
        while reach < n:
            before = m.take(x, np.where(places >= reach, places - reach, places), axis=axis)
            x = m.select(getattr(m, op)(before, x), before, x)
            reach *= 2
        return m.identity(x)

    return lower


lowers((np.maximum, "accumulate"))(_running_extreme("greater_equal"))
lowers((np.minimum, "accumulate"))(_running_extreme("less_equal"))
