"""Pooling over windows: averages, and which entry of a window is the largest.

Maximum pooling is that decision and a gather; `max_pool` composes them for frontends.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.ops._margin import least, midpoint, without_self
from gradproof.ops._op import ANY, Sample, op
from gradproof.ops.patches import Windows, gather_index, windows


def _data_in_windows(where: Windows, size: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """How many places of every window hold a datum rather than padding."""
    inside = gather_index(where, size) < math.prod(size)
    return np.asarray(np.sum(inside, axis=tuple(range(len(size), 2 * len(size)))))


def _divided(m: Any, x: Any, size: tuple[int, ...], count_padding: bool, geometry: dict[str, Any]) -> Any:
    where = windows(**geometry)
    if count_padding:
        return m.div(x, math.prod(where.window))
    # A window of nothing but padding has the mean zero: its sum is zero, whatever it is divided by.
    return m.div(x, np.maximum(_data_in_windows(where, size), 1))


def _average_pool(m: Any, x: Any, count_padding: bool = False, **geometry: Any) -> Any:
    dims = len(geometry["window"])
    patches = m.patches(x, **geometry)
    total = m.sum(patches, axes=tuple(range(patches.ndim - dims, patches.ndim)))
    return _divided(m, total, tuple(x.shape[x.ndim - dims :]), count_padding, geometry)


def _average_pool_pullback(
    m: Any, i: int, gy: Any, y: Any, x: Any, count_padding: bool = False, **geometry: Any
) -> Any:
    dims = len(geometry["window"])
    size = tuple(x.shape[x.ndim - dims :])
    share = _divided(m, gy, size, count_padding, geometry)
    shares = m.reshape(share, shape=(*gy.shape, *(1,) * dims))
    shares = m.broadcast(shares, shape=(*gy.shape, *geometry["window"]))
    return m.patches_transposed(shares, size=size, **geometry)


_PLANE = (((1.0, -2.0, 0.5, 4.0), (3.0, 0.25, -1.0, 7.0), (2.0, 8.0, -5.0, 6.0)),)
_PADDED = {"window": (2, 2), "strides": (2, 2), "padding": ((1, 0), (0, 1))}

# Means over windows of the trailing axes; padding counts as zeros or not at all.
op(
    "average_pool",
    forward=_average_pool,
    pullback=_average_pool_pullback,
    linear="jointly",
    samples=(Sample((_PLANE,), _PADDED), Sample((_PLANE,), {"count_padding": True, **_PADDED})),
    kinds=ANY,
)


def _flat(m: Any, x: Any, dims: int) -> Any:
    """The trailing axes as one."""
    lead = tuple(x.shape[: x.ndim - dims])
    return m.reshape(x, shape=(*lead, math.prod(x.shape[len(lead) :])))


def _window_index(x: Any, geometry: dict[str, Any]) -> tuple[np.ndarray[Any, Any], int]:
    """(windows, places): the flat index of the datum there; and the number of data, which stands for none."""
    size = tuple(x.shape[x.ndim - len(geometry["window"]) :])
    return gather_index(windows(**geometry), size).reshape(-1, math.prod(geometry["window"])), math.prod(size)


def _in_windows(x: np.ndarray[Any, Any], index: np.ndarray[Any, Any], dims: int) -> np.ndarray[Any, Any]:
    """(..., windows, places) of plain numbers; padding is below them all."""
    flat = x.reshape(*x.shape[: x.ndim - dims], -1)
    return np.concatenate([flat, np.full((*flat.shape[:-1], 1), -np.inf)], axis=-1)[..., index]


def _first(best: np.ndarray[Any, Any], index: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The flat index of the first place of every window at which `best` holds."""
    places = np.broadcast_to(index, best.shape)
    return np.take_along_axis(places, np.argmax(best, axis=-1)[..., None], axis=-1)[..., 0]


def _window_argmax(m: Any, x: Any, **geometry: Any) -> Any:
    index, count = _window_index(x, geometry)
    height = _in_windows(np.asarray(midpoint(m, x), np.float64), index, len(geometry["window"]))
    best = height == np.max(height, axis=-1, keepdims=True)
    return np.minimum(_first(best, index), count - 1)  # a window of nothing but padding has to name something


def _window_argmax_margin(m: Any, y: Any, x: Any, alike: Any = None, **geometry: Any) -> Any:
    index, count = _window_index(x, geometry)
    own = (index == y[..., None]) | (index == count)
    winner = m.take_along(_flat(m, x, len(geometry["window"])), y, axis=y.ndim - 1)
    rivals = m.reshape(m.patches(x, **geometry), shape=(*y.shape, index.shape[-1]))
    lead = m.sub(m.reshape(winner, shape=(*y.shape, 1)), rivals)
    if alike is not None:
        labels = alike.reshape(*y.shape[:-1], -1)
        places = _in_windows(alike, index, len(geometry["window"]))
        own = own | (places == np.take_along_axis(labels, y, axis=-1)[..., None])
    return least(m, without_self(m, lead, own), axis=y.ndim)


def _window_argmax_near(y: Any, xs: Any, xs_dot: Any, **geometry: Any) -> Any:
    """Of the entries that share the lead the one that rises fastest, and of these the one decided for."""
    index, _ = _window_index(xs[0], geometry)
    height, speed = (_in_windows(x, index, len(geometry["window"])) for x in (xs[0], xs_dot[0]))
    speed = np.where(height == np.max(height, axis=-1, keepdims=True), speed, -np.inf)
    fastest = speed == np.max(speed, axis=-1, keepdims=True)
    stays = np.any(fastest & (index == y[..., None]), axis=-1)
    return np.where(stays, y, _first(fastest, index))


# Which entry of every window of the trailing axes is the largest, as a flat index into these axes, of shape
# (..., windows). Padding never is.
op(
    "window_argmax",
    forward=_window_argmax,
    margin=_window_argmax_margin,
    decide_near=_window_argmax_near,
    compares="all",
    knows_alike=True,
    samples=(Sample((_PLANE,), _PADDED),),
)


def max_pool(m: Any, x: Any, **geometry: Any) -> Any:
    """The largest entry of every window of the trailing axes."""
    dims = len(geometry["window"])
    lead, size = tuple(x.shape[: x.ndim - dims]), tuple(x.shape[x.ndim - dims :])
    largest = m.take_along(_flat(m, x, dims), m.window_argmax(x, **geometry), axis=len(lead))
    return m.reshape(largest, shape=(*lead, *windows(**geometry).counts(size)))
