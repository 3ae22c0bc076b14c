"""Ops that read and write entries at integer places; places are exact in every domain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.ir.shapes import jointly
from gradproof.ops._op import ANY, Sample, op

_ROW = (0.5, -2.0, 7.0, 3.0)
_MATRIX = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0), (8.0, -0.25, 6.0))
_TALL = ((1.0, 2.0), (0.5, 4.0), (8.0, -0.25), (6.0, 3.0))


def _take(m: Any, x: Any, indices: Any, axis: int) -> Any:
    """Slices of `x` along an axis; the axes of `indices` stand in the place of that axis."""
    return m.domain.lift(lambda v: np.take(v, indices, axis=axis), x)


def _take_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, indices: Any, axis: int) -> Any:
    n_index = np.ndim(indices)
    moved = (*range(axis, axis + n_index), *range(axis), *range(axis + n_index, gy.ndim))
    gx = m.scatter_add(m.transpose(gy, order=moved), indices, size=x.shape[axis])
    return m.transpose(gx, order=(*range(1, axis + 1), 0, *range(axis + 1, x.ndim)))


op(
    "take",
    moves_only=True,
    forward=_take,
    pullback=_take_pullback,
    linear="jointly",
    samples=(
        Sample((_ROW, (3, 0, 0)), {"axis": 0}),
        Sample((_MATRIX, ((0, 2), (1, 1))), {"axis": 1}),
        Sample((_MATRIX, 2), {"axis": 1}),
        Sample((_MATRIX, (-1, 0)), {"axis": 0}),
    ),
    kinds=ANY,
)
op(
    "scatter_add",  # x[k] summed into place indices[k] of a new first axis of length `size`
    pullback=lambda m, i, gy, y, x, indices, size: m.take(gy, indices, axis=0),
    linear="jointly",
    samples=(
        Sample((_ROW, (2, 0, 2, 2)), {"size": 5}),
        Sample((_MATRIX, (1, -1, 1)), {"size": 3}),
        Sample((_TALL, ((0, 1), (1, 1), (3, 0), (0, 0))), {"size": 4}),
    ),
    kinds=ANY,
)


def _flat_along(indices: Any, axis: int, shape: tuple[int, ...]) -> Any:
    """Places in the flattened array of `shape` that `indices` name along an axis."""
    grid = list(np.ogrid[tuple(slice(n) for n in indices.shape)])
    grid[axis] = np.where(indices < 0, indices + shape[axis], indices)
    return np.ravel_multi_index(jointly(*grid), shape)


def _scatter_along(m: Any, x: Any, indices: Any, axis: int, size: int) -> Any:
    """The transpose of `take_along`: entries summed into an axis of length `size` at the places named."""
    shape = (*x.shape[:axis], size, *x.shape[axis + 1 :])
    flat = _flat_along(np.asarray(indices), axis, shape).reshape(-1)
    y = m.scatter_add(m.reshape(x, shape=(math.prod(x.shape),)), flat, size=math.prod(shape))
    return m.reshape(y, shape=shape)


op(
    "take_along",  # indices have the shape of x but for the length of the axis
    forward=lambda m, x, indices, axis: m.domain.lift(lambda v: np.take_along_axis(v, indices, axis), x),
    pullback=lambda m, i, gy, y, x, indices, axis: m.scatter_along(
        gy, indices, axis=axis, size=x.shape[axis]
    ),
    linear="jointly",
    samples=(
        Sample((_MATRIX, ((2, 0), (1, 1), (0, 2))), {"axis": 1}),
        Sample((_ROW, (3, 3, 0)), {"axis": 0}),
    ),
    kinds=ANY,
)
op(
    "scatter_along",
    forward=_scatter_along,
    pullback=lambda m, i, gy, y, x, indices, axis, size: m.take_along(gy, indices, axis=axis),
    linear="jointly",
    samples=(
        Sample((_TALL, ((2, 0), (1, 1), (0, 2), (3, -1))), {"axis": 1, "size": 4}),
        Sample((_ROW, (3, 3, 0, 1)), {"axis": 0, "size": 5}),
    ),
    kinds=ANY,
)


def _nd_place(indices: Any, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """`indices[..., k]` counts along axis k; negative ones from the back."""
    return tuple(np.where(part < 0, part + n, part) for part, n in zip(np.moveaxis(indices, -1, 0), shape))


def _gather_nd(m: Any, x: Any, indices: Any) -> Any:
    """The last axis of `indices` names places along the first axes of `x`."""
    where = _nd_place(np.asarray(indices), x.shape)
    return m.domain.lift(lambda v: v[where], x)


def _scatter_nd(m: Any, x: Any, indices: Any, shape: tuple[int, ...]) -> Any:
    """The transpose of `gather_nd`: slices summed into an array of `shape`."""
    indices = np.asarray(indices)
    depth = indices.shape[-1]
    flat = np.ravel_multi_index(_nd_place(indices, shape), shape[:depth])
    return m.reshape(m.scatter_add(x, flat, size=math.prod(shape[:depth])), shape=shape)


op(
    "gather_nd",
    moves_only=True,
    forward=_gather_nd,
    pullback=lambda m, i, gy, y, x, indices: m.scatter_nd(gy, indices, shape=x.shape),
    linear="jointly",
    samples=(
        Sample((_MATRIX, ((2, 0), (1, 1), (2, 0)))),
        Sample((_MATRIX, ((2,), (-1,), (0,)))),
        Sample((_MATRIX, (1, 2))),
    ),
    kinds=ANY,
)
op(
    "scatter_nd",
    forward=_scatter_nd,
    pullback=lambda m, i, gy, y, x, indices, shape: m.gather_nd(gy, indices),
    linear="jointly",
    samples=(
        Sample((_ROW, ((2, 0), (1, 1), (2, 0), (0, -1))), {"shape": (3, 2)}),
        Sample((_TALL, ((2,), (0,), (2,), (1,))), {"shape": (4, 2)}),
    ),
    kinds=ANY,
)


def _scatter_update(m: Any, x: Any, indices: Any, updates: Any) -> Any:
    """`x` with the slices at `indices` replaced; of several updates of one place the last one stands."""
    where = _nd_place(np.asarray(indices), x.shape)

    def put(whole: Any, parts: Any) -> Any:
        y = np.array(whole, np.result_type(whole, parts) if parts.dtype.kind == "c" else whole.dtype)
        y[where] = parts
        return y

    return m.domain.lift(put, x, updates)


def _scatter_update_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, indices: Any, updates: Any) -> Any:
    if i == 0:
        return m.scatter_update(gy, indices, m.zeros(updates.shape))
    stands = m.last_writer(indices, shape=x.shape)
    return m.select(stands, m.gather_nd(gy, indices), m.zeros(()))


def _last_writer(m: Any, indices: Any, shape: tuple[int, ...]) -> Any:
    """Which updates of `scatter_update` stand, in a shape that broadcasts over the updated slices."""
    indices = np.asarray(indices)
    depth = indices.shape[-1]
    flat = np.ravel_multi_index(_nd_place(indices, shape), shape[:depth])
    _, last_from_behind = np.unique(flat.reshape(-1)[::-1], return_index=True)
    stands = np.zeros(flat.size, bool)
    stands[flat.size - 1 - last_from_behind] = True
    return stands.reshape(*flat.shape, *(1,) * (len(shape) - depth))


op("last_writer", forward=_last_writer)  # integers to booleans: nothing to differentiate
op(
    "scatter_update",
    moves_only=True,
    forward=_scatter_update,
    pullback=_scatter_update_pullback,
    linear="jointly",
    samples=(
        Sample((_MATRIX, ((2, 0), (1, 1), (2, 0)), (5.0, 6.0, -9.0))),
        Sample((_TALL, ((2,), (0,)), ((5.0, 6.0), (-9.0, 0.5)))),
        Sample((_TALL, ((1,), (1,), (1,)), ((5.0, 6.0), (-9.0, 0.5), (1.5, 2.5)))),
    ),
    kinds=ANY,
)


def _mirror_places(n: int, width: tuple[int, int], mode: str) -> Any:
    """Where each padded entry comes from; "reflect" does not repeat the border, "symmetric" does."""
    return np.pad(np.arange(n), width, mode="reflect" if mode == "reflect" else "symmetric")


def _mirror_pad(m: Any, x: Any, widths: tuple[tuple[int, int], ...], mode: str) -> Any:
    for axis, width in enumerate(widths):
        x = m.take(x, _mirror_places(x.shape[axis], width, mode), axis=axis)
    return x


def _mirror_pad_pullback(
    m: Any, i: int, gy: Any, y: Any, x: Any, widths: tuple[tuple[int, int], ...], mode: str
) -> Any:
    for axis, width in enumerate(widths):
        order = (axis, *range(axis), *range(axis + 1, x.ndim))
        places = _mirror_places(x.shape[axis], width, mode)
        gx = m.scatter_add(m.transpose(gy, order=order), places, size=x.shape[axis])
        gy = m.transpose(gx, order=(*range(1, axis + 1), 0, *range(axis + 1, x.ndim)))
    return gy


op(
    "mirror_pad",
    moves_only=True,
    forward=_mirror_pad,
    pullback=_mirror_pad_pullback,
    linear="jointly",
    samples=(
        Sample((_MATRIX,), {"widths": ((1, 2), (2, 0)), "mode": "reflect"}),
        Sample((_MATRIX,), {"widths": ((3, 1), (0, 2)), "mode": "symmetric"}),
    ),
    kinds=ANY,
)


def _repeat_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, repeats: int, axis: int) -> Any:
    shape = (*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :])
    return m.sum(m.reshape(gy, shape=shape), axes=(axis + 1,))


op(
    "repeat",  # every entry of an axis `repeats` times in a row
    forward=lambda m, x, repeats, axis: m.domain.lift(lambda v: np.repeat(v, repeats, axis=axis), x),
    pullback=_repeat_pullback,
    linear="jointly",
    samples=(Sample((_MATRIX,), {"repeats": 2, "axis": 1}), Sample((_ROW,), {"repeats": 3, "axis": 0})),
    kinds=ANY,
)
