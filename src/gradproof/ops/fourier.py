"""Discrete Fourier transforms, without a factor forwards and with 1/n backwards; other scalings multiply.

Frontends crop or pad to the wanted length before, and do real transforms of several axes one axis at a time:
`rfft` along the last of them, then `fft` along the others.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.ops._op import ANY, COMPLEX, Sample, op

Axes = tuple[int, ...]


def _inverse(m: Any, x: Any, axes: Axes) -> Any:
    return m.div(m.conj(m.fft(m.conj(x), axes=axes)), math.prod(x.shape[axis] for axis in axes))


_NUMBERS = (1.0 + 2.0j, -0.5j, 3.0 - 1.0j)
_TABLE = ((1.0 + 2.0j, -0.5j, 3.0 - 1.0j), (2.0 + 0.0j, 1.0j, -1.5 - 4.0j))
_ALONG = (
    Sample((_NUMBERS,), {"axes": (0,)}),
    Sample((_TABLE,), {"axes": (0,)}),
    Sample((_TABLE,), {"axes": (0, 1)}),
    Sample((((1.0, -2.0, 0.5), (4.0, 0.25, 3.0)),), {"axes": (1,)}),
)

# The matrix of the transform is symmetric, so its adjoint is its conjugate.
op(
    "fft",
    pullback=lambda m, i, gy, y, x, axes: m.conj(m.fft(m.conj(gy), axes=axes)),
    linear="jointly",
    samples=_ALONG,
    kinds=ANY,
)
op(
    "ifft",
    forward=_inverse,
    pullback=lambda m, i, gy, y, x, axes: m.conj(m.ifft(m.conj(gy), axes=axes)),
    linear="jointly",
    samples=_ALONG,
    kinds=ANY,
)


def _half(length: int) -> int:
    """Of a real signal's spectrum the rest is its mirror image."""
    return length // 2 + 1


def _rfft(m: Any, x: Any, axis: int) -> Any:
    ends = list(x.shape)
    ends[axis] = _half(x.shape[axis])
    return m.strided_slice(m.fft(x, axes=(axis,)), begin=(0,) * x.ndim, end=tuple(ends))


def _rfft_transposed(m: Any, x: Any, axis: int, length: int) -> Any:
    """The sum over k of Re(x_k exp(2 pi i k t / length)), for every t."""
    shape = list(x.shape)
    shape[axis] = length
    whole = m.embed(m.conj(x), begin=(0,) * x.ndim, stride=(1,) * x.ndim, shape=tuple(shape))
    return m.real(m.fft(whole, axes=(axis,)))


def _weighted(m: Any, x: Any, axis: int, length: int) -> Any:
    """Every frequency counted as often as the whole spectrum has it: once if it is its own mirror image."""
    frequency = np.arange(_half(length))
    weights = np.where((frequency == 0) | (2 * frequency == length), 1.0, 2.0)
    shape = [1] * x.ndim
    shape[axis] = len(weights)
    return m.div(m.mul(x, m.literal(weights.reshape(shape))), length)


_REAL = (1.0, -2.0, 0.5, 4.0)
_REALS = ((1.0, -2.0), (0.5, 4.0), (3.0, 0.25))

op(
    "rfft",
    forward=_rfft,
    pullback=lambda m, i, gy, y, x, axis: m.rfft_transposed(gy, axis=axis, length=x.shape[axis]),
    linear="jointly",
    samples=(Sample((_REAL,), {"axis": 0}), Sample((_REALS,), {"axis": 0}), Sample((_REALS,), {"axis": -1})),
)
op(
    "rfft_transposed",
    forward=_rfft_transposed,
    pullback=lambda m, i, gy, y, x, axis, length: m.rfft(gy, axis=axis),
    linear="jointly",
    samples=(Sample((_NUMBERS,), {"axis": 0, "length": 4}), Sample((_NUMBERS,), {"axis": 0, "length": 5})),
    kinds=COMPLEX,
)
# The imaginary parts of the frequencies 0 and, for an even length, length/2 are not read.
op(
    "irfft",
    forward=lambda m, x, axis, length: m.rfft_transposed(
        _weighted(m, x, axis, length), axis=axis, length=length
    ),
    pullback=lambda m, i, gy, y, x, axis, length: _weighted(m, m.rfft(gy, axis=axis), axis, length),
    linear="jointly",
    samples=(
        Sample((_NUMBERS,), {"axis": 0, "length": 4}),
        Sample((_NUMBERS,), {"axis": 0, "length": 5}),
        Sample((_TABLE,), {"axis": -1, "length": 4}),
    ),
    kinds=COMPLEX,
)
