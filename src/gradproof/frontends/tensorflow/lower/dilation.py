"""Grey-scale dilation: the largest sum of image and filter in every window, and its backward ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import lower, move_axis
from gradproof.frontends.tensorflow.lower.convolution import paddings

OUTSIDE = -(2.0**100)  # below every sum of image and filter, so that no place outside the image is chosen


def _geometry(event: Any, x: Any, kernel: Any) -> dict[str, Any]:
    window = tuple(kernel.shape[:2])
    strides, spread = (tuple(int(k) for k in event.attrs[name])[1:3] for name in ("strides", "rates"))
    pads = paddings(event, x.shape[1:3], window, strides, spread)
    return {"window": window, "strides": strides, "dilation": spread, "padding": pads}


def _sums(m: Any, x: Any, kernel: Any, geometry: dict[str, Any]) -> Any:
    """(batch, channel, row, column, place in the window)."""
    parts = m.patches(move_axis(m, x, 3, 1), m.literal(np.asarray(OUTSIDE)), **geometry)
    places = math.prod(kernel.shape[:2])
    parts = m.reshape(parts, shape=(*parts.shape[:4], places))
    flat = m.reshape(move_axis(m, kernel, 2, 0), shape=(1, kernel.shape[2], 1, 1, places))
    return parts + flat


@lower("Dilation2D")
def _dilation(m: Any, event: Any, x: Any, kernel: Any) -> Any:
    sums = _sums(m, x, kernel, _geometry(event, x, kernel))
    place = m.argmax(sums, axis=4)
    largest = m.take_along(sums, m.reshape(place, shape=(*place.shape, 1)), axis=4)
    return move_axis(m, m.reshape(largest, shape=place.shape), 1, 3)


def _at_largest(m: Any, x: Any, kernel: Any, gy: Any, geometry: dict[str, Any]) -> Any:
    """The gradient of every window at the place it comes from, zero at the others."""
    sums = _sums(m, x, kernel, geometry)
    place = m.argmax(sums, axis=4)
    gy = move_axis(m, gy, 3, 1)
    return m.scatter_along(
        m.reshape(gy, shape=(*gy.shape, 1)),
        m.reshape(place, shape=(*place.shape, 1)),
        axis=4,
        size=sums.shape[4],
    )


@lower("Dilation2DBackpropInput")
def _for_input(m: Any, event: Any, x: Any, kernel: Any, gy: Any) -> Any:
    geometry = _geometry(event, x, kernel)
    spread = _at_largest(m, x, kernel, gy, geometry)
    windows = m.reshape(spread, shape=(*spread.shape[:4], *kernel.shape[:2]))
    return move_axis(m, m.patches_transposed(windows, size=tuple(x.shape[1:3]), **geometry), 1, 3)


@lower("Dilation2DBackpropFilter")
def _for_kernel(m: Any, event: Any, x: Any, kernel: Any, gy: Any) -> Any:
    spread = _at_largest(m, x, kernel, gy, _geometry(event, x, kernel))
    summed = m.sum(spread, axes=(0, 2, 3))
    return move_axis(m, m.reshape(summed, shape=(kernel.shape[2], *kernel.shape[:2])), 0, 2)
