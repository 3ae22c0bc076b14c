"""Reductions and running sums."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.recipes import reduce as recipes
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


def _extreme(name: str, decision: str) -> None:
    @lower(name)
    def extreme(m: Any, event: Any, x: Any, axes: Any) -> Any:
        return recipes.extreme(m, x, axes_of(axes, x), decision, event.outputs[0].shape)


_extreme("Max", "argmax")
_extreme("Min", "argmin")


def _logical(name: str, op: str) -> None:
    @lower(name)
    def logical(m: Any, event: Any, x: Any, axes: Any) -> Any:
        return recipes.joined(m, x, axes_of(axes, x), op, event.outputs[0].shape)


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
