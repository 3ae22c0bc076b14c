"""Pooling over windows, and its backward ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import ints, lower, shape_of
from gradproof.frontends.torch.lower._transposed import confirmed, gradients
from gradproof.ops.patches import windows


def _wide(values: Any, dims: int) -> tuple[int, ...]:
    values = values if isinstance(values, tuple) else (values,)
    return tuple(values) * dims if len(values) == 1 else tuple(values)


def _paddings(
    size: Sequence[int], counts: Sequence[int], window: Sequence[int], strides: Sequence[int],
    before: Sequence[int], dilation: Sequence[int],
) -> tuple[tuple[int, int], ...]:  # fmt: skip
    """Behind the data stands as much as the last window needs, which `ceil_mode` may want more of than before."""
    pads = []
    for n, count, k, step, pad, spread in zip(size, counts, window, strides, before, dilation):
        needed = (count - 1) * step + (k - 1) * spread + 1
        pads.append((pad, needed - n - pad))
    return tuple(pads)


def _max_pool(
    m: Any, e: Any, x: Any, kernel: Any, stride: Any, padding: Any, dilation: Any, dims: int
) -> Any:
    window = _wide(kernel, dims)
    strides = _wide(stride, dims) if stride else window
    spread = _wide(dilation, dims)
    counts = shape_of(e)[-dims:]
    geometry = {
        "window": window,
        "strides": strides,
        "dilation": spread,
        "padding": _paddings(x.shape[-dims:], counts, window, strides, _wide(padding, dims), spread),
    }
    lead = tuple(x.shape[: x.ndim - dims])
    place = m.window_argmax(x, **geometry)
    flat = m.reshape(x, shape=(*lead, math.prod(x.shape[-dims:])))
    largest = m.reshape(m.take_along(flat, place, axis=len(lead)), shape=(*lead, *counts))
    return largest, m.reshape(place, shape=(*lead, *counts))


@lower("max_pool2d_with_indices")
def _max_pool2d(
    m: Any,
    e: Any,
    x: Any,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil: Any = False,
) -> Any:
    return _max_pool(m, e, x, kernel, stride, padding, dilation, 2)


@lower("max_pool3d_with_indices")
def _max_pool3d(
    m: Any,
    e: Any,
    x: Any,
    kernel: Any,
    stride: Any = (),
    padding: Any = 0,
    dilation: Any = 1,
    ceil: Any = False,
) -> Any:
    return _max_pool(m, e, x, kernel, stride, padding, dilation, 3)


def _back_to_places(m: Any, gy: Any, x: Any, places: Any, dims: int) -> Any:
    lead = tuple(x.shape[: x.ndim - dims])
    flat = m.reshape(gy, shape=(*lead, math.prod(gy.shape[len(lead) :])))
    where = ints(places).reshape(flat.shape)
    gx = m.scatter_along(flat, where, axis=len(lead), size=math.prod(x.shape[len(lead) :]))
    return m.reshape(gx, shape=x.shape)


@lower("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
def _max_pool_backward(m: Any, e: Any, gy: Any, x: Any, *rest: Any) -> Any:
    return _back_to_places(m, gy, x, rest[-1], 3 if "3d" in e.op else 2)


def _average(m: Any, x: Any, counts: Sequence[int], options: Sequence[Any], dims: int) -> Any:
    kernel, stride, padding, _, count_padding, divisor = (*options, *(None,) * 6)[:6]
    window = _wide(kernel, dims)
    strides = _wide(stride, dims) if stride else window
    before = _wide(padding or 0, dims)
    pads = _paddings(x.shape[-dims:], counts, window, strides, before, (1,) * dims)
    patches = m.patches(x, window=window, strides=strides, padding=pads)
    total = m.sum(patches, axes=tuple(range(patches.ndim - dims, patches.ndim)))
    count_padding = True if count_padding is None else count_padding
    if divisor is not None:
        return m.div(total, int(divisor))
    # Padding counts, if at all, as far as it was asked for: not what a last window needs beyond it.
    reach = [(b if count_padding else 0) for b in before]
    inside = np.ones([n + 2 * b for n, b in zip(x.shape[-dims:], reach)])
    shown = tuple((pad[0] - b, pad[1] - b) for pad, b in zip(pads, reach))
    where = windows(window=window, strides=strides, padding=shown)
    held = m.inner.patches(inside, window=window, strides=strides, padding=where.padding)
    n = np.sum(held, axis=tuple(range(dims, 2 * dims)))
    return m.div(total, m.literal(np.maximum(n, 1.0)))


def _average_pool(name: str, dims: int) -> None:
    @lower(name)
    def forward(m: Any, e: Any, x: Any, *options: Any) -> Any:
        return _average(m, x, shape_of(e)[-dims:], options, dims)

    @lower(f"{name}_backward")
    def backward(m: Any, e: Any, gy: Any, x: Any, *options: Any) -> Any:
        counts = gy.shape[-dims:]
        return confirmed(e, gradients(m, lambda v: _average(m, v, counts, options, dims), [x], [gy]))


_average_pool("avg_pool2d", 2)
_average_pool("avg_pool3d", 3)


def _adaptive(m: Any, x: Any, counts: Sequence[int]) -> Any:
    """Means over windows of nearly equal size, one axis after the other: a mean of means of equal weight."""
    dims = len(counts)
    for k, count in enumerate(counts):
        axis = x.ndim - dims + k
        n = x.shape[axis]
        share = np.zeros((n, count))
        for j in range(count):
            begin, end = j * n // count, -(-(j + 1) * n // count)
            share[begin:end, j] = 1.0 / (end - begin)
        order = [*(a for a in range(x.ndim) if a != axis), axis]
        moved = m.einsum(m.transpose(x, order=tuple(order)), m.literal(share), equation="...c,cd->...d")
        x = m.transpose(moved, order=tuple(int(a) for a in np.argsort(order)))
    return x


@lower("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def _adaptive_pool(m: Any, e: Any, x: Any, size: Sequence[int]) -> Any:
    return _adaptive(m, x, shape_of(e)[-len(size) :])


@lower("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def _adaptive_pool_backward(m: Any, e: Any, gy: Any, x: Any) -> Any:
    dims = 3 if "3d" in e.op else 2
    return confirmed(e, gradients(m, lambda v: _adaptive(m, v, gy.shape[-dims:]), [x], [gy]))


@lower("adaptive_max_pool2d", "adaptive_max_pool3d")
def _adaptive_max_pool(m: Any, e: Any, x: Any, size: Sequence[int]) -> Any:
    """Windows of nearly equal size; which entry is the largest of one is decided entry by entry."""
    counts = shape_of(e)[-len(size) :]
    dims = len(counts)
    lead = tuple(x.shape[: x.ndim - dims])
    flat = m.reshape(x, shape=(*lead, math.prod(x.shape[-dims:])))
    index = np.arange(math.prod(x.shape[-dims:])).reshape(x.shape[-dims:])
    found, places = [], []
    for cell in np.ndindex(*counts):
        cut = tuple(slice(j * n // c, -(-(j + 1) * n // c)) for j, n, c in zip(cell, x.shape[-dims:], counts))
        inside = index[cut].reshape(-1)
        part = m.take(flat, inside, axis=len(lead))
        best = m.reshape(m.argmax(part, axis=len(lead)), shape=(*lead, 1))
        found.append(m.take_along(part, best, axis=len(lead)))
        places.append(inside[np.asarray(best.value)])
    shape = (*lead, *counts)
    largest = m.concat(*found, axis=len(lead)) if len(found) > 1 else found[0]
    return m.reshape(largest, shape=shape), m.constant(np.concatenate(places, axis=-1).reshape(shape))


@lower("adaptive_max_pool2d_backward", "adaptive_max_pool3d_backward")
def _adaptive_max_pool_backward(m: Any, e: Any, gy: Any, x: Any, places: Any) -> Any:
    return _back_to_places(m, gy, x, places, 3 if "3d" in e.op else 2)


def _starts(drawn: Any, n: int, count: int, window: int) -> Any:
    """Where windows begin along one axis, spread by a random number, in the digits the kernel has."""
    if count == 1:
        return np.full((*drawn.shape, 1), n - window)
    step = drawn.dtype.type(n - window) / drawn.dtype.type(count - 1)
    spread = ((np.arange(count, dtype=drawn.dtype) + drawn[..., None]) * step).astype(np.int64)
    begins = spread - (drawn * step).astype(np.int64)[..., None]
    begins[..., -1] = n - window
    return begins


@lower("fractional_max_pool2d", "fractional_max_pool3d")
def _fractional_max_pool(m: Any, e: Any, x: Any, window: Any, size: Any, drawn: Any) -> Any:
    """Windows of one size at random distances; which entry is the largest of one is decided entry by entry."""
    dims = drawn.shape[-1]
    shape, lead = tuple(x.shape[-dims:]), tuple(x.shape[: x.ndim - dims])
    counts = shape_of(e)[-dims:]
    samples = np.asarray(drawn.value).reshape(*lead, dims)
    samples = samples[..., ::-1] if dims == 2 else samples  # the first number of two is for the last axis
    places = np.zeros((*lead, 1, 1), np.int64)
    for axis, (n, count, k) in enumerate(zip(shape, counts, _wide(window, dims))):
        along = _starts(samples[..., axis], n, count, k)[..., None] + np.arange(k)
        places = places[..., :, None, :, None] * n + along[..., None, :, None, :]
        places = places.reshape(*lead, places.shape[-4] * count, places.shape[-2] * k)
    flat = m.reshape(x, shape=(*lead, math.prod(shape)))
    inside = m.take_along(flat, places.reshape(*lead, math.prod(places.shape[-2:])), axis=len(lead))
    held = m.reshape(inside, shape=places.shape)
    best = m.reshape(m.argmax(held, axis=len(lead) + 1), shape=(*places.shape[:-1], 1))
    where = np.take_along_axis(places, np.asarray(best.value), axis=-1)
    largest = m.reshape(m.take_along(held, best, axis=len(lead) + 1), shape=(*lead, *counts))
    return largest, m.constant(where.reshape(*lead, *counts))


@lower("fractional_max_pool2d_backward", "fractional_max_pool3d_backward")
def _fractional_max_pool_backward(
    m: Any, e: Any, gy: Any, x: Any, window: Any, size: Any, places: Any
) -> Any:
    return _back_to_places(m, gy, x, places, 3 if "3d" in e.op else 2)
