"""Reductions, running sums and orders."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.jax.lower._table import is_discrete, lower
from gradproof.frontends.recipes import reduce as recipes


def _axes(event: Any) -> tuple[int, ...]:
    return tuple(event.attrs["axes"])


@lower("reduce_sum")
def _sum(m: Any, event: Any, x: Any) -> Any:
    return m.constant(event.outputs[0].array) if is_discrete(x) else m.sum(x, axes=_axes(event))


@lower("psum")
def _psum(m: Any, event: Any, *xs: Any) -> Any:
    """Over an axis that `vmap` has named, as normalisation over a batch does; over devices it stays opaque."""
    axes = tuple(event.attrs["axes"])
    if event.attrs.get("axis_index_groups") is not None or not all(isinstance(axis, int) for axis in axes):
        raise NotImplementedError("a sum over devices")
    return tuple(
        m.constant(output.array) if is_discrete(x) else m.sum(x, axes=axes)
        for x, output in zip(xs, event.outputs)
    )


@lower("reduce_prod")
def _prod(m: Any, event: Any, x: Any) -> Any:
    if is_discrete(x):
        return m.constant(event.outputs[0].array)
    return m.reshape(m.prod(x, axes=_axes(event)), shape=event.outputs[0].shape)


def _extreme(name: str, decision: str) -> None:
    @lower(name)
    def extreme(m: Any, event: Any, x: Any) -> Any:
        if is_discrete(x):
            return m.constant(event.outputs[0].array)
        return recipes.extreme(m, x, _axes(event), decision, event.outputs[0].shape)


_extreme("reduce_max", "argmax")
_extreme("reduce_min", "argmin")


def _logical(name: str, op: str) -> None:
    @lower(name)
    def logical(m: Any, event: Any, x: Any) -> Any:
        return recipes.joined(m, x, _axes(event), op, event.outputs[0].shape)


_logical("reduce_and", "logical_and")
_logical("reduce_or", "logical_or")


def _running(name: str, op: str) -> None:
    @lower(name)
    def running(m: Any, event: Any, x: Any) -> Any:
        if is_discrete(x):
            return m.constant(event.outputs[0].array)
        reverse = bool(event.attrs["reverse"])
        return getattr(m, op)(x, axis=int(event.attrs["axis"]), exclusive=False, reverse=reverse)


_running("cumsum", "cumsum")
_running("cumprod", "cumprod")


def _running_extreme(name: str, op: str) -> None:
    """Every entry is the larger of itself and what came before it."""

    @lower(name)
    def running(m: Any, event: Any, x: Any) -> Any:
        axis, reverse = int(event.attrs["axis"]), bool(event.attrs["reverse"])
        rows = [m.take(x, np.asarray([k]), axis=axis) for k in range(x.shape[axis])]
        best = rows[-1] if reverse else rows[0]
        found = [best]
        for row in reversed(rows[:-1]) if reverse else rows[1:]:
            best = m.select(getattr(m, op)(row, best), row, best)
            found.append(best)
        return m.concat(*(reversed(found) if reverse else found), axis=axis)


_running_extreme("cummax", "greater")
_running_extreme("cummin", "less")


@lower("cumlogsumexp")
def _cumlogsumexp(m: Any, event: Any, x: Any) -> Any:
    return m.cumlogsumexp(
        x, axis=int(event.attrs["axis"]), exclusive=False, reverse=bool(event.attrs["reverse"])
    )


@lower("sort")
def _sort(m: Any, event: Any, *xs: Any) -> Any:
    """The first operand decides; the others are carried along."""
    axis, n_keys = int(event.attrs["dimension"]), int(event.attrs["num_keys"])
    if n_keys != 1:
        raise NotImplementedError("a sort by several keys")
    if is_discrete(xs[0]):
        order = m.constant(np.argsort(xs[0].value, axis=axis, kind="stable"))
    else:
        order = m.argsort(xs[0], axis=axis)
    return tuple(m.take_along(x, order, axis=axis) for x in xs)


@lower("top_k")
def _top_k(m: Any, event: Any, x: Any) -> Any:
    axis = int(event.attrs.get("axis", -1)) % x.ndim
    places = m.top_k(x, k=int(event.attrs["k"]), axis=axis)
    return m.take_along(x, places, axis=axis), m.cast(places, dtype=event.outputs[1].dtype)


@lower("approx_top_k")
def _approx_top_k(m: Any, event: Any, x: Any) -> Any:
    """Which entries were taken is a fact of the run: it promises no more than that most of them are the largest."""
    places, axis = np.asarray(event.outputs[1].array), int(event.attrs["reduction_dimension"]) % x.ndim
    taken = m.take_along(x, places.astype(np.int64), axis=axis)
    return taken, m.constant(places)
