"""Fourier transforms as the backend has them: one op for each kind of spectrum."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower, shape_of

_NONE, _BY_ROOT, _BY_N = 0, 1, 2


def _scaled(m: Any, y: Any, x: Any, norm: int, n: int) -> Any:
    if norm == _NONE:
        return y
    factor = 1.0 / math.sqrt(n) if norm == _BY_ROOT else 1.0 / n
    return m.mul(y, m.literal(np.asarray(factor)))


def _lengths(x: Any, dims: Sequence[int]) -> tuple[tuple[int, ...], int]:
    axes = tuple(axis % x.ndim for axis in dims)
    return axes, math.prod(x.shape[axis] for axis in axes)


@lower("_fft_c2c")
def _c2c(m: Any, e: Any, x: Any, dims: Sequence[int], norm: int, forward: bool) -> Any:
    axes, n = _lengths(x, dims)
    y = m.fft(x, axes=axes) if forward else m.mul(m.ifft(x, axes=axes), m.literal(np.asarray(float(n))))
    return _scaled(m, y, x, norm, n)


@lower("_fft_r2c")
def _r2c(m: Any, e: Any, x: Any, dims: Sequence[int], norm: int, onesided: bool) -> Any:
    axes, n = _lengths(x, dims)
    if not onesided:
        y = m.fft(m.complex(m.cast(x, dtype="float64"), m.zeros(x.shape)), axes=axes)
        return _scaled(m, y, x, norm, n)
    y = m.rfft(x, axis=axes[-1])
    if len(axes) > 1:
        y = m.fft(y, axes=axes[:-1])
    return _scaled(m, y, x, norm, n)


@lower("_fft_c2r")
def _c2r(m: Any, e: Any, x: Any, dims: Sequence[int], norm: int, last: int) -> Any:
    axes = tuple(axis % x.ndim for axis in dims)
    n = math.prod(shape_of(e)[axis] for axis in axes)
    if len(axes) > 1:
        others = math.prod(x.shape[axis] for axis in axes[:-1])
        x = m.mul(m.ifft(x, axes=axes[:-1]), m.literal(np.asarray(float(others))))
    y = m.mul(m.irfft(x, axis=axes[-1], length=last), m.literal(np.asarray(float(last))))
    return _scaled(m, y, x, norm, n)
