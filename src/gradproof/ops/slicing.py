"""Ops that cut out or surround: slices, padding, diagonals, bands."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ops._op import ANY, Sample, op

_MATRIX = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))
_ROW = (0.5, -2.0, 7.0, 3.0)

Widths = tuple[tuple[int, int], ...]


def _places(n: int, begin: int, end: int, stride: int) -> slice:
    """The entries begin, begin + stride, ... before end, counted from the front as `range` counts them.

    With a negative stride an end of -1 includes the first entry; Python would count it from the back.
    """
    count = len(range(begin, end, stride))
    if count and not (0 <= begin < n and 0 <= begin + (count - 1) * stride < n):
        raise ValueError(f"slice {begin}:{end}:{stride} reaches outside an axis of length {n}")
    if not count:
        return slice(0, 0)
    end = begin + count * stride
    return slice(begin, None if end < 0 else end, stride)


def _ones(stride: tuple[int, ...] | None, ndim: int) -> tuple[int, ...]:
    return (1,) * ndim if stride is None else stride


def _window(
    shape: tuple[int, ...], begin: tuple[int, ...], end: tuple[int, ...], stride: tuple[int, ...]
) -> tuple[Any, ...]:
    """What a slice takes; the dots keep one number an array, which NumPy would put into another as a whole."""
    return (*(_places(*entry) for entry in zip(shape, begin, end, stride, strict=True)), ...)


def _strided_slice(
    m: Any, x: Any, begin: tuple[int, ...], end: tuple[int, ...], stride: tuple[int, ...] | None = None
) -> Any:
    where = _window(x.shape, begin, end, _ones(stride, x.ndim))
    return m.domain.lift(lambda v: v[where], x)


def _strided_slice_pullback(
    m: Any, i: int, gy: Any, y: Any, x: Any,
    begin: tuple[int, ...], end: tuple[int, ...], stride: tuple[int, ...] | None = None,
) -> Any:  # fmt: skip
    return m.embed(gy, begin=begin, stride=_ones(stride, x.ndim), shape=x.shape)


def _ends(shape: tuple[int, ...], begin: tuple[int, ...], stride: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(b + n * s for n, b, s in zip(shape, begin, stride))


def _embed(m: Any, x: Any, begin: tuple[int, ...], stride: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Zeros of `shape` with `x` where a slice would have taken it from."""
    ends = _ends(x.shape, begin, stride)
    where = _window(shape, begin, ends, stride)

    def put(frame: Any, inner: Any) -> Any:
        y = np.empty(shape, inner.dtype)  # the zero takes the dtype of x, so that nothing is promoted
        y[...] = frame
        y[where] = inner
        return y

    return m.domain.lift(put, m.zeros(()), x)


def _embed_pullback(
    m: Any,
    i: int,
    gy: Any,
    y: Any,
    x: Any,
    begin: tuple[int, ...],
    stride: tuple[int, ...],
    shape: tuple[int, ...],
) -> Any:
    return m.strided_slice(gy, begin=begin, end=_ends(x.shape, begin, stride), stride=stride)


op(
    "strided_slice",
    moves_only=True,
    forward=_strided_slice,
    pullback=_strided_slice_pullback,
    linear="jointly",
    samples=(
        Sample((_MATRIX,), {"begin": (0, 1), "end": (2, 3)}),
        Sample((_MATRIX,), {"begin": (1, 2), "end": (2, -1), "stride": (1, -2)}),
        Sample((_ROW,), {"begin": (3,), "end": (-1,), "stride": (-1,)}),
        Sample((_ROW,), {"begin": (2,), "end": (2,), "stride": (1,)}),
    ),
    kinds=ANY,
)
op(
    "embed",
    moves_only=True,
    forward=_embed,
    pullback=_embed_pullback,
    linear="jointly",
    samples=(
        Sample((_ROW,), {"begin": (1,), "stride": (2,), "shape": (9,)}),
        Sample((_ROW,), {"begin": (3,), "stride": (-1,), "shape": (5,)}),
        Sample((_MATRIX,), {"begin": (0, 1), "stride": (2, 1), "shape": (4, 4)}),
    ),
    kinds=ANY,
)


def _padded(shape: tuple[int, ...], widths: Widths) -> tuple[int, ...]:
    return tuple(before + n + after for n, (before, after) in zip(shape, widths, strict=True))


def _inside(shape: tuple[int, ...], widths: Widths) -> Any:
    """Where the padded array holds an entry of the inner one."""
    inside = np.zeros(_padded(shape, widths), bool)
    inside[tuple(slice(before, before + n) for n, (before, _) in zip(shape, widths))] = True
    return inside


def _pad(m: Any, x: Any, *value: Any, widths: Widths) -> Any:
    """`x` with further entries before and after each axis: zeros, or the scalar `value` if given."""
    begin = tuple(before for before, _ in widths)
    y = m.embed(x, begin=begin, stride=(1,) * x.ndim, shape=_padded(x.shape, widths))
    return m.select(_inside(x.shape, widths), y, value[0]) if value else y


def _pad_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, *value: Any, widths: Widths) -> Any:
    if i == 1:
        outside = m.select(~_inside(x.shape, widths), gy, m.zeros(()))
        return m.sum(outside, axes=tuple(range(gy.ndim)))
    begin = tuple(before for before, _ in widths)
    return m.strided_slice(gy, begin=begin, end=_ends(x.shape, begin, (1,) * x.ndim))


op(
    "pad",
    moves_only=True,
    forward=_pad,
    pullback=_pad_pullback,
    linear="jointly",
    samples=(
        Sample((_MATRIX,), {"widths": ((1, 0), (0, 2))}),
        Sample((_MATRIX, -0.5), {"widths": ((1, 2), (2, 1))}),
        Sample((_ROW, 3.0), {"widths": ((0, 0),)}),
    ),
    kinds=ANY,
)


def _diag_slice(offset: int, rows: int, columns: int) -> tuple[int, int]:
    """First place and length of a diagonal in the flattened matrix; its entries are columns + 1 apart."""
    count = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    return (offset if offset >= 0 else -offset * columns), count


def _diag_part(m: Any, x: Any, offset: int = 0) -> Any:
    """The diagonal of the last two axes; a positive offset lies above the main one."""
    rows, columns = x.shape[-2:]
    first, count = _diag_slice(offset, rows, columns)
    lead = x.shape[:-2]
    flat = m.reshape(x, shape=(*lead, rows * columns))
    zeros, ones = (0,) * len(lead), (1,) * len(lead)
    end = (*lead, first + count * (columns + 1))
    return m.strided_slice(flat, begin=(*zeros, first), end=end, stride=(*ones, columns + 1))


def _diag(m: Any, x: Any, rows: int, columns: int, offset: int = 0) -> Any:
    """Matrices that are zero but for a diagonal, which is the last axis of `x`."""
    first, _ = _diag_slice(offset, rows, columns)
    lead = x.shape[:-1]
    begin, stride = (*(0,) * len(lead), first), (*(1,) * len(lead), columns + 1)
    flat = m.embed(x, begin=begin, stride=stride, shape=(*lead, rows * columns))
    return m.reshape(flat, shape=(*lead, rows, columns))


op(
    "diag_part",
    moves_only=True,
    forward=_diag_part,
    pullback=lambda m, i, gy, y, x, offset=0: m.diag(
        gy, rows=x.shape[-2], columns=x.shape[-1], offset=offset
    ),
    linear="jointly",
    samples=(
        Sample((_MATRIX,), {}),
        Sample((_MATRIX,), {"offset": 1}),
        Sample(((_MATRIX, _MATRIX),), {"offset": -1}),
    ),
    kinds=ANY,
)
op(
    "diag",
    moves_only=True,
    forward=_diag,
    pullback=lambda m, i, gy, y, x, rows, columns, offset=0: m.diag_part(gy, offset=offset),
    linear="jointly",
    samples=(
        Sample((_ROW,), {"rows": 4, "columns": 4}),
        Sample((_MATRIX,), {"rows": 4, "columns": 3, "offset": -1}),
        Sample((_MATRIX,), {"rows": 3, "columns": 5, "offset": 2}),
    ),
    kinds=ANY,
)


def _band(m: Any, x: Any, lower: int, upper: int) -> Any:
    """Keeps `lower` diagonals below and `upper` above the main one; a negative number keeps them all."""
    row, column = np.ogrid[: x.shape[-2], : x.shape[-1]]
    keep = ((lower < 0) | (row - column <= lower)) & ((upper < 0) | (column - row <= upper))
    return m.select(np.broadcast_to(keep, x.shape), x, m.zeros(()))


op(
    "band",
    moves_only=True,
    forward=_band,
    pullback=lambda m, i, gy, y, x, lower, upper: m.band(gy, lower=lower, upper=upper),
    linear="jointly",
    samples=(
        Sample((_MATRIX,), {"lower": 0, "upper": -1}),
        Sample(((_MATRIX, _MATRIX),), {"lower": -1, "upper": 1}),
    ),
    kinds=ANY,
)
