"""Reductions over groups of rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import ints, lower

# What a group without rows is worth: `SegmentMax` says 0, `UnsortedSegmentMax` the lowest number of the dtype.


def _rows(m: Any, x: Any, groups: Any) -> tuple[Any, Any]:
    """The axes that the groups number made one."""
    flat = np.asarray(groups.value).reshape(-1)
    return m.reshape(x, shape=(math.prod(groups.shape), *x.shape[groups.ndim :])), flat


def _counts(groups: Any, size: int, ndim: int) -> Any:
    """How many rows each group has, in a shape that broadcasts over rows; as floats, so that they can divide."""
    counts = np.bincount(groups, minlength=size)[:size].astype(np.float64)
    return counts.reshape(size, *(1,) * (ndim - 1))


def _kept(m: Any, event: Any, x: Any, groups: Any) -> tuple[Any, Any, int]:
    """Rows, their groups and the number of groups; rows with a negative number belong to none."""
    rows, flat = _rows(m, x, groups)
    size = int(event.outputs[0].shape[0])
    keep = np.flatnonzero((flat >= 0) & (flat < size))
    if keep.size < flat.size:
        rows, flat = m.take(rows, keep, axis=0), flat[keep]
    return rows, flat, size


@lower("SegmentSum", "SegmentSumV2", "UnsortedSegmentSum")
def _segment_sum(m: Any, event: Any, x: Any, groups: Any, *_: Any) -> Any:
    rows, flat, size = _kept(m, event, x, groups)
    return m.scatter_add(rows, flat, size=size)


@lower("SegmentMean")
def _segment_mean(m: Any, event: Any, x: Any, groups: Any) -> Any:
    rows, flat, size = _kept(m, event, x, groups)
    return _scaled(m, m.scatter_add(rows, flat, size=size), _counts(flat, size, rows.ndim), "Mean")


@lower("SegmentProd", "SegmentProdV2", "UnsortedSegmentProd")
def _segment_prod(m: Any, event: Any, x: Any, groups: Any, *_: Any) -> Any:
    rows, flat, size = _kept(m, event, x, groups)
    return m.segment_prod(rows, flat, size=size)


def _segment_extreme(decision: str, *names: str) -> None:
    @lower(*names)
    def segment_extreme(m: Any, event: Any, x: Any, groups: Any, *_: Any) -> Any:
        rows, flat, size = _kept(m, event, x, groups)
        best = m.take_along(rows, getattr(m, decision)(rows, flat, size=size), axis=0)
        empty = _counts(flat, size, rows.ndim) == 0
        # A fact of the kernel, read off its result: no row has a say in it.
        fill = np.where(empty, event.outputs[0].array, 0).astype(x.value.dtype)
        return m.select(np.broadcast_to(empty, best.shape), m.constant(fill), best) if empty.any() else best


_segment_extreme("segment_argmax", "SegmentMax", "SegmentMaxV2", "UnsortedSegmentMax")
_segment_extreme("segment_argmin", "SegmentMin", "SegmentMinV2", "UnsortedSegmentMin")


def _scaled(m: Any, x: Any, counts: Any, kind: str) -> Any:
    """A sum of rows divided by their number, or by its square root."""
    divisor = m.literal(np.maximum(counts, 1.0))
    if kind == "Mean":
        return m.div(x, divisor)
    return m.div(x, m.sqrt(divisor)) if kind == "SqrtN" else x


def _sparse_segment(kind: str) -> None:
    @lower(f"SparseSegment{kind}", f"SparseSegment{kind}WithNumSegments")
    def forward(m: Any, event: Any, x: Any, indices: Any, groups: Any, *_: Any) -> Any:
        size = int(event.outputs[0].shape[0])
        flat = np.asarray(groups.value)
        rows = m.take(x, indices, axis=0)
        return _scaled(m, m.scatter_add(rows, flat, size=size), _counts(flat, size, rows.ndim), kind)

    @lower(f"SparseSegment{kind}Grad")
    def backward(m: Any, event: Any, gy: Any, indices: Any, groups: Any, n: Any) -> Any:
        flat = np.asarray(groups.value)
        share = _scaled(m, gy, _counts(flat, gy.shape[0], gy.ndim), kind)
        return m.scatter_add(m.take(share, groups, axis=0), indices, size=ints(n)[0])

    @lower(f"SparseSegment{kind}GradV2")
    def backward_of_some_rows(m: Any, event: Any, gy: Any, indices: Any, groups: Any, n: Any) -> Any:
        rows = np.asarray(event.outputs[1].array)
        whole = backward(m, event, gy, indices, groups, n)
        return m.take(whole, rows, axis=0), m.constant(rows)


for _kind in ("Sum", "Mean", "SqrtN"):
    _sparse_segment(_kind)
