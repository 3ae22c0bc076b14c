"""NumPy's discrete Fourier transforms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.errors import NotSupported
from gradproof.tape.functions._operands import converted, operand, require_numbers
from gradproof.tape.functions._table import LOWERINGS, lowers
from gradproof.tape.functions.shaping import rearranged


def _fitted(m: Any, x: Any, n: Any, axis: int) -> Any:
    """Cropped or padded with zeros at the end to the wanted length."""
    if n is None or int(n) == x.shape[axis]:
        return x
    if int(n) < x.shape[axis]:
        end = [int(n) if k == axis else size for k, size in enumerate(x.shape)]
        return m.strided_slice(x, begin=(0,) * x.ndim, end=tuple(end))
    return m.pad(x, widths=tuple((0, int(n) - size if k == axis else 0) for k, size in enumerate(x.shape)))


def _scaled(m: Any, y: Any, n: int, norm: str | None, forward: bool) -> Any:
    """The ops put 1/n on the way back; the other conventions move it."""
    norm = norm or "backward"
    if norm == "backward":
        return y
    root = m.sqrt(m.constant(np.asarray(n, y.value.real.dtype)))
    if norm == "ortho":
        factor = m.reciprocal(root) if forward else root
    else:
        factor = m.constant(np.asarray(n, y.value.real.dtype))
        factor = m.reciprocal(factor) if forward else factor
    return m.mul(y, converted(m, factor, y.value.dtype))


def _complex(op: str, forward: bool) -> Any:
    def lower(m: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
        x = operand(m, a, y.dtype)
        axis = int(axis) % x.ndim
        x = _fitted(m, x, n, axis)
        return _scaled(m, getattr(m, op)(x, axes=(axis,)), x.shape[axis], norm, forward)

    return lower


def _complex_axes(op: str, forward: bool, default: Any) -> Any:
    def lower(m: Any, y: Any, a: Any, s: Any = None, axes: Any = default, norm: Any = None) -> Any:
        x = operand(m, a, y.dtype)
        given = axes if axes is not None else range(x.ndim)[-len(s) :] if s is not None else range(x.ndim)
        places = tuple(int(axis) % x.ndim for axis in given)
        for k, axis in enumerate(places):
            x = _fitted(m, x, None if s is None or s[k] == -1 else s[k], axis)
        size = math.prod(x.shape[axis] for axis in places)
        return _scaled(m, getattr(m, op)(x, axes=places), size, norm, forward)

    return lower


LOWERINGS |= {
    np.fft.fft: _complex("fft", True),
    np.fft.ifft: _complex("ifft", False),
    np.fft.fft2: _complex_axes("fft", True, (-2, -1)),
    np.fft.ifft2: _complex_axes("ifft", False, (-2, -1)),
    np.fft.fftn: _complex_axes("fft", True, None),
    np.fft.ifftn: _complex_axes("ifft", False, None),
}


@lowers(np.fft.rfft)
def _rfft(m: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    x = operand(m, a, y.real.dtype)
    axis = int(axis) % x.ndim
    x = _fitted(m, x, n, axis)
    return _scaled(m, m.rfft(x, axis=axis), x.shape[axis], norm, True)


def _rfft_axes(default: Any) -> Any:
    """Real along the last axis, then complex along the others."""

    def lower(m: Any, y: Any, a: Any, s: Any = None, axes: Any = default, norm: Any = None) -> Any:
        x = operand(m, a, y.real.dtype)
        places = tuple(int(axis) % x.ndim for axis in (range(x.ndim) if axes is None else axes))
        if s is not None:
            raise NotSupported("a real transform of several axes with other lengths")
        size = math.prod(x.shape[axis] for axis in places)
        half = m.rfft(x, axis=places[-1])
        return _scaled(m, m.fft(half, axes=places[:-1]) if len(places) > 1 else half, size, norm, True)

    return lower


LOWERINGS |= {np.fft.rfft2: _rfft_axes((-2, -1)), np.fft.rfftn: _rfft_axes(None)}


@lowers(np.fft.irfft)
def _irfft(m: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    x = operand(m, a, np.result_type(y.dtype, np.complex64))
    axis = int(axis) % x.ndim
    length = y.shape[axis]
    x = _fitted(m, x, length // 2 + 1, axis)
    return _scaled(m, m.irfft(x, axis=axis, length=length), length, norm, False)


@lowers(np.fft.hfft)
def _hfft(m: Any, y: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    swapped = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}[norm]
    x = operand(m, a, np.result_type(y.dtype, np.complex64))
    return _irfft(m, y, m.conj(x), n, axis, swapped)


def _shift(function: Any) -> Any:
    def lower(m: Any, y: Any, x: Any, axes: Any = None) -> Any:
        require_numbers(y)
        return rearranged(function)(m, y, x, axes)

    return lower


LOWERINGS |= {np.fft.fftshift: _shift(np.fft.fftshift), np.fft.ifftshift: _shift(np.fft.ifftshift)}
