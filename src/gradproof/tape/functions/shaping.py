"""Functions that move, repeat, join or drop entries and change none."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.errors import NotSupported
from gradproof.tape.functions._operands import operand, require_numbers, values
from gradproof.tape.functions._table import LOWERINGS, lowers, newer


def _number(m: Any, y: Any, x: Any) -> Any:
    return operand(m, x, (y[0] if isinstance(y, tuple) else y).dtype)


def _reshaped(m: Any, y: Any, a: Any, *args: Any, **options: Any) -> Any:
    """The result in the order of C; other orders go through `_moved`."""
    order = options.get("order", "C")
    if order not in ("C", "K") or "F" in args:
        return _moved(np.reshape if args else np.ravel, m, y, a, *args, **options)
    x = _number(m, y, a)
    return m.record("reshape", [x], y, {"shape": y.shape})


for _function in (
    np.reshape,
    np.ravel,
    np.squeeze,
    np.expand_dims,
    np.atleast_1d,
    np.atleast_2d,
    np.atleast_3d,
):
    LOWERINGS[_function] = _reshaped


def _moved(function: Any, m: Any, y: Any, a: Any, *args: Any, **options: Any) -> Any:
    """Any rearrangement: where each entry comes from is found by rearranging the places themselves."""
    x = _number(m, y, a)
    places = function(np.arange(x.value.size).reshape(x.shape), *args, **options)
    return m.take(m.reshape(x, shape=(x.value.size,)), m.constant(np.asarray(places)), axis=0)


@lowers(np.transpose)
def _transpose(m: Any, y: Any, a: Any, axes: Any = None) -> Any:
    x = _number(m, y, a)
    order = tuple(reversed(range(x.ndim))) if axes is None else tuple(int(k) % x.ndim for k in axes)
    return m.record("transpose", [x], y, {"order": order})


def _permuted(function: Any) -> Any:
    def lower(m: Any, y: Any, a: Any, *args: Any, **options: Any) -> Any:
        x = _number(m, y, a)
        # A dummy with axes of different lengths shows where the axes went.
        shape = function(np.empty(tuple(range(2, 2 + x.ndim))), *args, **options).shape
        return m.record("transpose", [x], y, {"order": tuple(n - 2 for n in shape)})

    return lower


LOWERINGS |= {
    function: _permuted(function)
    for function in (np.swapaxes, np.moveaxis, np.rollaxis, np.matrix_transpose, np.linalg.matrix_transpose)
}


def rearranged(function: Any) -> Any:
    return lambda m, y, *args, **options: _moved(function, m, y, *args, **options)


LOWERINGS |= {
    function: rearranged(function)
    for function in (
        np.rot90,
        np.tile,
        np.repeat,
        np.diagonal,
        np.resize,
        np.delete,
        np.roll,
        np.flip,
        np.fliplr,
        np.flipud,
    )
}


@lowers(np.broadcast_to)
def _broadcast_to(m: Any, y: Any, array: Any, shape: Any, subok: bool = False) -> Any:
    return m.record("broadcast", [_number(m, y, array)], y, {"shape": y.shape})


@lowers(np.broadcast_arrays)
def _broadcast_arrays(m: Any, y: Any, *args: Any, subok: bool = False) -> Any:
    return tuple(m.broadcast(operand(m, x, part.dtype), shape=part.shape) for x, part in zip(args, y))


@lowers(np.meshgrid)
def _meshgrid(m: Any, y: Any, *xi: Any, copy: bool = True, sparse: bool = False, indexing: Any = "xy") -> Any:
    sizes = [np.size(values(x)) for x in xi]
    grids = np.meshgrid(*[np.arange(n) for n in sizes], sparse=sparse, indexing=indexing)
    return tuple(
        m.take(m.reshape(_number(m, part, x), shape=(n,)), m.constant(places), axis=0)
        for x, part, n, places in zip(xi, y, sizes, grids)
    )


def _joined(m: Any, y: Any, arrays: Any, axis: int) -> Any:
    parts = [operand(m, part, y.dtype) for part in arrays]
    return m.record("concat", parts, y, {"axis": axis}) if len(parts) > 1 else m.identity(parts[0])


@lowers(np.concatenate)
def _concatenate(
    m: Any, y: Any, arrays: Any, axis: Any = 0, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    require_numbers(y)
    arrays = list(arrays) if not isinstance(arrays, Traced) else _rows(m, arrays)
    if axis is None:
        arrays = [m.reshape(operand(m, part, y.dtype), shape=(np.size(values(part)),)) for part in arrays]
    return _joined(m, y, arrays, 0 if axis is None else int(axis) % y.ndim)


def _rows(m: Any, x: Any) -> list[Any]:
    return [m.take(x, np.asarray(k), axis=0) for k in range(x.shape[0])]


@lowers(np.stack)
def _stack(m: Any, y: Any, arrays: Any, axis: Any = 0, **options: Any) -> Any:
    require_numbers(y)
    arrays = _rows(m, arrays) if isinstance(arrays, Traced) else arrays
    parts = [operand(m, part, y.dtype) for part in arrays]
    return m.record("stack", parts, y, {"axis": int(axis) % y.ndim})


def _stacked_as(shape: Any, axis: Any) -> Any:
    """hstack and its kin: every part is first given the axes it lacks."""

    def lower(m: Any, y: Any, tup: Any, **options: Any) -> Any:
        require_numbers(y)
        tup = _rows(m, tup) if isinstance(tup, Traced) else tup
        parts = [operand(m, part, y.dtype) for part in tup]
        parts = [m.reshape(part, shape=shape(np.empty(part.shape)).shape) for part in parts]
        return _joined(m, y, parts, axis(parts[0]))

    return lower


LOWERINGS |= {
    np.hstack: _stacked_as(np.atleast_1d, lambda part: 0 if part.ndim == 1 else 1),
    np.vstack: _stacked_as(np.atleast_2d, lambda part: 0),
    np.dstack: _stacked_as(np.atleast_3d, lambda part: 2),
    np.column_stack: _stacked_as(
        lambda part: part[:, None] if part.ndim == 1 else np.atleast_2d(part), lambda part: 1
    ),
}


@lowers(np.append)
def _append(m: Any, y: Any, arr: Any, values: Any, axis: Any = None) -> Any:
    return _concatenate(m, y, [arr, values], axis)


@lowers(np.block)
def _block(m: Any, y: Any, arrays: Any) -> Any:
    """Nested lists of arrays, joined along the last axis inside and the axes before it outside."""
    require_numbers(y)
    depth = _depth(arrays)
    ndim = max(y.ndim, depth)

    def join(part: Any, level: int) -> Any:
        if isinstance(part, list):
            return m.concat(*(join(item, level + 1) for item in part), axis=ndim - depth + level)
        x = operand(m, part, y.dtype)
        return m.reshape(x, shape=(*(1,) * (ndim - x.ndim), *x.shape))

    return join(arrays, 0)


def _depth(arrays: Any) -> int:
    return 1 + max(map(_depth, arrays)) if isinstance(arrays, list) else 0


def _split_by(function: Any) -> Any:
    """Where each part begins is seen by splitting the places."""

    def lower(m: Any, y: Any, ary: Any, sections: Any, axis: Any = None) -> Any:
        require_numbers(y[0])
        options = {} if axis is None else {"axis": axis}
        x = operand(m, ary, y[0].dtype)
        places = function(np.arange(x.value.size).reshape(x.shape), values(sections), **options)
        flat = m.reshape(x, shape=(x.value.size,))
        return tuple(m.take(flat, m.constant(np.asarray(part)), axis=0) for part in places)

    return lower


LOWERINGS |= {
    function: _split_by(function) for function in (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)
}


@lowers(*newer("unstack"))
def _unstack(m: Any, y: Any, x: Any, *, axis: int = 0) -> Any:
    require_numbers(y[0])
    return tuple(m.take(x, np.asarray(k), axis=int(axis) % x.ndim) for k in range(len(y)))


@lowers(np.pad)
def _pad(m: Any, y: Any, array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    require_numbers(y)
    x = operand(m, array, y.dtype)
    if mode == "constant" and not any(np.any(values(v)) for v in options.values()):
        widths = np.broadcast_to(np.asarray(values(pad_width)), (x.ndim, 2))
        return m.pad(x, widths=tuple((int(a), int(b)) for a, b in widths))
    if mode not in ("edge", "reflect", "symmetric", "wrap") or options:
        raise NotSupported(f"padding by {mode}")
    return _moved(lambda places: np.pad(places, values(pad_width), mode=mode), m, y, array)


def _triangle(function: Any) -> Any:
    def lower(m: Any, y: Any, a: Any, k: Any = 0) -> Any:
        x = _number(m, y, a)
        keep = function(np.ones(x.shape[-2:], bool), int(values(k)))
        return m.select(keep, x, m.constant(np.zeros((), y.dtype)))

    return lower


LOWERINGS |= {np.tril: _triangle(np.tril), np.triu: _triangle(np.triu)}


@lowers(np.diag)
def _diag(m: Any, y: Any, v: Any, k: Any = 0) -> Any:
    x = _number(m, y, v)
    if x.ndim == 1:
        return m.diag(x, rows=y.shape[0], columns=y.shape[1], offset=int(k))
    return m.diag_part(x, offset=int(k))


@lowers(np.diagflat)
def _diagflat(m: Any, y: Any, v: Any, k: Any = 0) -> Any:
    x = _number(m, y, v)
    return m.diag(m.reshape(x, shape=(x.value.size,)), rows=y.shape[0], columns=y.shape[1], offset=int(k))
