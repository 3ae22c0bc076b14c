"""Quantiles and medians, interpolation between points, differences and integrals along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.errors import NotSupported
from gradproof.tape.functions._operands import axes_of, operand, real_operand, require_numbers, values
from gradproof.tape.functions._table import lowers
from gradproof.tape.functions.reductions import flat_last, kept_shape
from gradproof.tape.functions.scans import sorted_along


def _between(m: Any, ordered: Any, position: float) -> Any:
    """The number at a fractional place of a sorted last axis, on the line between its neighbours."""
    last = ordered.ndim - 1
    low = math.floor(position)
    low_part = m.take(ordered, np.asarray(low), axis=last)
    if low == position:
        return low_part
    high_part = m.take(ordered, np.asarray(low + 1), axis=last)
    share = m.constant(np.asarray(position - low, ordered.value.dtype))
    return m.add(low_part, m.mul(m.sub(high_part, low_part), share))


@lowers(np.median)
def _median(
    m: Any, y: Any, a: Any, axis: Any = None, overwrite_input: bool = False, keepdims: Any = False
) -> Any:
    x = operand(m, a, y.dtype)
    flat = flat_last(m, x, axes_of(axis, x.ndim))
    last, n = flat.ndim - 1, flat.shape[-1]
    ordered = sorted_along(m, flat, last)
    if n % 2:
        return kept_shape(m, m.take(ordered, np.asarray(n // 2), axis=last), y)
    pair = (m.take(ordered, np.asarray(k), axis=last) for k in (n // 2 - 1, n // 2))
    return kept_shape(m, m.div(m.add(*pair), 2), y)


def _quantiles(m: Any, y: Any, a: Any, shares: Any, axis: Any, method: str) -> Any:
    if method != "linear" or np.asarray(shares).dtype.kind != "f":
        raise NotSupported("quantiles by another method than linear")
    x = operand(m, a, y.dtype)
    flat = flat_last(m, x, axes_of(axis, x.ndim))
    ordered = sorted_along(m, flat, flat.ndim - 1)
    parts = [_between(m, ordered, float(share) * (flat.shape[-1] - 1)) for share in np.ravel(shares)]
    return kept_shape(m, parts[0] if np.ndim(shares) == 0 else m.stack(*parts, axis=0), y)


@lowers(np.quantile)
def _quantile(
    m: Any,
    y: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    **options: Any,
) -> Any:
    return _quantiles(m, y, a, np.asarray(values(q), float), axis, method)


@lowers(np.percentile)
def _percentile(
    m: Any,
    y: Any,
    a: Any,
    q: Any,
    axis: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    **options: Any,
) -> Any:
    return _quantiles(m, y, a, np.true_divide(values(q), 100.0), axis, method)


@lowers(np.interp)
def _interp(
    m: Any, y: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    """Which interval a number lies in is a decision; inside, a straight line; outside, the end values."""
    if period is not None or left is not None or right is not None or y.dtype.kind == "c":
        raise NotSupported("interp with `left`, `right`, `period` or complex values")
    x, xp, fp = (operand(m, part, y.dtype) for part in (x, xp, fp))
    flat, n = m.reshape(x, shape=(x.value.size,)), xp.shape[0]
    steps = m.div(
        m.sub(cut(m, fp, 0, 1, n), cut(m, fp, 0, 0, n - 1)),
        m.sub(cut(m, xp, 0, 1, n), cut(m, xp, 0, 0, n - 1)),
    )
    # One entry per number of points passed, 0 to n; before the first and after the last the line is level.
    slope = m.pad(steps, widths=((1, 1),))
    x0, f0 = (m.concat(cut(m, points, 0, 0, 1), points, axis=0) for points in (xp, fp))
    passed = m.searchsorted(xp, flat, side="right")
    line = m.mul(m.take(slope, passed, axis=0), m.sub(flat, m.take(x0, passed, axis=0)))
    return m.reshape(m.add(m.take(f0, passed, axis=0), line), shape=y.shape)


@lowers(np.diff)
def _diff(
    m: Any, y: Any, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = np._NoValue, append: Any = np._NoValue
) -> Any:
    require_numbers(y)
    x = operand(m, a, y.dtype)
    axis = int(axis) % x.ndim
    ends = [
        (end if end is np._NoValue else _one_thick(m, operand(m, end, y.dtype), x, axis))
        for end in (prepend, append)
    ]
    parts = [part for part in (ends[0], x, ends[1]) if part is not np._NoValue]
    x = m.concat(*parts, axis=axis) if len(parts) > 1 else x
    for _ in range(int(n)):
        x = m.sub(cut(m, x, axis, 1, x.shape[axis]), cut(m, x, axis, 0, x.shape[axis] - 1))
    return x


def _one_thick(m: Any, end: Any, x: Any, axis: int) -> Any:
    shape = tuple(1 if k == axis else n for k, n in enumerate(x.shape))
    return end if end.ndim else m.broadcast(end, shape=shape)


@lowers(np.ediff1d)
def _ediff1d(m: Any, y: Any, ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    if to_end is not None or to_begin is not None:
        raise NotSupported("ediff1d with ends")
    x = operand(m, ary, y.dtype)
    return _diff(m, y, m.reshape(x, shape=(x.value.size,)))


def cut(m: Any, x: Any, axis: int, begin: int, end: int) -> Any:
    """The entries from `begin` to before `end` along one axis."""
    starts, ends = [0] * x.ndim, list(x.shape)
    starts[axis], ends[axis] = begin, end
    return m.strided_slice(x, begin=tuple(starts), end=tuple(ends))


@lowers(np.trapezoid)
def _trapezoid(m: Any, result: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    f = operand(m, y, result.dtype)
    axis = int(axis) % f.ndim
    n = f.shape[axis]
    if x is None:
        step = operand(m, dx, result.dtype)
    else:
        points = operand(m, x, result.dtype)
        along = axis if points.ndim == f.ndim else 0
        step = m.sub(
            cut(m, points, along, 1, points.shape[along]), cut(m, points, along, 0, points.shape[along] - 1)
        )
        if points.ndim == 1:
            step = m.reshape(step, shape=tuple(n - 1 if k == axis else 1 for k in range(f.ndim)))
    pairs = m.add(cut(m, f, axis, 1, n), cut(m, f, axis, 0, n - 1))
    return m.sum(m.div(m.mul(step, pairs), 2), axes=(axis,))


@lowers(np.gradient)
def _gradient(m: Any, y: Any, f: Any, *spacing: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Equal steps, one-sided at the ends: what NumPy does by default."""
    x = real_operand(m, f)
    axes = axes_of(axis, x.ndim)
    steps = spacing if len(spacing) == len(axes) else spacing * len(axes) if spacing else (1.0,) * len(axes)
    if edge_order != 1 or any(np.ndim(values(step)) for step in steps) or isinstance(axis, tuple):
        raise NotSupported("np.gradient with uneven steps, higher edge order or several axes given")
    results = tuple(_slope_along(m, x, k, operand(m, step, x.value.dtype)) for k, step in zip(axes, steps))
    return results if isinstance(y, tuple) else results[0]


def _slope_along(m: Any, x: Any, axis: int, step: Any) -> Any:
    n = x.shape[axis]
    first = m.div(m.sub(cut(m, x, axis, 1, 2), cut(m, x, axis, 0, 1)), step)
    last = m.div(m.sub(cut(m, x, axis, n - 1, n), cut(m, x, axis, n - 2, n - 1)), step)
    if n == 2:
        return m.concat(first, last, axis=axis)
    inner = m.div(m.sub(cut(m, x, axis, 2, n), cut(m, x, axis, 0, n - 2)), m.mul(step, 2))
    return m.concat(first, inner, last, axis=axis)
