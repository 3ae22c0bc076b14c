"""Padding with numbers or with the array's own border, views by addresses, and sliding windows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower, number
from gradproof.frontends.torch.lower.shape import put_at


@lower("constant_pad_nd", "prims.pad")
def _pad(m: Any, e: Any, x: Any, pads: Sequence[int], value: Any = 0) -> Any:
    widths = [(0, 0)] * x.ndim
    for k in range(len(pads) // 2):
        widths[x.ndim - 1 - k] = (pads[2 * k], pads[2 * k + 1])
    begin = tuple(max(-before, 0) for before, _ in widths)
    end = tuple(n - max(-after, 0) for n, (_, after) in zip(x.shape, widths))
    if begin != (0,) * x.ndim or end != tuple(x.shape):
        x = m.strided_slice(x, begin=begin, end=end)
    grow = tuple((max(before, 0), max(after, 0)) for before, after in widths)
    return m.pad(x, widths=grow) if value == 0 else m.pad(x, number(m, value, x), widths=grow)


def _border(names: tuple[str, ...], mode: str) -> None:
    """Padding with entries of the array itself: which one stands where is a matter of places."""

    def places(shape: Sequence[int], pads: Sequence[int]) -> np.ndarray[Any, Any]:
        widths = [(0, 0)] * len(shape)
        for k in range(len(pads) // 2):
            widths[len(shape) - 1 - k] = (pads[2 * k], pads[2 * k + 1])
        index = np.arange(math.prod(shape)).reshape(shape)
        grown = np.pad(index, [(max(a, 0), max(b, 0)) for a, b in widths], mode=mode)  # type: ignore[call-overload]
        cut = tuple(slice(max(-a, 0), n - max(-b, 0)) for n, (a, b) in zip(grown.shape, widths))
        return np.asarray(grown[cut])

    @lower(*names)
    def forward(m: Any, e: Any, x: Any, pads: Sequence[int]) -> Any:
        return m.take(m.reshape(x, shape=(math.prod(x.shape),)), places(x.shape, pads), axis=0)

    @lower(*(f"{name}_backward" for name in names))
    def backward(m: Any, e: Any, gy: Any, x: Any, pads: Sequence[int]) -> Any:
        taken = places(x.shape, pads)
        flat = m.reshape(gy, shape=(taken.size,))
        return m.reshape(m.scatter_add(flat, taken.reshape(-1), size=math.prod(x.shape)), shape=x.shape)


_border(("reflection_pad1d", "reflection_pad2d", "reflection_pad3d"), "reflect")
_border(("replication_pad1d", "replication_pad2d", "replication_pad3d"), "edge")


def _strided(size: Sequence[int], stride: Sequence[int], offset: int) -> np.ndarray[Any, Any]:
    address = np.asarray(offset, np.int64)
    for axis, (n, step) in enumerate(zip(size, stride)):
        address = address + (np.arange(n) * step).reshape((n,) + (1,) * (len(size) - 1 - axis))
    return np.broadcast_to(address, tuple(size))


def _addressed(
    e: Any, x: Any, size: Sequence[int], stride: Sequence[int], offset: Any
) -> np.ndarray[Any, Any]:
    """Addresses in memory as places in the array, where it lies in memory in its own order."""
    layout = e.attrs.get("layouts", {}).get(0)
    if layout is None:
        raise NotImplementedError("memory whose layout is not known")
    own_offset, own_stride = layout
    held = _strided(x.shape, own_stride, own_offset).reshape(-1)
    wanted = _strided(size, stride, own_offset if offset is None else offset)
    order = np.argsort(held, kind="stable")
    found = np.searchsorted(held[order], wanted.reshape(-1))
    if not held.size or (found >= held.size).any() or (held[order][found] != wanted.reshape(-1)).any():
        raise NotImplementedError("memory outside of the array")
    return np.asarray(order[found].reshape(wanted.shape))


@lower("as_strided", "as_strided_copy")
def _as_strided(
    m: Any, e: Any, x: Any, size: Sequence[int], stride: Sequence[int], offset: Any = None
) -> Any:
    places = _addressed(e, x, size, stride, offset)
    return m.take(m.reshape(x, shape=(math.prod(x.shape),)), places, axis=0)


@lower("as_strided_scatter")
def _as_strided_scatter(
    m: Any, e: Any, x: Any, part: Any, size: Sequence[int], stride: Sequence[int], offset: Any = None
) -> Any:
    places = _addressed(e, x, size, stride, offset)
    if np.unique(places).size != places.size:
        raise NotImplementedError("entries that meet at one place")
    return put_at(m, x, places, part)


@lower("unfold", "unfold_copy")
def _unfold(m: Any, e: Any, x: Any, dim: int, size: int, step: int) -> Any:
    if not x.ndim:
        return m.reshape(x, shape=(1,))
    axis = dim % x.ndim
    starts = np.arange(0, x.shape[axis] - size + 1, step)
    taken = m.take(x, starts[:, None] + np.arange(size), axis=axis)
    order = [k for k in range(taken.ndim) if k != axis + 1] + [axis + 1]
    return m.transpose(taken, order=tuple(order))


@lower("unfold_backward")
def _unfold_backward(m: Any, e: Any, gy: Any, shape: Sequence[int], dim: int, size: int, step: int) -> Any:
    if not shape:
        return m.reshape(gy, shape=())
    axis = dim % len(shape)
    index = np.arange(math.prod(shape)).reshape(shape)
    starts = np.arange(0, shape[axis] - size + 1, step)
    taken = np.moveaxis(np.take(index, starts[:, None] + np.arange(size), axis=axis), axis + 1, -1)
    flat = m.scatter_add(m.reshape(gy, shape=(taken.size,)), taken.reshape(-1), size=index.size)
    return m.reshape(flat, shape=tuple(shape))
