"""Gathers and scatters: which entry goes where is asked of JAX itself, on an array that holds its own places."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from gradproof.frontends.jax.lower._table import ints, is_fixed, lower

NOWHERE = -1
_DROP = lax.GatherScatterMode.FILL_OR_DROP


def _own_places(shape: tuple[int, ...]) -> Any:
    return jnp.asarray(np.arange(math.prod(shape), dtype=np.int32).reshape(shape))


def _moved(m: Any, x: Any, places: Any, fill: Any) -> Any:
    """The entries of `x` at flat places; what lies outside is a constant."""
    flat = m.reshape(x, shape=(math.prod(x.shape),))
    y = m.take(flat, np.maximum(places, 0), axis=0)
    return y if (places >= 0).all() else m.select(places >= 0, y, m.constant(fill))


@lower("gather")
def _gather(m: Any, event: Any, x: Any, indices: Any) -> Any:
    if not math.prod(x.shape) or not math.prod(event.outputs[0].shape):
        return m.constant(event.outputs[0].array)
    if _is_take(event, x, indices) and not is_fixed(m, indices):
        return m.take(x, m.reshape(indices, shape=tuple(indices.shape[:-1])), axis=0)
    params = {key: value for key, value in event.attrs.items() if not key.startswith("gradproof.")}
    params["fill_value"] = NOWHERE
    own, where = _own_places(tuple(x.shape)), jnp.asarray(ints(indices))
    places = np.asarray(lax.gather_p.bind(own, where, **params))
    inside = np.asarray(lax.gather_p.bind(own, where, **{**params, "mode": _DROP})) >= 0
    if inside.all() and not is_fixed(m, indices):
        flat = m.reshape(x, shape=(math.prod(x.shape),))
        return m.take(flat, _followed(m, event, tuple(x.shape), indices, places), axis=0)
    y = _moved(m, x, places, _filled(np.asarray(event.outputs[0].array), places))
    # An index past the end reads the nearest entry. It is marked: JAX passes no gradient back from there.
    return y if inside.all() or params["mode"] == _DROP else m.select(inside, y, y)


def _filled(returned: Any, places: Any) -> Any:
    """What stands for entries that lie outside, in every place: NaN, where it is written down, is known by that."""
    outside = returned[places < 0]
    return np.full_like(returned, outside[0]) if outside.size else returned


def _followed(m: Any, event: Any, shape: tuple[int, ...], indices: Any, places: Any) -> Any:
    """The flat places by arithmetic on the indices: where these are computed, as pixels are, they go along."""
    d = event.attrs["dimension_numbers"]
    batch = tuple(1 if k in d.offset_dims else n for k, n in enumerate(places.shape))
    dtype = np.asarray(indices.value).dtype
    rest, moved = places.astype(dtype), None
    for column, axis in enumerate(d.start_index_map):
        index = m.take(indices, np.asarray([column]), axis=indices.ndim - 1)
        part = m.mul(
            m.reshape(index, shape=batch), m.constant(np.asarray(math.prod(shape[axis + 1 :]), dtype))
        )
        rest = rest - part.value
        moved = part if moved is None else m.add(moved, part)
    return m.add(m.broadcast(moved, shape=places.shape), m.constant(rest))


def _is_take(event: Any, x: Any, indices: Any) -> bool:
    """Whether whole rows are taken along the first axis, by indices that all lie inside."""
    d = event.attrs["dimension_numbers"]
    n_batch = indices.ndim - 1
    rows = tuple(range(n_batch, n_batch + x.ndim - 1))
    is_plain = (tuple(d.collapsed_slice_dims), tuple(d.start_index_map), tuple(d.offset_dims)) == (
        (0,),
        (0,),
        rows,
    )
    whole = tuple(event.attrs["slice_sizes"]) == (1, *x.shape[1:])
    where = ints(indices)
    return (
        is_plain
        and whole
        and not d.operand_batching_dims
        and bool(((where >= 0) & (where < x.shape[0])).all())
    )


def _targets(event: Any, x: Any, indices: Any, updates: Any) -> np.ndarray[Any, Any]:
    """For every entry of the updates, the flat place that it goes to, or nowhere."""
    d = event.attrs["dimension_numbers"]
    sizes, window = [], iter(d.update_window_dims)
    for axis in range(x.ndim):
        is_one = axis in d.inserted_window_dims or axis in d.operand_batching_dims
        sizes.append(1 if is_one else updates.shape[next(window)])
    numbers = lax.GatherDimensionNumbers(
        offset_dims=d.update_window_dims,
        collapsed_slice_dims=d.inserted_window_dims,
        start_index_map=d.scatter_dims_to_operand_dims,
        operand_batching_dims=d.operand_batching_dims,
        start_indices_batching_dims=d.scatter_indices_batching_dims,
    )
    # An index that was promised to lie inside and does not: a gather moves it there, a scatter drops its update.
    mode = event.attrs["mode"]
    mode = _DROP if mode == lax.GatherScatterMode.PROMISE_IN_BOUNDS else mode
    places = lax.gather(
        _own_places(tuple(x.shape)), jnp.asarray(ints(indices)), numbers, tuple(sizes),
        mode=mode, fill_value=NOWHERE,
    )  # fmt: skip
    return np.asarray(places)


def _scattered(m: Any, event: Any, x: Any, indices: Any, updates: Any) -> tuple[Any, Any, Any]:
    """Flattened: the array, the places that are hit, and the updates for them."""
    places = _targets(event, x, indices, updates).reshape(-1)
    hit = np.nonzero(places >= 0)[0]
    flat = m.take(m.reshape(updates, shape=(math.prod(updates.shape),)), hit, axis=0)
    return m.reshape(x, shape=(math.prod(x.shape),)), places[hit], flat


@lower("scatter-add", "scatter_add")
def _scatter_add(m: Any, event: Any, x: Any, indices: Any, updates: Any) -> Any:
    flat, places, values = _scattered(m, event, x, indices, updates)
    summed = m.scatter_add(values, places, size=math.prod(x.shape))
    return m.reshape(m.add(flat, summed), shape=tuple(x.shape))


@lower("scatter-sub", "scatter_sub")
def _scatter_sub(m: Any, event: Any, x: Any, indices: Any, updates: Any) -> Any:
    flat, places, values = _scattered(m, event, x, indices, updates)
    summed = m.scatter_add(values, places, size=math.prod(x.shape))
    return m.reshape(m.sub(flat, summed), shape=tuple(x.shape))


@lower("scatter")
def _scatter(m: Any, event: Any, x: Any, indices: Any, updates: Any) -> Any:
    flat, places, values = _scattered(m, event, x, indices, updates)
    return m.reshape(m.scatter_update(flat, places[:, None], values), shape=tuple(x.shape))


def _combined(name: str, combine: Any) -> None:
    """What hits one place several times is combined one after the other: the order does not matter."""

    @lower(name)
    def combined(m: Any, event: Any, x: Any, indices: Any, updates: Any) -> Any:
        flat, places, values = _scattered(m, event, x, indices, updates)
        for turn in _turns(places):
            at = places[turn]
            new = combine(m, m.take(flat, at, axis=0), m.take(values, turn, axis=0))
            flat = m.scatter_update(flat, at[:, None], new)
        return m.reshape(flat, shape=tuple(x.shape))


def _turns(places: Any) -> list[Any]:
    """The first hits of all places, then the second ones, and so on; each as indices."""
    order = np.argsort(places, kind="stable")
    ranked = places[order]
    begins = np.concatenate(([True], ranked[1:] != ranked[:-1])) if len(ranked) else np.zeros(0, bool)
    first = np.maximum.accumulate(np.where(begins, np.arange(len(ranked)), 0))
    rank = np.empty(len(places), int)
    rank[order] = np.arange(len(ranked)) - first
    return [np.nonzero(rank == turn)[0] for turn in range(int(rank.max(initial=-1)) + 1)]


_combined("scatter-mul", lambda m, a, b: m.mul(a, b))
_combined("scatter_mul", lambda m, a, b: m.mul(a, b))
_combined("scatter-max", lambda m, a, b: m.select(m.greater_equal(a, b), a, b))
_combined("scatter_max", lambda m, a, b: m.select(m.greater_equal(a, b), a, b))
_combined("scatter-min", lambda m, a, b: m.select(m.less_equal(a, b), a, b))
_combined("scatter_min", lambda m, a, b: m.select(m.less_equal(a, b), a, b))
