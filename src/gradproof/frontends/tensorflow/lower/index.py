"""Gathering and scattering by integer places."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import ints, lower, move_axis


@lower("Gather")
def _gather(m: Any, event: Any, x: Any, indices: Any) -> Any:
    return m.take(x, indices, axis=0)


@lower("GatherV2")
def _gather_v2(m: Any, event: Any, x: Any, indices: Any, axis: Any) -> Any:
    n_batch = int(event.attrs.get("batch_dims", 0))
    along = ints(axis)[0] % x.ndim
    return take_batched(m, x, indices, along, n_batch % max(indices.ndim, 1) if n_batch < 0 else n_batch)


@lower("ResourceGather")
def _resource_gather(m: Any, event: Any, x: Any, indices: Any) -> Any:
    n_batch = int(event.attrs.get("batch_dims", 0))
    return take_batched(m, x, indices, n_batch, n_batch)


def take_batched(m: Any, x: Any, indices: Any, axis: int, n_batch: int) -> Any:
    """Slices along an axis; the first `n_batch` axes of both go together, entry by entry."""
    if n_batch == 0:
        return m.take(x, indices, axis=axis)
    batch, n = tuple(x.shape[:n_batch]), x.shape[axis]
    rows = move_axis(m, x, axis, n_batch)
    rest = tuple(rows.shape[n_batch + 1 :])
    rows = m.reshape(rows, shape=(math.prod(batch) * n, *rest))
    first = (np.arange(math.prod(batch)) * n).reshape(*batch, *(1,) * (indices.ndim - n_batch))
    taken = m.take(rows, m.add(indices, first), axis=0)
    # The axes of the indices stand where the axis was; now they stand before the axes that preceded it.
    inner = indices.ndim - n_batch
    before = axis - n_batch
    order = (
        *range(n_batch),
        *range(indices.ndim, indices.ndim + before),
        *range(n_batch, n_batch + inner),
        *range(indices.ndim + before, taken.ndim),
    )
    return m.transpose(taken, order=order)


@lower("GatherNd", "ResourceGatherNd")
def _gather_nd(m: Any, event: Any, x: Any, indices: Any) -> Any:
    return m.gather_nd(x, indices)


@lower("ScatterNd")
def _scatter_nd(m: Any, event: Any, indices: Any, updates: Any, shape: Any) -> Any:
    return m.scatter_nd(updates, indices, shape=ints(shape))


@lower("TensorScatterUpdate")
def _scatter_update(m: Any, event: Any, x: Any, indices: Any, updates: Any) -> Any:
    return m.scatter_update(x, indices, updates)


@lower("TensorScatterAdd", "ScatterNdNonAliasingAdd")
def _scatter_add(m: Any, event: Any, x: Any, indices: Any, updates: Any) -> Any:
    return x + m.scatter_nd(updates, indices, shape=x.shape)


@lower("TensorScatterSub")
def _scatter_sub(m: Any, event: Any, x: Any, indices: Any, updates: Any) -> Any:
    return x - m.scatter_nd(updates, indices, shape=x.shape)


def _scatter_extreme(name: str, decision: str) -> None:
    """The old entry and all updates of a place compete; which one wins is a decision."""

    @lower(name)
    def scatter_extreme(m: Any, event: Any, x: Any, indices: Any, updates: Any) -> Any:
        places = np.asarray(indices.value)
        depth = places.shape[-1]
        n, rest = math.prod(x.shape[:depth]), tuple(x.shape[depth:])
        flat = np.ravel_multi_index(tuple(np.moveaxis(places, -1, 0)), x.shape[:depth]).reshape(-1)
        rows = m.concat(m.reshape(x, shape=(n, *rest)), m.reshape(updates, shape=(flat.size, *rest)), axis=0)
        winner = getattr(m, decision)(rows, np.concatenate([np.arange(n), flat]), size=n)
        return m.reshape(m.take_along(rows, winner, axis=0), shape=x.shape)


_scatter_extreme("TensorScatterMax", "segment_argmax")
_scatter_extreme("TensorScatterMin", "segment_argmin")


@lower("DynamicStitch", "ParallelDynamicStitch")
def _dynamic_stitch(m: Any, event: Any, *xs: Any) -> Any:
    """Rows to the places named; of several rows for one place the last one stands."""
    indices, data = xs[: len(xs) // 2], xs[len(xs) // 2 :]
    shape = event.outputs[0].shape
    flat = np.concatenate([np.asarray(index.value).reshape(-1) for index in indices])
    origin = np.full(shape[0], -1)
    origin[flat] = np.arange(flat.size)  # NumPy, too, lets the last one stand
    if (origin < 0).any():
        raise NotImplementedError("a place that no row was given for")
    rows = [m.reshape(x, shape=(index.value.size, *shape[1:])) for index, x in zip(indices, data)]
    return m.take(m.concat(*rows, axis=0), origin, axis=0)


@lower("DynamicPartition")
def _dynamic_partition(m: Any, event: Any, x: Any, partitions: Any) -> Any:
    group = np.asarray(partitions.value).reshape(-1)
    rows = m.reshape(x, shape=(group.size, *x.shape[partitions.ndim :]))
    return tuple(m.take(rows, np.flatnonzero(group == k), axis=0) for k in range(len(event.outputs)))


@lower("OneHot")
def _one_hot(m: Any, event: Any, indices: Any, depth: Any, on: Any, off: Any) -> Any:
    hot = m.one_hot(indices, depth=ints(depth)[0])
    axis = int(event.attrs.get("axis", -1))
    return move_axis(m, m.select(hot, on, off), indices.ndim, indices.ndim if axis == -1 else axis)
