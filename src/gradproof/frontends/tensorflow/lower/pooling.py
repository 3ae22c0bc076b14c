"""Pooling over windows, and its backward ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import ints, lower
from gradproof.frontends.tensorflow.lower.convolution import as_given, channels_first, paddings, spatial
from gradproof.ops.patches import windows
from gradproof.ops.pooling import max_pool


def _geometry(event: Any, size: tuple[int, ...], ksize: Any = None, strides: Any = None) -> dict[str, Any]:
    """Windows and steps are attributes, but inputs in the second version of the ops."""
    ksize = event.attrs["ksize"] if ksize is None else ints(ksize)
    strides = event.attrs["strides"] if strides is None else ints(strides)
    window, steps = spatial(event, ksize), spatial(event, strides)
    if math.prod(ksize) != math.prod(window):
        raise NotImplementedError("pooling over channels or examples")
    return {
        "window": window,
        "strides": steps,
        "padding": paddings(event, size, window, steps, (1,) * len(size)),
    }


@lower("AvgPool", "AvgPool3D")
def _average_pool(m: Any, event: Any, x: Any) -> Any:
    x = channels_first(m, event, x)
    return as_given(m, event, m.average_pool(x, **_geometry(event, x.shape[2:])))


@lower("AvgPoolGrad", "AvgPool3DGrad")
def _average_pool_grad(m: Any, event: Any, shape: Any, gy: Any) -> Any:
    """The transpose of a mean over windows: every share goes back to where its window lies."""
    size, gy = spatial(event, ints(shape)), channels_first(m, event, gy)
    geometry = _geometry(event, size)
    dims = len(size)
    inside = m.patches(m.literal(np.ones(size)), **geometry)
    counts = m.sum(inside, axes=tuple(range(dims, 2 * dims)))
    share = m.reshape(m.div(gy, counts), shape=(*gy.shape, *(1,) * dims))
    shares = m.broadcast(share, shape=(*gy.shape, *geometry["window"]))
    return as_given(m, event, m.patches_transposed(shares, size=size, **geometry))


@lower("MaxPool", "MaxPool3D", "MaxPoolV2")
def _max_pool(m: Any, event: Any, x: Any, *sizes: Any) -> Any:
    x = channels_first(m, event, x)
    return as_given(m, event, max_pool(m, x, **_geometry(event, x.shape[2:], *sizes)))


@lower("MaxPoolGrad", "MaxPool3DGrad", "MaxPoolGradV2")
def _max_pool_grad(m: Any, event: Any, x: Any, y: Any, gy: Any, *sizes: Any) -> Any:
    x, gy = channels_first(m, event, x), channels_first(m, event, gy)
    geometry = _geometry(event, x.shape[2:], *sizes)
    return as_given(m, event, _back_to_largest(m, gy, m.window_argmax(x, **geometry), x.shape))


def _back_to_largest(m: Any, gy: Any, place: Any, shape: tuple[int, ...]) -> Any:
    flat = m.reshape(gy, shape=(*gy.shape[:2], math.prod(gy.shape[2:])))
    gx = m.scatter_along(flat, place, axis=2, size=math.prod(shape[2:]))
    return m.reshape(gx, shape=shape)


@lower("MaxPoolGradGrad", "MaxPool3DGradGrad", "MaxPoolGradGradV2")
def _max_pool_grad_grad(m: Any, event: Any, x: Any, y: Any, g: Any, *sizes: Any) -> Any:
    """What was added at the largest entry of every window."""
    x, g = channels_first(m, event, x), channels_first(m, event, g)
    geometry = _geometry(event, x.shape[2:], *sizes)
    flat = m.reshape(g, shape=(*g.shape[:2], math.prod(g.shape[2:])))
    taken = m.take_along(flat, m.window_argmax(x, **geometry), axis=2)
    counts = windows(**geometry).counts(x.shape[2:])
    return as_given(m, event, m.reshape(taken, shape=(*x.shape[:2], *counts)))


@lower("MaxPoolWithArgmax")
def _max_pool_with_argmax(m: Any, event: Any, x: Any) -> Any:
    """(largest, where): the place counts channels fastest, and examples too if the op was told so."""
    channels = x.shape[-1]
    x = channels_first(m, event, x)
    geometry = _geometry(event, x.shape[2:])
    place = m.window_argmax(x, **geometry)
    flat = m.reshape(x, shape=(*x.shape[:2], math.prod(x.shape[2:])))
    counts = windows(**geometry).counts(x.shape[2:])
    largest = m.reshape(m.take_along(flat, place, axis=2), shape=(*x.shape[:2], *counts))
    where = m.add(m.mul(place, channels), np.arange(channels)[:, None])
    if event.attrs.get("include_batch_in_index"):
        per_example = math.prod(x.shape[1:])
        where = m.add(where, (np.arange(x.shape[0]) * per_example)[:, None, None])
    where = m.reshape(where, shape=(*x.shape[:2], *counts))
    return as_given(m, event, largest), as_given(m, event, where)


@lower("MaxPoolGradWithArgmax")
def _max_pool_grad_with_argmax(m: Any, event: Any, x: Any, gy: Any, where: Any) -> Any:
    n, per_example = x.shape[0], math.prod(x.shape[1:])
    if not event.attrs.get("include_batch_in_index"):
        where = m.add(where, (np.arange(n) * per_example).reshape(n, 1, 1, 1))
    size = math.prod(gy.shape)
    gx = m.scatter_add(m.reshape(gy, shape=(size,)), m.reshape(where, shape=(size,)), size=n * per_example)
    return m.reshape(gx, shape=x.shape)
