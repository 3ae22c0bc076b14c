"""Average pooling; maximum pooling is a decision over windows and a gather, composed by `max_pool`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.ops._op import Sample, op
from gradproof.ops.patches import Windows, gather_index, windows


def _data_in_windows(where: Windows, size: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """How many places of every window hold a datum rather than padding."""
    inside = gather_index(where, size) < math.prod(size)
    return np.asarray(np.sum(inside, axis=tuple(range(len(size), 2 * len(size)))))


def _divided(m: Any, x: Any, size: tuple[int, ...], count_padding: bool, geometry: dict[str, Any]) -> Any:
    where = windows(**geometry)
    if count_padding:
        return m.div(x, math.prod(where.window))
    # A window of nothing but padding has the mean zero: its sum is zero, whatever it is divided by.
    return m.div(x, np.maximum(_data_in_windows(where, size), 1))


def _average_pool(m: Any, x: Any, count_padding: bool = False, **geometry: Any) -> Any:
    dims = len(geometry["window"])
    patches = m.patches(x, **geometry)
    total = m.sum(patches, axes=tuple(range(patches.ndim - dims, patches.ndim)))
    return _divided(m, total, tuple(x.shape[x.ndim - dims :]), count_padding, geometry)


def _average_pool_pullback(
    m: Any, i: int, gy: Any, y: Any, x: Any, count_padding: bool = False, **geometry: Any
) -> Any:
    dims = len(geometry["window"])
    size = tuple(x.shape[x.ndim - dims :])
    share = _divided(m, gy, size, count_padding, geometry)
    shares = m.reshape(share, shape=(*gy.shape, *(1,) * dims))
    shares = m.broadcast(shares, shape=(*gy.shape, *geometry["window"]))
    return m.patches_transposed(shares, size=size, **geometry)


_PLANE = (((1.0, -2.0, 0.5, 4.0), (3.0, 0.25, -1.0, 7.0), (2.0, 8.0, -5.0, 6.0)),)
_PADDED = {"window": (2, 2), "strides": (2, 2), "padding": ((1, 0), (0, 1))}

# Means over windows of the trailing axes; padding counts as zeros or not at all.
op(
    "average_pool",
    forward=_average_pool,
    pullback=_average_pool_pullback,
    linear="jointly",
    samples=(Sample((_PLANE,), _PADDED), Sample((_PLANE,), {"count_padding": True, **_PADDED})),
)
