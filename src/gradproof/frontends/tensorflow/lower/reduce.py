"""Reductions and running sums."""

from __future__ import annotations

import math
from typing import Any

from gradproof.frontends.tensorflow.lower._table import axes_of, ints, lower


def _reduction(name: str, op: str) -> None:
    @lower(name)
    def reduction(m: Any, event: Any, x: Any, axes: Any) -> Any:
        return m.reshape(getattr(m, op)(x, axes=axes_of(axes, x)), shape=event.outputs[0].shape)


_reduction("Sum", "sum")
_reduction("Mean", "mean")
_reduction("Prod", "prod")


@lower("EuclideanNorm")
def _norm(m: Any, event: Any, x: Any, axes: Any) -> Any:
    squares = m.mul(x, m.conj(x))
    return m.reshape(m.sqrt(m.sum(squares, axes=axes_of(axes, x))), shape=event.outputs[0].shape)


def _reduced_last(m: Any, x: Any, reduced: tuple[int, ...]) -> Any:
    """The axes to be reduced moved to the end and made one."""
    kept = tuple(axis for axis in range(x.ndim) if axis not in reduced)
    shape = (*(x.shape[axis] for axis in kept), math.prod(x.shape[axis] for axis in reduced))
    return m.reshape(m.transpose(x, order=(*kept, *reduced)), shape=shape)


def _extreme(name: str, decision: str) -> None:
    """A maximum is a decision, which entry is largest, and the entry it names."""

    @lower(name)
    def extreme(m: Any, event: Any, x: Any, axes: Any) -> Any:
        reduced = axes_of(axes, x)
        if not reduced:
            return m.identity(x)
        rows = _reduced_last(m, x, reduced)
        place = getattr(m, decision)(rows, axis=rows.ndim - 1)
        best = m.take_along(rows, m.reshape(place, shape=(*place.shape, 1)), axis=rows.ndim - 1)
        return m.reshape(best, shape=event.outputs[0].shape)


_extreme("Max", "argmax")
_extreme("Min", "argmin")


def _logical(name: str, op: str) -> None:
    """Halves are joined until one entry is left."""

    @lower(name)
    def logical(m: Any, event: Any, x: Any, axes: Any) -> Any:
        rows = _reduced_last(m, x, axes_of(axes, x))
        last = rows.ndim - 1
        while (n := rows.shape[last]) > 1:
            lead = (0,) * last
            first = m.strided_slice(rows, begin=(*lead, 0), end=(*rows.shape[:last], (n + 1) // 2))
            second = m.strided_slice(rows, begin=(*lead, n // 2), end=tuple(rows.shape))
            rows = getattr(m, op)(first, second)
        return m.reshape(rows, shape=event.outputs[0].shape)


_logical("All", "logical_and")
_logical("Any", "logical_or")


@lower("Cumsum")
def _cumsum(m: Any, event: Any, x: Any, axis: Any) -> Any:
    return m.cumsum(x, axis=ints(axis)[0] % x.ndim, **_running(event))


@lower("Cumprod")
def _cumprod(m: Any, event: Any, x: Any, axis: Any) -> Any:
    return m.cumprod(x, axis=ints(axis)[0] % x.ndim, **_running(event))


def _running(event: Any) -> dict[str, bool]:
    return {"exclusive": bool(event.attrs["exclusive"]), "reverse": bool(event.attrs["reverse"])}
