"""Reading and writing entries at integer places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.frontends.torch.lower._table import ints, lower, number, shape_of
from gradproof.frontends.torch.lower.shape import put_at
from gradproof.ir.shapes import joint_shape, jointly


def flat(m: Any, x: Any) -> Any:
    return m.reshape(x, shape=(math.prod(x.shape),))


def _indexed(shape: Sequence[int], indices: Sequence[Any]) -> np.ndarray[Any, Any]:
    """The flat places that advanced indexing reads, in the shape of its result; None stands for a whole axis."""
    places = np.arange(math.prod(shape)).reshape(tuple(shape))
    return np.asarray(places[tuple(slice(None) if one is None else ints(one) for one in indices)])


@lower("index", "_unsafe_index")
def _index(m: Any, e: Any, x: Any, indices: Sequence[Any]) -> Any:
    given = [(axis, one) for axis, one in enumerate(indices) if one is not None]
    if len(given) == 1 and given[0][1].value.dtype.kind != "b":
        axis, one = given[0]
        return m.take(x, one, axis=axis)
    places = _indexed(x.shape, indices)
    if all(m.is_constant(one) or one.value.dtype.kind == "b" for _, one in given):
        return m.take(flat(m, x), places, axis=0)
    return m.take(flat(m, x), _followed(m, x.shape, given, places), axis=0)


def _followed(m: Any, shape: Sequence[int], given: Sequence[tuple[int, Any]], places: Any) -> Any:
    """The flat places by arithmetic on the indices: where these are computed, as pixels are, they go along."""
    joint = joint_shape(*(one.shape for _, one in given))
    axes = [axis for axis, _ in given]
    # Indices side by side stay where they are; others go to the front.
    n_behind = places.ndim - len(joint) - (axes[0] if axes[-1] - axes[0] == len(axes) - 1 else 0)
    moved = m.constant(np.zeros((), np.int64))
    for axis, one in given:
        moved = m.add(moved, m.mul(one, m.constant(np.asarray(math.prod(shape[axis + 1 :]), np.int64))))
    moved = m.reshape(moved, shape=(*joint, *(1,) * n_behind))
    return m.add(m.broadcast(moved, shape=places.shape), m.constant(places - moved.value))


@lower("index_put", "_index_put_impl", "_unsafe_index_put")
def _index_put(
    m: Any, e: Any, x: Any, indices: Sequence[Any], values: Any, accumulate: Any = False, *_: Any
) -> Any:
    places = _indexed(x.shape, indices)
    if not accumulate:
        return put_at(m, x, places, values)
    entries = flat(m, m.broadcast(values, shape=places.shape))
    added = m.scatter_add(entries, places.reshape(-1), size=math.prod(x.shape))
    return m.add(x, m.reshape(added, shape=x.shape))


@lower("index_select")
def _index_select(m: Any, e: Any, x: Any, dim: int, index: Any) -> Any:
    if not x.ndim:
        return m.reshape(x, shape=shape_of(e)) if shape_of(e) else m.identity(x)
    index = index if index.ndim else m.reshape(index, shape=(1,))
    return m.take(x, index, axis=dim % x.ndim)


@lower("index_select_backward")
def _index_select_backward(m: Any, e: Any, gy: Any, sizes: Sequence[int], dim: int, index: Any) -> Any:
    return _index_add(m, e, m.zeros(tuple(sizes)), dim, index, gy)


def rows_along(shape: Sequence[int], dim: int, index: Any) -> np.ndarray[Any, Any]:
    """Flat places in an array of `shape` of all that an index names whole along one axis."""
    places = np.arange(math.prod(shape)).reshape(tuple(shape) or (1,))
    return np.asarray(np.take(places, ints(index).reshape(-1), axis=dim % max(len(shape), 1)))


@lower("index_add")
def _index_add(m: Any, e: Any, x: Any, dim: int, index: Any, source: Any, alpha: Any = 1) -> Any:
    places = rows_along(x.shape, dim, index)
    entries = flat(m, source if alpha == 1 else m.mul(source, number(m, alpha, source)))
    added = m.scatter_add(entries, places.reshape(-1), size=math.prod(x.shape))
    return m.add(x, m.reshape(added, shape=x.shape))


@lower("index_copy")
def _index_copy(m: Any, e: Any, x: Any, dim: int, index: Any, source: Any) -> Any:
    places = rows_along(x.shape, dim, index)
    return put_at(m, x, places, m.reshape(source, shape=places.shape))


@lower("index_fill")
def _index_fill(m: Any, e: Any, x: Any, dim: int, index: Any, value: Any) -> Any:
    places = rows_along(x.shape, dim, index)
    return put_at(m, x, places, number(m, value, x))


def places_along(index: np.ndarray[Any, Any], shape: Sequence[int], axis: int) -> np.ndarray[Any, Any]:
    """Flat places in an array of `shape` that an index along one axis names."""
    if not shape or not index.size:
        return np.zeros(index.shape, np.int64)
    if not index.ndim:
        return np.asarray(index % shape[0])
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)])
    grid[axis] = np.where(index < 0, index + shape[axis], index)
    return np.asarray(np.ravel_multi_index(jointly(*grid), tuple(shape)))


@lower("gather")
def _gather(m: Any, e: Any, x: Any, dim: int, index: Any, sparse_grad: Any = False) -> Any:
    axis = dim % max(x.ndim, 1)
    alike = all(n == k for j, (n, k) in enumerate(zip(x.shape, index.shape)) if j != axis)
    if alike and x.ndim == index.ndim and x.ndim:
        return m.take_along(x, index, axis=axis)
    places = places_along(ints(index), x.shape, axis)
    return m.reshape(m.take(flat(m, x), places, axis=0), shape=shape_of(e))


@lower("take_along_dim")
def _take_along_dim(m: Any, e: Any, x: Any, index: Any, dim: Any = None) -> Any:
    if dim is None:
        return m.take(flat(m, x), ints(index).reshape(-1), axis=0)
    return _gather(m, e, x, dim, index)


@lower("take")
def _take(m: Any, e: Any, x: Any, index: Any) -> Any:
    return m.take(flat(m, x), index, axis=0)


@lower("put")
def _put_op(m: Any, e: Any, x: Any, index: Any, source: Any, accumulate: Any = False) -> Any:
    places = ints(index) % math.prod(x.shape)
    if not accumulate:
        return put_at(m, x, places, m.reshape(source, shape=places.shape))
    added = m.scatter_add(flat(m, source), places.reshape(-1), size=math.prod(x.shape))
    return m.add(x, m.reshape(added, shape=x.shape))


@lower("scatter", "scatter.src", "scatter.value")
def _scatter(m: Any, e: Any, x: Any, dim: int, index: Any, source: Any, reduce: Any = None) -> Any:
    if reduce is not None:
        raise NotImplementedError("scatter with a reduction")
    places = places_along(ints(index), x.shape, dim % max(x.ndim, 1))
    if not places.size:
        return m.identity(x)
    if not isinstance(source, Traced):
        return put_at(m, x, places, number(m, source, x))
    return put_at(m, x, places, first_entries(m, source, places.shape))


def first_entries(m: Any, x: Any, shape: Sequence[int]) -> Any:
    """As many entries of every axis as the index has."""
    if tuple(x.shape) == tuple(shape) or not x.ndim:
        return x
    return m.strided_slice(x, begin=(0,) * x.ndim, end=tuple(shape))


@lower("scatter_add")
def _scatter_add(m: Any, e: Any, x: Any, dim: int, index: Any, source: Any) -> Any:
    places = places_along(ints(index), x.shape, dim % max(x.ndim, 1))
    if not places.size:
        return m.identity(x)
    entries = flat(m, first_entries(m, source, places.shape))
    added = m.scatter_add(entries, places.reshape(-1), size=math.prod(x.shape))
    return m.add(x, m.reshape(added, shape=x.shape))


@lower("embedding")
def _embedding(
    m: Any, e: Any, weight: Any, index: Any, padding: int = -1, by_frequency: Any = False, sparse: Any = False
) -> Any:
    """Rows at the place of padding are constant: that is what the argument says."""
    if by_frequency:
        raise NotImplementedError("gradients that are divided by how often a row was read")
    rows = m.take(weight, index, axis=0)
    pads = ints(index) == padding
    return m.select(pads[..., None], m.stop_gradient(rows), rows) if padding >= 0 and pads.any() else rows


@lower("embedding_dense_backward")
def _embedding_backward(
    m: Any, e: Any, gy: Any, index: Any, n_rows: int, padding: int, by_frequency: Any
) -> Any:
    places = ints(index).reshape(-1)
    rows = m.reshape(gy, shape=(places.size, gy.shape[-1]))
    keep = np.ones(places.size) if padding < 0 else (places != padding).astype(float)
    if by_frequency:
        keep = keep / np.maximum(np.bincount(places, minlength=n_rows)[places], 1)
    if (keep != 1.0).any():
        rows = m.mul(rows, m.literal(keep[:, None]))
    return m.scatter_add(rows, places, size=n_rows)


@lower("masked_select")
def _masked_select(m: Any, e: Any, x: Any, mask: Any) -> Any:
    shape = joint_shape(x.shape, mask.shape)
    wide, chosen = m.broadcast(x, shape=shape), np.broadcast_to(ints(mask), shape)
    return m.take(flat(m, wide), np.flatnonzero(chosen), axis=0)


@lower("masked_scatter")
def _masked_scatter(m: Any, e: Any, x: Any, mask: Any, source: Any) -> Any:
    shape = joint_shape(x.shape, mask.shape)
    x, chosen = m.broadcast(x, shape=shape), np.flatnonzero(np.broadcast_to(ints(mask), shape))
    return put_at(m, x, chosen, m.take(flat(m, source), np.arange(chosen.size), axis=0))


@lower("masked_scatter_backward")
def _masked_scatter_backward(m: Any, e: Any, gy: Any, mask: Any, sizes: Sequence[int]) -> Any:
    chosen = np.flatnonzero(np.broadcast_to(ints(mask), gy.shape))
    taken = m.take(flat(m, gy), chosen, axis=0)  # what was left over of the source gets nothing
    return m.reshape(
        put_at(m, m.zeros((math.prod(sizes),)), np.arange(chosen.size), taken), shape=tuple(sizes)
    )


@lower("repeat_interleave")
def _repeat_interleave(m: Any, e: Any, repeats: Any, *_: Any, **__: Any) -> Any:
    return m.constant(np.asarray(e.outputs[0].array))


@lower("one_hot", "nonzero", "bincount", "bucketize", "searchsorted", "unique", "_unique", "_unique2", "histc",
       "unique_dim", "unique_consecutive", "_local_scalar_dense")  # fmt: skip
def _facts(m: Any, e: Any, *_: Any, **__: Any) -> Any:
    return tuple(m.constant(np.asarray(output.array)) for output in e.outputs)


@lower("_pack_padded_sequence")
def _packed(m: Any, e: Any, x: Any, lengths: Any, batch_first: bool = False) -> Any:
    """Step by step the rows of all examples that have not ended; how many there are is no number to differentiate."""
    own = ints(lengths).reshape(-1)
    steps = [(k, t) for t in range(int(own.max(initial=0))) for k in range(len(own)) if own[k] > t]
    rows = [k * x.shape[1] + t if batch_first else t * x.shape[1] + k for k, t in steps]
    flat = m.reshape(x, shape=(x.shape[0] * x.shape[1], *x.shape[2:]))
    return m.take(flat, np.asarray(rows, np.int64), axis=0), m.constant(e.outputs[1].array)
