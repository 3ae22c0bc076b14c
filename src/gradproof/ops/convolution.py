"""Convolutions in any number of dimensions: windows gathered by index, then one matrix product.

Layout: data are (batch, channel, *spatial), kernels (*window, channels of one group, filters). As in all
deep-learning frameworks the kernel is not flipped. Frontends transpose to and from this layout.

A convolution, the gradient for its data and the gradient for its kernel are the three ways of leaving one
factor out of the same sum of products; each is an op, and each is the pullback of the other two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from operator import itemgetter
from typing import Any

import numpy as np

from gradproof.errors import InvalidProgram
from gradproof.ops._op import ANY, Sample, op
from gradproof.ops.patches import Sizes, windows

MOST_GATHERED = 1 << 21
"""Numbers in the windows that are gathered at a time: 16 MB, which the C library keeps for the next.

All windows of a layer are as many times its data as a window has places: gigabytes, of which each comes anew.
"""


def _by_pieces(m: Any, compute: Callable[..., Any], window: int, *xs: Any) -> list[Any]:
    """What is computed of each piece of a batch; `window` is how many numbers are gathered for one of it."""
    batch, step = xs[0].shape[0], max(1, MOST_GATHERED // max(1, window))
    if step >= batch:
        return [compute(*xs)]
    pieces = (itemgetter(slice(k, k + step)) for k in range(0, batch, step))
    return [compute(*(m.domain.lift(piece, x) for x in xs)) for piece in pieces]


def _joined(m: Any, parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else m.domain.lift(lambda *vs: np.concatenate(vs), *parts)


def _data_matrices(m: Any, x: Any, groups: int, geometry: dict[str, Any]) -> Any:
    """The data's windows as matrices: (groups, batch * windows, places of a window * channels of a group)."""
    patches = m.patches(x, **geometry)
    dims = len(geometry["window"])
    batch, channels = x.shape[:2]
    counts, window = patches.shape[2 : 2 + dims], patches.shape[2 + dims :]
    x = m.reshape(patches, shape=(batch, groups, channels // groups, *counts, *window))
    spatial, inner = range(3, 3 + dims), range(3 + dims, 3 + 2 * dims)
    x = m.transpose(x, order=(1, 0, *spatial, *inner, 2))
    return m.reshape(x, shape=(groups, batch * math.prod(counts), math.prod(window) * (channels // groups)))


def _from_data_matrices(m: Any, x: Any, shape: Sizes, groups: int, geometry: dict[str, Any]) -> Any:
    """The transpose of `_data_matrices`: overlapping windows are summed into data of the given shape."""
    window, dims = geometry["window"], len(geometry["window"])
    batch, channels, *size = shape
    counts = windows(**geometry).counts(tuple(size))
    x = m.reshape(x, shape=(groups, batch, *counts, *window, channels // groups))
    spatial, inner = range(2, 2 + dims), range(2 + dims, 2 + 2 * dims)
    x = m.transpose(x, order=(1, 0, 2 + 2 * dims, *spatial, *inner))
    x = m.reshape(x, shape=(batch, channels, *counts, *window))
    return m.patches_transposed(x, size=tuple(size), **geometry)


def _kernel_matrices(m: Any, k: Any, groups: int) -> Any:
    """(groups, places of a window * channels of a group, filters of a group)."""
    *window, channels, filters = k.shape
    k = m.reshape(k, shape=(math.prod(window) * channels, groups, filters // groups))
    return m.transpose(k, order=(1, 0, 2))


def _result_matrices(m: Any, y: Any, groups: int) -> Any:
    """(groups, batch * windows, filters of a group)."""
    batch, filters, *counts = y.shape
    y = m.reshape(y, shape=(batch, groups, filters // groups, math.prod(counts)))
    return m.reshape(
        m.transpose(y, order=(1, 0, 3, 2)), shape=(groups, batch * math.prod(counts), filters // groups)
    )


def _geometry(k_shape: Sizes, params: dict[str, Any]) -> dict[str, Any]:
    return {"window": tuple(k_shape[:-2]), **params}


def _convolution(m: Any, x: Any, k: Any, groups: int = 1, **params: Any) -> Any:
    if x.ndim != k.ndim or x.shape[1] != groups * k.shape[-2] or k.shape[-1] % groups:
        raise InvalidProgram(
            f"data of shape {tuple(x.shape)} do not fit a kernel of shape {tuple(k.shape)} in {groups} groups"
        )
    geometry, k_matrices = _geometry(k.shape, params), _kernel_matrices(m, k, groups)
    counts = windows(**geometry).counts(tuple(x.shape[2:]))

    def convolved(x: Any) -> Any:
        y = m.matmul(_data_matrices(m, x, groups, geometry), k_matrices)
        y = m.reshape(y, shape=(groups, x.shape[0], math.prod(counts), k.shape[-1] // groups))
        return m.reshape(m.transpose(y, order=(1, 0, 3, 2)), shape=(x.shape[0], k.shape[-1], *counts))

    gathered = x.shape[1] * math.prod((*counts, *geometry["window"]))
    return _joined(m, _by_pieces(m, convolved, gathered, x))


def _convolution_transposed(m: Any, y: Any, k: Any, size: Sizes, groups: int = 1, **params: Any) -> Any:
    geometry = _geometry(k.shape, params)
    k_matrices = m.transpose(_kernel_matrices(m, k, groups), order=(0, 2, 1))
    channels = groups * k.shape[-2]

    def spread(y: Any) -> Any:
        x = m.matmul(_result_matrices(m, y, groups), k_matrices)
        return _from_data_matrices(m, x, (y.shape[0], channels, *size), groups, geometry)

    gathered = channels * math.prod((*y.shape[2:], *geometry["window"]))
    return _joined(m, _by_pieces(m, spread, gathered, y))


def _convolution_kernel(m: Any, x: Any, y: Any, window: Sizes, groups: int = 1, **params: Any) -> Any:
    geometry = {"window": tuple(window), **params}

    def correlated(x: Any, y: Any) -> Any:
        data = m.transpose(_data_matrices(m, x, groups, geometry), order=(0, 2, 1))
        k = m.transpose(m.matmul(data, _result_matrices(m, y, groups)), order=(1, 0, 2))
        return m.reshape(k, shape=(*window, x.shape[1] // groups, y.shape[1]))

    gathered = x.shape[1] * math.prod((*y.shape[2:], *window))
    return reduce(m.add, _by_pieces(m, correlated, gathered, x, y))


def _convolution_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, k: Any, **params: Any) -> Any:
    if i == 0:
        return m.convolution_transposed(gy, m.conj(k), size=tuple(x.shape[2:]), **params)
    return m.convolution_kernel(m.conj(x), gy, window=tuple(k.shape[:-2]), **params)


def _transposed_pullback(m: Any, i: int, gx: Any, x: Any, y: Any, k: Any, size: Sizes, **params: Any) -> Any:
    if i == 0:
        return m.convolution(gx, m.conj(k), **params)
    return m.convolution_kernel(gx, m.conj(y), window=tuple(k.shape[:-2]), **params)


def _kernel_pullback(m: Any, i: int, gk: Any, k: Any, x: Any, y: Any, window: Sizes, **params: Any) -> Any:
    if i == 0:
        return m.convolution_transposed(m.conj(y), gk, size=tuple(x.shape[2:]), **params)
    return m.convolution(m.conj(x), gk, **params)


_LINE = (((1.0, -2.0, 0.5, 4.0, 3.0),),)
_PLANES = (
    tuple(
        tuple(tuple(0.25 * ((7 * c + 3 * i + 5 * j) % 11) - 1.0 for j in range(4)) for i in range(3))
        for c in range(2)
    ),
)
_KERNEL_1 = (((2.0, -1.0),), ((0.5, 3.0),))
_KERNEL_2 = tuple(
    tuple(
        tuple(tuple(0.5 * ((5 * i + 3 * j + 2 * c + f) % 7) - 1.5 for f in range(2)) for c in range(2))
        for j in range(2)
    )
    for i in range(2)
)
_DEPTHWISE = tuple(
    tuple((tuple(0.5 * ((5 * i + 3 * j + f) % 7) - 1.5 for f in range(4)),) for j in range(2))
    for i in range(2)
)
_MAPS = (
    tuple(
        tuple(tuple(0.5 * ((3 * f + 5 * i + 2 * j) % 9) - 1.75 for j in range(3)) for i in range(2))
        for f in range(4)
    ),
)
_COMPLEX_LINE = (((1.0 + 2.0j, -0.5j, 3.0 - 1.0j),),)
_COMPLEX_KERNEL = (((2.0 - 1.0j,),), ((0.5j,),))
_SAME = {"strides": (2, 1), "padding": ((0, 1), (1, 1))}
_WIDE = {"dilation": (2, 1), "input_dilation": (1, 2), "padding": ((1, 0), (0, 0))}

op(
    "convolution",
    forward=_convolution,
    pullback=_convolution_pullback,
    linear="each",
    samples=(
        Sample((_LINE, _KERNEL_1)),
        Sample((_PLANES, _KERNEL_2), _SAME),
        Sample((_PLANES, _KERNEL_2), _WIDE),
        Sample((_PLANES, _DEPTHWISE), {"groups": 2}),
        Sample((_COMPLEX_LINE, _COMPLEX_KERNEL)),
    ),
    kinds=ANY,
)
op(
    "convolution_transposed",
    forward=_convolution_transposed,
    pullback=_transposed_pullback,
    linear="each",
    samples=(
        Sample(((((1.0, -2.0, 0.5), (3.0, 0.25, -1.0)),), _KERNEL_1), {"size": (6,), "strides": (2,)}),
        Sample((_PLANES, _KERNEL_2), {"size": (6, 5), "strides": (2, 1)}),
        Sample((_MAPS, _DEPTHWISE), {"size": (3, 4), "groups": 2}),
        Sample((_COMPLEX_LINE, _COMPLEX_KERNEL), {"size": (4,)}),
    ),
    kinds=ANY,
)
op(
    "convolution_kernel",
    forward=_convolution_kernel,
    pullback=_kernel_pullback,
    linear="each",
    samples=(
        Sample((_LINE, (((1.0, -1.0, 2.0, 0.5),),)), {"window": (2,)}),
        Sample((_PLANES, _MAPS), {"window": (2, 2), "groups": 2}),
        Sample((_COMPLEX_LINE, (((1.0 + 1.0j, -1.0j),),)), {"window": (2,)}),
    ),
    kinds=ANY,
)
