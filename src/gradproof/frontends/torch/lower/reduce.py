"""Sums, means, extremes and running sums along axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import axes_of, is_complex, kept, lower, number
from gradproof.frontends.torch.lower.arithmetic import converted


def _wide(m: Any, e: Any, x: Any) -> Any:
    """The operand in the dtype of the result, as `sum(dtype=...)` takes it; sums of booleans are counts."""
    target = str(e.outputs[0].dtype)
    return x if str(x.value.dtype) == target else converted(m, x, target)


@lower("sum", "prims.sum")
def _sum(m: Any, e: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    axes = axes_of(dim, x)
    return kept(m, m.sum(_wide(m, e, x), axes=axes) if axes else m.identity(_wide(m, e, x)), x, axes, keepdim)


@lower("mean")
def _mean(m: Any, e: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    axes = axes_of(dim, x)
    return kept(m, m.mean(_wide(m, e, x), axes=axes) if axes else m.identity(x), x, axes, keepdim)


@lower("prod")
def _prod(m: Any, e: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    axes = axes_of(dim, x)
    return kept(m, m.prod(_wide(m, e, x), axes=axes) if axes else m.identity(x), x, axes, keepdim)


@lower("nansum")
def _nansum(m: Any, e: Any, x: Any, dim: Any = None, keepdim: Any = False, dtype: Any = None) -> Any:
    return _sum(m, e, m.select(m.is_nan(x), m.zeros(()), x), dim, keepdim, dtype)


def _less_by(dim: Any, unbiased: Any, correction: Any) -> tuple[Any, float]:
    """How much less than the number of entries a variance is divided by."""
    if isinstance(dim, bool):  # `var(x, unbiased)`
        dim, unbiased = None, dim
    if correction is None:
        return dim, 1.0 if unbiased is None or unbiased else 0.0
    return dim, float(correction)


def _variance(m: Any, x: Any, axes: tuple[int, ...], less: float) -> Any:
    if is_complex(x):
        return m.add(_variance(m, m.real(x), axes, less), _variance(m, m.imag(x), axes, less))
    if less == int(less):
        return m.var(x, axes=axes, ddof=int(less))
    count = math.prod(x.shape[axis] for axis in axes)
    return m.mul(m.var(x, axes=axes), number(m, count / (count - less), x))


@lower("var", "prims.var")
def _var(
    m: Any,
    e: Any,
    x: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: Any = False,
    correction: Any = None,
) -> Any:
    dim, less = _less_by(dim, unbiased, correction)
    axes = axes_of(dim, x)
    return kept(m, _variance(m, x, axes, less), x, axes, keepdim)


@lower("std")
def _std(
    m: Any,
    e: Any,
    x: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: Any = False,
    correction: Any = None,
) -> Any:
    return m.sqrt(_var(m, e, x, dim, unbiased, keepdim, correction))


@lower("var_mean", "std_mean")
def _var_mean(
    m: Any,
    e: Any,
    x: Any,
    dim: Any = None,
    unbiased: Any = None,
    keepdim: Any = False,
    correction: Any = None,
) -> Any:
    axes = axes_of(_less_by(dim, unbiased, correction)[0], x)
    spread = _var(m, e, x, dim, unbiased, keepdim, correction)
    return m.sqrt(spread) if "std" in e.op else spread, kept(m, m.mean(x, axes=axes), x, axes, keepdim)


def extreme(m: Any, x: Any, axes: tuple[int, ...], largest: bool) -> tuple[Any, Any]:
    """(the extreme, its place along the flattened axes)."""
    if not axes:
        return m.identity(x), None
    rest = tuple(axis for axis in range(x.ndim) if axis not in axes)
    turned = m.transpose(x, order=(*rest, *axes)) if (*rest, *axes) != tuple(range(x.ndim)) else x
    lead = tuple(x.shape[axis] for axis in rest)
    flat = m.reshape(turned, shape=(*lead, math.prod(x.shape[axis] for axis in axes)))
    place = (m.argmax if largest else m.argmin)(flat, axis=len(lead))
    found = m.take_along(flat, m.reshape(place, shape=(*lead, 1)), axis=len(lead))
    return m.reshape(found, shape=lead), place


def _all_axes(name: str, largest: bool) -> None:
    @lower(f"a{name}")
    def over_axes(m: Any, e: Any, x: Any, dim: Any = (), keepdim: Any = False) -> Any:
        axes = axes_of(dim, x)
        return kept(m, extreme(m, x, axes, largest)[0], x, axes, keepdim)

    @lower(name, f"{name}.default", f"{name}.unary_out")
    def over_all(m: Any, e: Any, x: Any) -> Any:
        return extreme(m, x, tuple(range(x.ndim)), largest)[0]

    @lower(f"{name}.dim", f"{name}.dim_max", f"{name}.dim_min")
    def along(m: Any, e: Any, x: Any, dim: int, keepdim: Any = False) -> Any:
        axes = axes_of(dim, x)
        found, place = extreme(m, x, axes, largest)
        if place is None:
            return found, m.constant(np.asarray(e.outputs[1].array))
        return kept(m, found, x, axes, keepdim), kept(m, place, x, axes, keepdim)

    @lower(f"arg{name}")
    def place_of(m: Any, e: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
        axes = axes_of(dim, x)
        place = extreme(m, x, axes, largest)[1]
        return (
            m.constant(np.asarray(e.outputs[0].array)) if place is None else kept(m, place, x, axes, keepdim)
        )


_all_axes("max", largest=True)
_all_axes("min", largest=False)


@lower("aminmax")
def _aminmax(m: Any, e: Any, x: Any, dim: Any = None, keepdim: Any = False) -> Any:
    axes = axes_of(dim, x)
    return tuple(kept(m, extreme(m, x, axes, largest)[0], x, axes, keepdim) for largest in (False, True))


def _taken(m: Any, x: Any, places: Any, axis: int) -> Any:
    return m.take_along(x, places, axis=axis)


@lower("sort")
def _sort(m: Any, e: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
    options = dict(
        zip(("dim", "descending") if "stable" not in e.op else ("stable", "dim", "descending"), args)
    )
    options.update(kwargs)
    dim, descending = options.get("dim", -1), bool(options.get("descending", False))
    if not x.ndim:
        return m.identity(x), m.constant(np.asarray(e.outputs[1].array))
    axis = dim % x.ndim
    order = m.argsort(x, axis=axis, descending=descending)
    return _taken(m, x, order, axis), order


@lower("argsort")
def _argsort(m: Any, e: Any, x: Any, dim: int = -1, descending: Any = False) -> Any:
    return m.argsort(x, axis=dim % x.ndim, descending=bool(descending))


@lower("topk")
def _topk(m: Any, e: Any, x: Any, k: int, dim: int = -1, largest: Any = True, sorted: Any = True) -> Any:
    if not x.ndim:
        return m.identity(x), m.constant(np.asarray(e.outputs[1].array))
    axis = dim % x.ndim
    places = m.top_k(x if largest else m.neg(x), k=k, axis=axis)
    found = _taken(m, x, places, axis)
    if not np.array_equal(found.value, e.outputs[0].array):
        raise NotImplementedError("the largest entries in an order of the kernel's own")
    return found, places


def _one_of_order(m: Any, e: Any, x: Any, rank: int, dim: int, keepdim: Any) -> Any:
    axes = axes_of(dim, x)
    order = m.argsort(x, axis=axes[0], descending=False)
    place = m.take(order, np.asarray([rank]), axis=axes[0])
    found = m.take_along(x, place, axis=axes[0])
    shape = tuple(e.outputs[0].shape)
    return m.reshape(found, shape=shape), m.reshape(place, shape=shape)


@lower("kthvalue")
def _kthvalue(m: Any, e: Any, x: Any, k: int, dim: int = -1, keepdim: Any = False) -> Any:
    if not x.ndim:
        return m.identity(x), m.constant(np.asarray(e.outputs[1].array))
    return _one_of_order(m, e, x, k - 1, dim, keepdim)


@lower("median.dim", "nanmedian.dim")
def _median_dim(m: Any, e: Any, x: Any, dim: int, keepdim: Any = False) -> Any:
    if "nan" in e.op and np.isnan(x.value).any():
        raise NotImplementedError("medians beside NaN")
    if not x.ndim:
        return m.identity(x), m.constant(np.asarray(e.outputs[1].array))
    return _one_of_order(m, e, x, (x.shape[dim] - 1) // 2, dim, keepdim)


@lower("median", "nanmedian")
def _median(m: Any, e: Any, x: Any) -> Any:
    return _median_dim(m, e, m.reshape(x, shape=(math.prod(x.shape),)), 0)[0]


@lower("mode")
def _mode(m: Any, e: Any, x: Any, dim: int = -1, keepdim: Any = False) -> Any:
    """Where no number occurs twice it is the smallest one; else the function jumps, and has no slope."""
    if not x.ndim:
        return m.identity(x), m.constant(np.asarray(e.outputs[1].array))
    if (np.diff(np.sort(x.value, axis=dim), axis=dim) == 0).any():
        raise NotImplementedError("the most frequent number of several")
    return _one_of_order(m, e, x, 0, dim, keepdim)


@lower("logsumexp")
def _logsumexp(m: Any, e: Any, x: Any, dim: Any, keepdim: Any = False) -> Any:
    axes = axes_of(dim, x)
    return kept(m, m.logsumexp(x, axes=axes), x, axes, keepdim)


@lower("cumsum")
def _cumsum(m: Any, e: Any, x: Any, dim: int, dtype: Any = None) -> Any:
    return m.cumsum(x, axis=dim % x.ndim) if x.ndim else m.identity(x)


@lower("cumprod")
def _cumprod(m: Any, e: Any, x: Any, dim: int, dtype: Any = None) -> Any:
    return m.cumprod(x, axis=dim % x.ndim) if x.ndim else m.identity(x)


@lower("logcumsumexp")
def _logcumsumexp(m: Any, e: Any, x: Any, dim: int) -> Any:
    return m.cumlogsumexp(x, axis=dim % x.ndim) if x.ndim else m.identity(x)


def _running(name: str, largest: bool) -> None:
    @lower(name)
    def running(m: Any, e: Any, x: Any, dim: int) -> Any:
        """The largest so far, and where it stands: the later one of equals, as the kernel has it."""
        places = m.constant(np.asarray(e.outputs[1].array))
        if not x.ndim:
            return m.identity(x), places
        axis = dim % x.ndim
        best = [m.take(x, np.asarray([0]), axis=axis)]
        for k in range(1, x.shape[axis]):
            here = m.take(x, np.asarray([k]), axis=axis)
            ahead = (m.greater_equal if largest else m.less_equal)(here, best[-1])
            best.append(m.select(ahead, here, best[-1]))
        return m.concat(*best, axis=axis) if len(best) > 1 else best[0], places


_running("cummax", largest=True)
_running("cummin", largest=False)
