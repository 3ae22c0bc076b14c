"""Ops that change shapes, cut, join, turn and repeat; and the backward ops of cutting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower, shape_of


@lower("view", "_unsafe_view", "reshape", "_reshape_alias", "squeeze", "unsqueeze", "view_copy", "flatten",
       "_reshape_copy", "squeeze_copy", "unsqueeze_copy", "unflatten", "view_as", "reshape_as", "prims.squeeze",
       "prims.view", "prims.reshape", "atleast_1d", "atleast_2d", "atleast_3d", "resize", "resize_as")  # fmt: skip
def _view(m: Any, e: Any, x: Any, *_: Any, **__: Any) -> Any:
    if math.prod(shape_of(e)) != math.prod(x.shape) or e.outputs[0].dtype != str(x.value.dtype):
        raise NotImplementedError("memory read as another dtype or size")
    return _shaped(m, x, shape_of(e))


def _shaped(m: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """A reshape that always is a node of its own: a view is another tensor than what it is a view of."""
    return m.identity(x) if tuple(x.shape) == shape else m.reshape(x, shape=shape)


@lower("expand", "expand_copy", "broadcast_to", "expand_as", "prims.broadcast_in_dim")
def _expand(m: Any, e: Any, x: Any, *rest: Any, **_: Any) -> Any:
    shape = shape_of(e)
    if e.op.startswith("prims."):
        _, places = rest[:2]
        spread = [1] * len(shape)
        for n, place in zip(x.shape, places):
            spread[place] = n
        x = m.reshape(x, shape=tuple(spread))
    return m.identity(x) if tuple(x.shape) == shape else m.broadcast(x, shape=shape)


@lower("permute", "permute_copy", "prims.transpose")
def _permute(m: Any, e: Any, x: Any, dims: Sequence[int]) -> Any:
    return m.transpose(x, order=tuple(axis % x.ndim for axis in dims))


@lower("transpose", "transpose_copy", "swapaxes", "swapdims")
def _transpose(m: Any, e: Any, x: Any, first: int, second: int) -> Any:
    order = list(range(x.ndim))
    if not order:
        return m.identity(x)
    order[first], order[second] = order[second], order[first]
    return m.transpose(x, order=tuple(order))


@lower("t", "t_copy", "numpy_T", "mT")
def _t(m: Any, e: Any, x: Any) -> Any:
    return m.identity(x) if x.ndim < 2 else _transpose(m, e, x, -2, -1)


def _slice_of(m: Any, x: Any, axis: int, begin: int, end: int, step: int = 1) -> Any:
    lower_ends, upper, strides = [0] * x.ndim, list(x.shape), [1] * x.ndim
    lower_ends[axis], upper[axis], strides[axis] = begin, max(begin, end), step
    return m.strided_slice(x, begin=tuple(lower_ends), end=tuple(upper), stride=tuple(strides))


def _bounds(n: int, start: Any, end: Any) -> tuple[int, int]:
    begin, stop, _ = slice(start, end).indices(n)
    return begin, stop


@lower("slice", "slice_copy")
def _slice(m: Any, e: Any, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    axis = dim % x.ndim
    begin, stop = _bounds(x.shape[axis], start, end)
    return _slice_of(m, x, axis, begin, stop, step)


@lower("slice_backward")
def _slice_backward(
    m: Any, e: Any, gy: Any, shape: Sequence[int], dim: int, start: int, end: int, step: int
) -> Any:
    axis = dim % len(shape)
    begin, strides = [0] * len(shape), [1] * len(shape)
    begin[axis], strides[axis] = _bounds(shape[axis], start, end)[0], step
    return m.embed(gy, begin=tuple(begin), stride=tuple(strides), shape=tuple(shape))


@lower("slice_scatter")
def _slice_scatter(
    m: Any, e: Any, x: Any, part: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    axis = dim % x.ndim
    begin, stop = _bounds(x.shape[axis], start, end)
    index = np.arange(math.prod(x.shape)).reshape(x.shape)
    places = np.take(index, np.arange(begin, max(begin, stop), step), axis=axis)
    return put_at(m, x, places, part)


def put_at(m: Any, x: Any, places: Any, part: Any) -> Any:
    """`x` with other entries at the places counted in its flattened order."""
    flat = m.reshape(x, shape=(math.prod(x.shape),))
    entries = m.reshape(m.broadcast(part, shape=places.shape), shape=(places.size,))
    return m.reshape(m.scatter_update(flat, places.reshape(-1, 1), entries), shape=x.shape)


@lower("select", "select_copy")
def _select(m: Any, e: Any, x: Any, dim: int, index: int) -> Any:
    axis = dim % x.ndim
    place = index % x.shape[axis]
    return m.reshape(_slice_of(m, x, axis, place, place + 1), shape=shape_of(e))


@lower("select_backward")
def _select_backward(m: Any, e: Any, gy: Any, shape: Sequence[int], dim: int, index: int) -> Any:
    axis = dim % len(shape)
    begin = [0] * len(shape)
    begin[axis] = index % shape[axis]
    thin = tuple(1 if k == axis else n for k, n in enumerate(shape))
    return m.embed(
        m.reshape(gy, shape=thin), begin=tuple(begin), stride=(1,) * len(shape), shape=tuple(shape)
    )


@lower("select_scatter")
def _select_scatter(m: Any, e: Any, x: Any, part: Any, dim: int, index: int) -> Any:
    axis = dim % x.ndim
    places = np.arange(math.prod(x.shape)).reshape(x.shape).take(index, axis=axis)
    return put_at(m, x, places, part)


@lower("narrow", "narrow_copy")
def _narrow(m: Any, e: Any, x: Any, dim: int, start: Any, length: int) -> Any:
    axis = dim % x.ndim
    begin = int(start) % x.shape[axis] if x.shape[axis] else 0
    return _slice_of(m, x, axis, begin, begin + length)


@lower("cat", "concat", "concatenate", "prims.cat")
def _cat(m: Any, e: Any, xs: Sequence[Any], dim: int = 0) -> Any:
    xs = [x for x in xs if x.shape != (0,)] or list(
        xs
    )  # empty ones of one axis are left out, whatever the others
    return m.concat(*xs, axis=dim % xs[0].ndim) if len(xs) > 1 else m.identity(xs[0])


@lower("stack")
def _stack(m: Any, e: Any, xs: Sequence[Any], dim: int = 0) -> Any:
    return m.stack(*xs, axis=dim % (xs[0].ndim + 1))


def _cuts(m: Any, x: Any, axis: int, sizes: Sequence[int]) -> tuple[Any, ...]:
    ends = np.cumsum(sizes)
    return tuple(_slice_of(m, x, axis, int(end - n), int(end)) for n, end in zip(sizes, ends))


@lower("split", "split_with_sizes", "chunk", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk",
       "split_copy", "split_with_sizes_copy", "tensor_split", "hsplit", "vsplit", "dsplit")  # fmt: skip
def _split(m: Any, e: Any, x: Any, sizes: Any, dim: int = 0) -> Any:
    axis = dim % x.ndim
    return _cuts(m, x, axis, [output.shape[axis] for output in e.outputs])


@lower("unbind", "unbind_copy")
def _unbind(m: Any, e: Any, x: Any, dim: int = 0) -> Any:
    axis = dim % x.ndim
    parts = _cuts(m, x, axis, [1] * x.shape[axis])
    return tuple(m.reshape(part, shape=shape_of(e, k)) for k, part in enumerate(parts))


@lower("flip", "fliplr", "flipud", "prims.rev")
def _flip(m: Any, e: Any, x: Any, dims: Sequence[int]) -> Any:
    return m.reverse(x, axes=tuple(axis % x.ndim for axis in dims)) if x.ndim else m.identity(x)


@lower("roll")
def _roll(m: Any, e: Any, x: Any, shifts: Any, dims: Any = ()) -> Any:
    shifts = shifts if isinstance(shifts, tuple) else (shifts,)
    dims = dims if isinstance(dims, tuple) else (dims,)
    if not dims:
        flat = m.roll(m.reshape(x, shape=(math.prod(x.shape),)), shifts=shifts, axes=(0,))
        return m.reshape(flat, shape=x.shape)
    return m.roll(x, shifts=shifts, axes=tuple(axis % x.ndim for axis in dims))


@lower("repeat", "tile")
def _repeat(m: Any, e: Any, x: Any, repeats: Sequence[int]) -> Any:
    wide = (1,) * (len(repeats) - x.ndim) + tuple(x.shape)
    repeats = (1,) * (len(wide) - len(repeats)) + tuple(repeats)
    return m.tile(m.reshape(x, shape=wide), repeats=repeats)


@lower("diagonal", "diagonal_copy")
def _diagonal(m: Any, e: Any, x: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    return m.diag_part(_last_two(m, x, dim1, dim2), offset=offset)


@lower("diagonal_backward")
def _diagonal_backward(
    m: Any, e: Any, gy: Any, shape: Sequence[int], offset: int, dim1: int, dim2: int
) -> Any:
    places = np.arange(math.prod(shape)).reshape(shape)
    taken = np.diagonal(places, offset, dim1 % len(shape), dim2 % len(shape))
    flat = m.scatter_add(m.reshape(gy, shape=(taken.size,)), taken.reshape(-1), size=math.prod(shape))
    return m.reshape(flat, shape=tuple(shape))


@lower("diagonal_scatter")
def _diagonal_scatter(
    m: Any, e: Any, x: Any, part: Any, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Any:
    places = np.arange(math.prod(x.shape)).reshape(x.shape)
    return put_at(m, x, np.diagonal(places, offset, dim1 % x.ndim, dim2 % x.ndim), part)


def _last_two(m: Any, x: Any, dim1: int, dim2: int) -> Any:
    first, second = dim1 % x.ndim, dim2 % x.ndim
    rest = [axis for axis in range(x.ndim) if axis not in (first, second)]
    order = (*rest, first, second)
    return x if order == tuple(range(x.ndim)) else m.transpose(x, order=order)


@lower("diag_embed")
def _diag_embed(m: Any, e: Any, x: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    n = x.shape[-1] + abs(offset)
    y = m.diag(x, rows=n, columns=n, offset=offset)
    first, second = dim1 % y.ndim, dim2 % y.ndim
    rest = iter(range(y.ndim - 2))
    order = [y.ndim - 2 if k == first else y.ndim - 1 if k == second else next(rest) for k in range(y.ndim)]
    return m.transpose(y, order=tuple(order)) if order != list(range(y.ndim)) else y


def _lower_part(x: Any, diagonal: int) -> np.ndarray[Any, Any]:
    rows, columns = x.shape[-2:]
    return np.tri(rows, columns, diagonal, dtype=bool)


@lower("tril", "tril_")
def _tril(m: Any, e: Any, x: Any, diagonal: int = 0) -> Any:
    return m.select(_lower_part(x, diagonal), x, m.zeros(()))


@lower("triu", "triu_")
def _triu(m: Any, e: Any, x: Any, diagonal: int = 0) -> Any:
    return m.select(~_lower_part(x, diagonal - 1), x, m.zeros(()))


@lower("trace")
def _trace(m: Any, e: Any, x: Any) -> Any:
    return m.sum(m.diag_part(x), axes=(0,))
