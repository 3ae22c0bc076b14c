"""NumPy functions that are made of others: convolutions, covariances, polynomials, ranges between end points."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.errors import NotSupported
from gradproof.tape.functions._operands import axes_of, operand, real_operand, require_numbers, values
from gradproof.tape.functions._table import lowers, newer
from gradproof.tape.functions.linalg import norm, squares
from gradproof.tape.functions.reductions import kept_shape, numbers_only
from gradproof.tape.functions.scans import cumprod, cumsum


@lowers(np.convolve)
def _convolve(m: Any, y: Any, a: Any, v: Any, mode: str = "full") -> Any:
    require_numbers(y)
    a, v = operand(m, a, y.dtype), operand(m, v, y.dtype)
    a, v = (v, a) if v.shape[0] > a.shape[0] else (a, v)
    n = v.shape[0]
    padded = m.pad(a, widths=((n - 1, n - 1),))
    windows = np.arange(a.shape[0] + n - 1)[:, None] + np.arange(n)[::-1]
    whole = m.matmul(m.take(padded, windows, axis=0), m.reshape(v, shape=(n, 1)))
    begin = {"full": 0, "same": (n - 1) // 2, "valid": n - 1}[mode]
    return m.reshape(m.strided_slice(whole, begin=(begin, 0), end=(begin + y.size, 1)), shape=y.shape)


@lowers(np.correlate)
def _correlate(m: Any, y: Any, a: Any, v: Any, mode: str = "valid") -> Any:
    a, v = operand(m, a, y.dtype), operand(m, v, y.dtype)
    if v.shape[0] > a.shape[0]:
        raise NotSupported("a correlation with the longer array second")
    return _convolve(m, y, a, m.conj(m.reverse(v, axes=(0,))), mode)


def _rows(m: Any, y: Any, x: Any, other: Any, rowvar: bool) -> Any:
    """One variable per row, as covariances are computed."""
    parts = []
    for part in (x, other):
        if part is None:
            continue
        part = operand(m, part, y.dtype)
        part = m.reshape(part, shape=(1, part.shape[0])) if part.ndim == 1 else part
        parts.append(part if rowvar or part.shape[0] == 1 else m.transpose(part, order=(1, 0)))
    return m.concat(*parts, axis=0) if len(parts) > 1 else parts[0]


@lowers(np.cov)
def _cov(
    m: Any,
    y: Any,
    x: Any,
    other: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: Any = None,
    fweights: Any = None,
    aweights: Any = None,
    **options: Any,
) -> Any:
    if fweights is not None or aweights is not None:
        raise NotSupported("a covariance with weights")
    rows = _rows(m, y, x, other, rowvar)
    n = rows.shape[1]
    away = m.sub(rows, m.reshape(m.mean(rows, axes=(1,)), shape=(rows.shape[0], 1)))
    products = m.matmul(away, m.conj(m.transpose(away, order=(1, 0))))
    return m.reshape(m.div(products, n - (int(ddof) if ddof is not None else int(not bias))), shape=y.shape)


@lowers(np.corrcoef)
def _corrcoef(m: Any, y: Any, x: Any, other: Any = None, rowvar: bool = True, **options: Any) -> Any:
    shape = y.shape if y.ndim else (1, 1)
    covariance = _cov(m, np.empty(shape, y.dtype), x, other, rowvar)
    spread = m.sqrt(m.diag_part(covariance))
    n = shape[0]
    scaled = m.div(m.div(covariance, m.reshape(spread, shape=(n, 1))), m.reshape(spread, shape=(1, n)))
    return m.reshape(scaled, shape=y.shape)


@lowers(np.polyval)
def _polyval(m: Any, y: Any, p: Any, x: Any) -> Any:
    """By nested products, as NumPy does it."""
    require_numbers(y)
    coefficients, x = operand(m, p, y.dtype), operand(m, x, y.dtype)
    total: Any = m.constant(np.zeros(y.shape, y.dtype))
    for k in range(coefficients.shape[0]):
        total = m.add(m.mul(total, x), m.take(coefficients, np.asarray(k), axis=0))
    return total


@lowers(np.vander)
def _vander(m: Any, y: Any, x: Any, N: Any = None, increasing: bool = False) -> Any:
    require_numbers(y)
    x = operand(m, x, y.dtype)
    powers = [m.integer_power(x, exponent=k) for k in range(y.shape[1])]
    return m.stack(*(powers if increasing else reversed(powers)), axis=1)


@lowers(np.linspace)
def _linspace(
    m: Any,
    y: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    **options: Any,
) -> Any:
    if retstep or axis != 0:
        raise NotSupported("linspace along another axis, or with its step")
    start, stop = operand(m, start, y.dtype), operand(m, stop, y.dtype)
    n_steps = max(num - 1 if endpoint else num, 1)
    count = m.constant(np.arange(num, dtype=y.dtype).reshape(num, *(1,) * (y.ndim - 1)))
    return m.add(start, m.mul(m.div(count, n_steps), m.sub(stop, start)))


@lowers(np.nanprod)
def _nanprod(
    m: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = False, **options: Any
) -> Any:
    x = numbers_only(m, a, y.dtype, 1.0)
    return kept_shape(m, m.prod(x, axes=axes_of(axis, x.ndim)), y)


@lowers(np.nanvar)
def _nanvar(
    m: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, **options: Any
) -> Any:
    x = real_operand(m, a)
    axes = axes_of(axis, x.ndim)
    shape = tuple(1 if k in axes else n for k, n in enumerate(x.shape))
    is_number = ~np.isnan(x.value)
    counts = is_number.sum(axis=axes).reshape(shape)
    zero = m.constant(np.zeros((), x.value.dtype))
    total = m.reshape(m.sum(m.select(is_number, x, zero), axes=axes), shape=shape)
    away = m.select(is_number, m.sub(x, m.div(total, m.constant(counts.astype(x.value.dtype)))), zero)
    free = m.constant((counts - int(ddof)).astype(y.dtype).reshape(y.shape))
    return m.div(kept_shape(m, m.sum(squares(m, away), axes=axes), y), free)


@lowers(np.nanstd)
def _nanstd(
    m: Any, y: Any, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, **options: Any
) -> Any:
    return m.sqrt(_nanvar(m, y, a, axis, dtype, ddof))


@lowers(*newer("cumulative_sum"))
def _cumulative_sum(
    m: Any, y: Any, x: Any, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    if include_initial:
        raise NotSupported("a cumulative sum with its start")
    return cumsum(m, y, x, axis)


@lowers(*newer("cumulative_prod"))
def _cumulative_prod(
    m: Any, y: Any, x: Any, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Any:
    if include_initial:
        raise NotSupported("a cumulative product with its start")
    return cumprod(m, y, x, axis)


@lowers(np.linalg.vector_norm)
def _vector_norm(m: Any, y: Any, x: Any, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    if axis is None and isinstance(x, Traced):
        x = m.reshape(x, shape=(x.value.size,))
    axis = 0 if axis is None else axis
    if isinstance(axis, tuple):
        raise NotSupported("a vector norm over several axes")
    return norm(m, y, x, ord, int(values(axis)))


@lowers(*newer("matvec"))
def _matvec(m: Any, y: Any, a: Any, v: Any) -> Any:
    a, v = operand(m, a, y.dtype), operand(m, v, y.dtype)
    return m.reshape(m.matmul(a, m.reshape(v, shape=(*v.shape, 1))), shape=y.shape)


@lowers(*newer("vecmat"))
def _vecmat(m: Any, y: Any, v: Any, a: Any) -> Any:
    v, a = operand(m, v, y.dtype), operand(m, a, y.dtype)
    row = m.conj(m.reshape(v, shape=(*v.shape[:-1], 1, v.shape[-1])))
    return m.reshape(m.matmul(row, a), shape=y.shape)
