"""What meets at a place, in a segment or in a bag: sums, means, products and extremes of groups of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import ints, lower, number, shape_of
from gradproof.frontends.torch.lower._transposed import confirmed, gradients
from gradproof.frontends.torch.lower.index import first_entries, flat, places_along, rows_along

_MODES = ("sum", "mean", "max")  # of a bag, as PyTorch counts them


def _reduced(m: Any, rows: Any, groups: Any, size: int, reduce: str) -> Any:
    """One row for each group; of a group without rows only the sum and the product are numbers."""
    if reduce == "prod":
        return m.segment_prod(rows, groups, size=size)
    if reduce in ("amax", "amin", "max", "min"):
        pick = m.segment_argmax if reduce.endswith("max") else m.segment_argmin
        return m.take_along(rows, pick(rows, groups, size=size), axis=0)
    total = m.scatter_add(rows, groups, size=size)
    if reduce == "sum":
        return total
    if reduce != "mean":
        raise NotImplementedError(f"groups reduced by {reduce}")
    return m.div(total, m.literal(_counts(groups, size, rows.ndim).astype(np.float64)))


def _counts(groups: Any, size: int, rank: int) -> Any:
    """How many rows a group has, 1 where it has none."""
    return np.maximum(np.bincount(groups, minlength=size), 1).reshape(size, *(1,) * (rank - 1))


def _met(m: Any, x: Any, places: Any, entries: Any, reduce: str, include_self: bool) -> Any:
    """`x` with what comes to its places; what was there counts where nothing comes, or where it is included."""
    size = math.prod(x.shape)
    places = places.reshape(-1)
    stays = np.arange(size) if include_self else np.setdiff1d(np.arange(size), places)
    rows = m.concat(m.take(flat(m, x), stays, axis=0), flat(m, entries), axis=0)
    return m.reshape(_reduced(m, rows, np.concatenate([stays, places]), size, reduce), shape=x.shape)


@lower("scatter_reduce")
def _scatter_reduce(
    m: Any, e: Any, x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Any:
    places = places_along(ints(index), x.shape, dim % max(x.ndim, 1))
    return _met(m, x, places, first_entries(m, source, places.shape), reduce, include_self)


@lower("index_reduce")
def _index_reduce(
    m: Any, e: Any, x: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool = True
) -> Any:
    return _met(m, x, rows_along(x.shape, dim, index), source, reduce, include_self)


def _segments(lengths: Any, offsets: Any, n: int) -> tuple[Any, Any, int]:
    """(rows that belong to a segment, the segment of each, how many segments), all stacks in one row."""
    counts = np.diff(ints(offsets), axis=-1) if lengths is None else ints(lengths)
    first = 0 if lengths is not None else ints(offsets)[..., :1].reshape(-1, 1)
    stacks = counts.reshape(-1, counts.shape[-1])
    rows, groups = [], []
    for k, own in enumerate(stacks):
        begin = k * n + int(np.broadcast_to(first, (len(stacks), 1))[k, 0])
        rows.append(begin + np.arange(own.sum()))
        groups.append(k * own.size + np.repeat(np.arange(own.size), own))
    return np.concatenate(rows), np.concatenate(groups), stacks.size


def _by_segment(m: Any, data: Any, reduce: str, parts: Any, axis: int, initial: Any, shape: Any) -> Any:
    lengths, offsets, empty = parts
    lead, rest = math.prod(data.shape[: axis + 1]), tuple(data.shape[axis + 1 :])
    rows, groups, size = _segments(lengths, offsets, data.shape[axis])
    taken = m.take(m.reshape(data, shape=(lead, *rest)), rows, axis=0)
    if initial is not None:  # as one more row of every segment, which a mean does not count
        begin = m.broadcast(number(m, float(initial), data), shape=(size, *rest))
        joined = m.concat(begin, taken, axis=0)
        kind = "sum" if reduce == "mean" else reduce
        found = _reduced(m, joined, np.concatenate([np.arange(size), groups]), size, kind)
        if reduce == "mean":
            found = m.div(found, m.literal(_counts(groups, size, found.ndim).astype(np.float64)))
        return m.reshape(found, shape=shape)
    found = _reduced(m, taken, groups, size, reduce) if rows.size else m.zeros((size, *rest))
    if reduce in ("sum", "prod") and rows.size:
        return m.reshape(found, shape=shape)
    has_rows = (np.bincount(groups, minlength=size) > 0).reshape(size, *(1,) * len(rest))
    return m.reshape(m.select(has_rows, found, m.reshape(empty, shape=found.shape)), shape=shape)


@lower("segment_reduce")
def _segment_reduce(
    m: Any, e: Any, data: Any, reduce: str, lengths: Any = None, indices: Any = None, offsets: Any = None,
    axis: int = 0, unsafe: Any = False, initial: Any = None,
) -> Any:  # fmt: skip
    if indices is not None:
        raise NotImplementedError("segments given by indices")
    parts = (lengths, offsets, m.constant(e.outputs[0].array))
    return _by_segment(m, data, reduce, parts, axis, initial, shape_of(e))


@lower("_segment_reduce_backward")
def _segment_reduce_backward(
    m: Any, e: Any, gy: Any, y: Any, data: Any, reduce: str, lengths: Any = None, offsets: Any = None,
    axis: int = 0, initial: Any = None,
) -> Any:  # fmt: skip
    parts = (lengths, offsets, m.constant(y.value))

    def forward(x: Any) -> Any:
        return _by_segment(m, x, reduce, parts, axis, initial, tuple(y.shape))

    return confirmed(e, gradients(m, forward, [data], [gy]))


def _bags(index: Any, offsets: Any, last: Any, padding: int) -> tuple[Any, Any, int]:
    """(which places count, the bag of each, how many bags)."""
    places, starts = ints(index), ints(offsets)
    size = starts.size - (1 if last else 0)
    bags = np.searchsorted(starts[:size], np.arange(places.size), side="right") - 1
    counted = np.flatnonzero(places != padding) if padding >= 0 else np.arange(places.size)
    return counted, bags[counted], size


def _bag_sums(m: Any, weight: Any, index: Any, bags: tuple[Any, Any, int], mode: int, weights: Any) -> Any:
    counted, groups, size = bags
    if not counted.size:
        return m.mul(m.take(weight, np.zeros(size, np.int64), axis=0), m.zeros(()))
    rows = m.take(weight, ints(index)[counted], axis=0)
    if weights is not None:
        rows = m.mul(rows, m.reshape(m.take(weights, counted, axis=0), shape=(counted.size, 1)))
    found = _reduced(m, rows, groups, size, _MODES[mode])
    has_rows = np.bincount(groups, minlength=size) > 0
    return found if has_rows.all() else m.select(has_rows[:, None], found, m.zeros(()))


@lower("_embedding_bag", "_embedding_bag_forward_only")
def _embedding_bag(
    m: Any, e: Any, weight: Any, index: Any, offsets: Any, by_frequency: Any = False, mode: int = 0,
    sparse: Any = False, weights: Any = None, last: Any = False, padding: int = -1,
) -> Any:  # fmt: skip
    """(one row for each bag, and what the backward op is given)."""
    if by_frequency:
        raise NotImplementedError("gradients that are divided by how often a row was read")
    total = _bag_sums(m, weight, index, _bags(index, offsets, last, padding), mode, weights)
    return (total, *(m.constant(np.asarray(output.array)) for output in e.outputs[1:]))


@lower("_embedding_bag_backward", "_embedding_bag_dense_backward")
def _embedding_bag_backward(m: Any, e: Any, gy: Any, index: Any, *rest: Any) -> Any:
    """For the table, row by row as the bags were filled."""
    rest = rest if "dense" not in e.op else (None, *rest)
    offsets, own_bag, bag_size, largest, n_rows, by_frequency, mode, *more = rest
    weights, padding = (more[-2], more[-1]) if isinstance(more[-1], int) else (more[-1], -1)
    places, bags = ints(index), ints(own_bag)
    if bags.size != places.size:  # not made where the forward op did without them
        bags = _bags(index, offsets, False, -1)[1]
    if mode == 2:  # the row that was largest, column by column; an empty bag has none
        rows = ints(largest)
        counts = np.broadcast_to(ints(bag_size)[: rows.shape[0], None] > 0, rows.shape)
        gy = m.mul(gy, m.literal(counts.astype(np.float64)))
        return m.scatter_along(gy, np.where(counts, rows, 0), axis=0, size=n_rows)
    scale = np.ones(places.size)
    if mode == 1:
        scale = scale / np.maximum(ints(bag_size)[bags], 1)
    if by_frequency:
        scale = scale / np.maximum(np.bincount(places, minlength=n_rows)[places], 1)
    scale = np.where(places == padding, 0.0, scale) if padding >= 0 else scale
    rows = m.mul(m.take(gy, bags, axis=0), m.literal(scale[:, None]))
    if weights is not None:
        rows = m.mul(rows, m.reshape(weights, shape=(places.size, 1)))
    return m.scatter_add(rows, places, size=n_rows)


@lower("_embedding_bag_per_sample_weights_backward")
def _embedding_bag_weights_backward(
    m: Any, e: Any, gy: Any, weight: Any, index: Any, offsets: Any, own_bag: Any, mode: int, padding: int = -1
) -> Any:
    product = m.mul(m.take(gy, ints(own_bag), axis=0), m.take(weight, ints(index), axis=0))
    found = m.sum(product, axes=(1,))
    return m.select(ints(index) != padding, found, m.zeros(())) if padding >= 0 else found
