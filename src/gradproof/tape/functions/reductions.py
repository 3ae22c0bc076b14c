"""Sums, means, products, extremes, running totals and sorts."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from gradproof.errors import NotSupported
from gradproof.tape.functions._operands import (
    axes_of,
    converted,
    operand,
    real_operand,
    require_numbers,
    values,
)
from gradproof.tape.functions._table import lowers
from gradproof.tape.functions.decisions import condition

_ABSENT = np._NoValue


def _given(option: Any, default: Any) -> Any:
    return default if option is _ABSENT else option


def kept_shape(m: Any, result: Any, y: Any) -> Any:
    """`keepdims`: the same entries in NumPy's shape."""
    return m.reshape(result, shape=np.shape(y))


def _masked(m: Any, x: Any, where: Any, neutral: float) -> Any:
    where = _given(where, True)
    if where is True:
        return x
    return m.select(condition(m, where), x, m.constant(np.asarray(neutral, x.value.dtype)))


def _reduce_by(m: Any, op: str, x: Any, axes: tuple[int, ...], y: Any, **params: Any) -> Any:
    """One node with NumPy's own value where nothing else happens to it."""
    result = m.record(op, [x], np.reshape(y, _without(x.shape, axes)), {"axes": axes, **params})
    return kept_shape(m, result, y)


def _without(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(n for axis, n in enumerate(shape) if axis not in axes)


def _total(
    m: Any,
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    keepdims: Any = False,
    initial: Any = _ABSENT,
    where: Any = True,
    *,
    op: str,
    join: str,
    neutral: float,
) -> Any:
    """A sum or a product: `join` is the op that takes two parts together, `neutral` what it leaves as it is."""
    require_numbers(y)
    x = _masked(m, operand(m, a, y.dtype), where, neutral)
    axes = axes_of(axis, x.ndim)
    if initial is _ABSENT or initial is None:
        return _reduce_by(m, op, x, axes, y)
    whole = kept_shape(m, getattr(m, op)(x, axes=axes), y)
    return getattr(m, join)(whole, operand(m, initial, y.dtype))


_sum = lowers(np.sum)(partial(_total, op="sum", join="add", neutral=0.0))
lowers(np.prod)(partial(_total, op="prod", join="mul", neutral=1.0))


@lowers(np.nansum)
def _nansum(
    m: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, **options: Any
) -> Any:
    return _sum(m, y, numbers_only(m, a, y.dtype, 0.0), axis)


def numbers_only(m: Any, a: Any, dtype: Any, neutral: float) -> Any:
    x = operand(m, a, dtype)
    return m.select(m.is_nan(x), m.constant(np.asarray(neutral, dtype)), x)


@lowers(np.mean)
def _mean(
    m: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, *, where: Any = True
) -> Any:
    require_numbers(y)
    x = operand(m, a, y.dtype)
    axes = axes_of(axis, x.ndim)
    if _given(where, True) is True:
        return _reduce_by(m, "mean", x, axes, y)
    total = kept_shape(m, m.sum(_masked(m, x, where, 0.0), axes=axes), y)
    counts = np.broadcast_to(values(where), x.shape).sum(axis=axes).reshape(y.shape)
    return m.div(total, m.constant(counts.astype(y.dtype)))


@lowers(np.nanmean)
def _nanmean(
    m: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, **options: Any
) -> Any:
    return _mean(m, y, numbers_only(m, a, y.dtype, 0.0), axis, where=~np.isnan(values(a)))


@lowers(np.average)
def _average(
    m: Any, y: Any, a: Any, axis: Any = None, weights: Any = None, returned: bool = False, **options: Any
) -> Any:
    if returned:
        raise NotSupported("average with the sum of weights")
    if weights is None:
        return _mean(m, y, a, axis)
    x, w = operand(m, a, y.dtype), operand(m, weights, y.dtype)
    axes = axes_of(axis, x.ndim)
    if w.shape != x.shape:
        w = m.broadcast(
            m.reshape(w, shape=tuple(x.shape[k] if k in axes else 1 for k in range(x.ndim))), shape=x.shape
        )
    return kept_shape(m, m.div(m.sum(m.mul(x, w), axes=axes), m.sum(w, axes=axes)), y)


@lowers(np.var)
def _var(
    m: Any,
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = _ABSENT,
    correction: Any = _ABSENT,
) -> Any:
    if _given(where, True) is not True or _given(mean, None) is not None:
        raise NotSupported("a variance with `where` or `mean`")
    x = real_operand(m, a)
    axes = axes_of(axis, x.ndim)
    ddof = _given(correction, ddof)
    if x.value.dtype.kind == "c":
        n = math.prod(x.shape[k] for k in axes)
        spread = m.sub(x, m.broadcast(_kept(m, m.mean(x, axes=axes), x.shape, axes), shape=x.shape))
        squares = m.add(m.square(m.real(spread)), m.square(m.imag(spread)))
        return kept_shape(m, m.div(m.sum(squares, axes=axes), n - ddof), y)
    if isinstance(ddof, int):
        return kept_shape(m, m.var(converted(m, x, y.dtype), axes=axes, ddof=ddof), y)
    raise NotSupported("a variance with a fractional number of degrees of freedom")


def _kept(m: Any, x: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    return m.reshape(x, shape=tuple(1 if k in axes else n for k, n in enumerate(shape)))


@lowers(np.std)
def _std(
    m: Any,
    y: Any,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    **options: Any,
) -> Any:
    return m.sqrt(_var(m, y, a, axis, dtype, ddof, keepdims, **options))


def flat_last(m: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The reduced axes moved to the end and made one."""
    rest = tuple(k for k in range(x.ndim) if k not in axes)
    moved = m.transpose(x, order=(*rest, *axes))
    return m.reshape(moved, shape=(*(x.shape[k] for k in rest), math.prod(x.shape[k] for k in axes)))


def _extreme(m: Any, y: Any, a: Any, axis: Any, op: str, skips_nan: bool, initial: Any, where: Any) -> Any:
    require_numbers(y)
    x = operand(m, a, y.dtype)
    if _given(initial, None) is not None or _given(where, True) is not True:
        raise NotSupported("an extreme with `initial` or `where`")
    flat = flat_last(m, x, axes_of(axis, x.ndim))
    find = {"argmax": (np.argmax, np.nanargmax), "argmin": (np.argmin, np.nanargmin)}[op][skips_nan]
    places = m.record(op, [flat], np.asarray(find(flat.value, axis=-1)), {"axis": flat.ndim - 1})
    found = m.take_along(flat, m.reshape(places, shape=(*places.shape, 1)), axis=flat.ndim - 1)
    return kept_shape(m, found, y)


@lowers(np.max, np.amax)
def max_along(
    m: Any, y: Any, a: Any, axis: Any = None, keepdims: Any = False, initial: Any = _ABSENT, where: Any = True
) -> Any:
    return _extreme(m, y, a, axis, "argmax", False, initial, where)


@lowers(np.min, np.amin)
def min_along(
    m: Any, y: Any, a: Any, axis: Any = None, keepdims: Any = False, initial: Any = _ABSENT, where: Any = True
) -> Any:
    return _extreme(m, y, a, axis, "argmin", False, initial, where)


@lowers(np.nanmax)
def _nanmax(
    m: Any, y: Any, a: Any, axis: Any = None, keepdims: Any = False, initial: Any = _ABSENT, where: Any = True
) -> Any:
    return _extreme(m, y, a, axis, "argmax", True, initial, where)


@lowers(np.nanmin)
def _nanmin(
    m: Any, y: Any, a: Any, axis: Any = None, keepdims: Any = False, initial: Any = _ABSENT, where: Any = True
) -> Any:
    return _extreme(m, y, a, axis, "argmin", True, initial, where)


@lowers(np.ptp)
def _ptp(m: Any, y: Any, a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    return m.sub(max_along(m, y, a, axis), min_along(m, y, a, axis))


def _place_of(op: str) -> Any:
    def lower(m: Any, y: Any, a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        x = a
        if x.value.dtype.kind != "f":
            raise NotSupported("the order of integers is a fact of the run")
        x = m.reshape(x, shape=(x.value.size,)) if axis is None else x
        axis = 0 if axis is None else int(axis) % x.ndim
        places = m.record(op, [x], np.reshape(y, _without(x.shape, (axis,))), {"axis": axis})
        return kept_shape(m, places, y)

    return lower


lowers(np.argmax)(_place_of("argmax"))
lowers(np.argmin)(_place_of("argmin"))
