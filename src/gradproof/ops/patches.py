"""Windows of an array: where they lie, gathering them into patches, and summing patches back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gradproof.errors import InvalidProgram
from gradproof.ir.types import Array
from gradproof.ops._op import ANY, Sample, op

Sizes = tuple[int, ...]
Padding = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Windows:
    """Where windows lie: their size, the steps between them and inside them, and what surrounds the data.

    `dilation` spreads a window's own entries, `input_dilation` the data's, with nothing in between.
    `padding` counts places before and behind the data; negative counts crop.
    """

    window: Sizes
    strides: Sizes
    dilation: Sizes
    input_dilation: Sizes
    padding: Padding

    def counts(self, size: Sizes) -> Sizes:
        """How many windows fit along each axis of data of the given spatial size."""
        return tuple(
            map(_count, size, self.window, self.strides, self.dilation, self.input_dilation, self.padding)
        )


def _count(n: int, window: int, stride: int, dilation: int, input_dilation: int, pad: tuple[int, int]) -> int:
    length = (max(n - 1, 0) * input_dilation + min(n, 1)) + sum(pad)
    return max(0, (length - (window - 1) * dilation - 1) // stride + 1)


def windows(
    window: Sizes,
    strides: Sizes | None = None,
    dilation: Sizes | None = None,
    input_dilation: Sizes | None = None,
    padding: Padding | None = None,
) -> Windows:
    """Windows from an op's parameters; None means steps of one and no padding."""
    ones = (1,) * len(window)
    parts = (strides or ones, dilation or ones, input_dilation or ones, padding or ((0, 0),) * len(window))
    if any(len(part) != len(window) for part in parts):
        raise InvalidProgram(
            f"a window of {len(window)} dimensions needs as many strides, dilations and paddings"
        )
    return Windows(tuple(window), *(tuple(part) for part in parts))  # type: ignore[arg-type]


@lru_cache(maxsize=64)
def gather_index(where: Windows, size: Sizes) -> Array:
    """For every window and every place in it, the flat index of its datum, or the number of data for none.

    The shape is (*counts, *window).
    """
    dims = len(size)
    flat, inside = np.zeros((), np.int64), np.ones((), bool)
    for axis, n in enumerate(size):
        starts = np.arange(where.counts(size)[axis]) * where.strides[axis] - where.padding[axis][0]
        places = starts[:, None] + np.arange(where.window[axis]) * where.dilation[axis]
        step = where.input_dilation[axis]
        shape = [1] * (2 * dims)
        shape[axis], shape[dims + axis] = places.shape
        places = places.reshape(shape)
        inside = inside & (places >= 0) & (places % step == 0) & (places // step < n)
        flat = flat * n + places // step
    return np.where(inside, flat, math.prod(size))


@lru_cache(maxsize=64)
def _scatter_index(where: Windows, size: Sizes) -> Array:
    """For every datum, the flat places of windows that hold it, filled up with the number of all places."""
    index = gather_index(where, size).reshape(-1)
    order = np.argsort(index, kind="stable")
    held = index[order]
    total = math.prod(size)
    first = np.searchsorted(held, np.arange(total + 1))
    most = int(np.max(np.diff(first), initial=0))
    places = first[:-1, None] + np.arange(most)
    return np.where(places < first[1:, None], order[np.minimum(places, index.size - 1)], index.size)


def _with_one_more(v: Array, fill: Array) -> Array:
    """Flat entries along the last axis, and one more behind them that stands for what is outside."""
    dtype = np.result_type(v, fill) if fill.dtype.kind == "c" else v.dtype
    return np.concatenate([v, np.broadcast_to(fill.astype(dtype), (*v.shape[:-1], 1))], axis=-1)


def _patches(m: Any, x: Any, fill: Any = None, **geometry: Any) -> Any:
    where = windows(**geometry)
    size = tuple(x.shape[x.ndim - len(where.window) :])
    lead = tuple(x.shape[: x.ndim - len(size)])
    index = gather_index(where, size)
    flat = m.reshape(x, shape=(*lead, math.prod(size)))
    outside = m.zeros(()) if fill is None else fill
    return m.domain.lift(lambda v, f: _with_one_more(v, f)[..., index], flat, outside)


def _patches_transposed(m: Any, x: Any, size: Sizes, **geometry: Any) -> Any:
    where = windows(**geometry)
    lead = tuple(x.shape[: x.ndim - 2 * len(size)])
    index = _scatter_index(where, tuple(size))
    flat = m.reshape(x, shape=(*lead, math.prod(x.shape[len(lead) :])))
    terms = m.domain.lift(lambda v, f: _with_one_more(v, f)[..., index], flat, m.zeros(()))
    return m.reshape(m.sum(terms, axes=(len(lead) + 1,)), shape=(*lead, *size))


def _patches_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, fill: Any = None, **geometry: Any) -> Any:
    size = tuple(x.shape[x.ndim - len(geometry["window"]) :])
    if i == 0:
        return m.patches_transposed(gy, size=size, **geometry)
    outside = gather_index(windows(**geometry), size) == math.prod(size)
    return m.sum(m.select(outside, gy, m.zeros(())), axes=tuple(range(gy.ndim)))


def _patches_transposed_pullback(
    m: Any, i: int, gy: Any, y: Any, x: Any, size: Sizes, **geometry: Any
) -> Any:
    return m.patches(gy, **geometry)


_LINE = (((1.0, -2.0, 0.5, 4.0, 3.0),),)

# All windows of the trailing axes, (..., *counts, *window). Outside the data is the second argument, a single
# number, or zero if there is none.
op(
    "patches",
    forward=_patches,
    pullback=_patches_pullback,
    linear="jointly",
    moves_only=True,
    samples=(
        Sample((_LINE,), {"window": (2,), "strides": (2,), "padding": ((1, 0),)}),
        Sample((_LINE, -3.0), {"window": (2,), "dilation": (2,), "padding": ((1, 2),)}),
    ),
    kinds=ANY,
)
op(
    "patches_transposed",
    forward=_patches_transposed,
    pullback=_patches_transposed_pullback,
    linear="jointly",
    samples=(Sample(((((1.0, 2.0), (-3.0, 0.5), (4.0, 7.0)),),), {"size": (4,), "window": (2,)}),),
    kinds=ANY,
)
