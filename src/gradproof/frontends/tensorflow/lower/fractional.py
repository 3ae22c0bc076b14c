"""Pooling over windows of varying size, whose borders the op has drawn at random and puts out."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import ints, lower, move_axis
from gradproof.frontends.tensorflow.lower.dilation import OUTSIDE
from gradproof.frontends.tensorflow.lower.resize import apply_maps
from gradproof.ir.types import Array


def _windows(event: Any, borders: tuple[int, ...], size: int) -> list[range]:
    """From each border to the next; overlapping windows share the pixel at the border."""
    shared = 1 if event.attrs.get("overlapping") else 0
    return [range(a, min(b + shared, size)) for a, b in pairwise(borders)]


def _means(event: Any, borders: tuple[int, ...], size: int) -> Array:
    """(window, pixel): the weights of a mean over every window. Sums of them are divided once, exactly."""
    matrix = np.zeros((len(borders) - 1, size))
    for row, window in enumerate(_windows(event, borders, size)):
        matrix[row, list(window)] = 1.0
    return matrix


def _averaged(m: Any, x: Any, rows: Array, columns: Array, counts: Array, transposed: bool) -> Any:
    divisor = m.literal(counts[None, :, :, None])
    if transposed:
        return apply_maps(m, m.div(x, divisor), rows.T, columns.T)
    return m.div(apply_maps(m, x, rows, columns), divisor)


@lower("FractionalAvgPool")
def _average(m: Any, event: Any, x: Any) -> Any:
    rows, columns = (tuple(int(k) for k in output.array) for output in event.outputs[1:])
    down, across = _means(event, rows, x.shape[1]), _means(event, columns, x.shape[2])
    counts = down.sum(axis=1)[:, None] * across.sum(axis=1)
    y = _averaged(m, x, down, across, counts, transposed=False)
    return y, *(m.constant(output.array) for output in event.outputs[1:])


@lower("FractionalAvgPoolGrad")
def _average_grad(m: Any, event: Any, shape: Any, gy: Any, rows: Any, columns: Any) -> Any:
    height, width = ints(shape)[1:3]
    down, across = _means(event, ints(rows), height), _means(event, ints(columns), width)
    counts = down.sum(axis=1)[:, None] * across.sum(axis=1)
    return _averaged(m, gy, down, across, counts, transposed=True)


def _places(event: Any, rows: tuple[int, ...], columns: tuple[int, ...], size: tuple[int, int]) -> Array:
    """(window, place): flat numbers of the pixels, filled up with the number of all pixels."""
    found = [
        [r * size[1] + c for r in down for c in across]
        for down in _windows(event, rows, size[0])
        for across in _windows(event, columns, size[1])
    ]
    widest = max(map(len, found))
    return np.asarray([[*window, *(size[0] * size[1],) * (widest - len(window))] for window in found])


def _largest(m: Any, x: Any, places: Array) -> tuple[Any, Any]:
    """(batch, channel, pixel) of images and, for every window, which pixel is the largest."""
    flat = m.reshape(move_axis(m, x, 3, 1), shape=(x.shape[0], x.shape[3], x.shape[1] * x.shape[2]))
    padded = m.pad(flat, m.literal(np.asarray(OUTSIDE)), widths=((0, 0), (0, 0), (0, 1)))
    place = m.argmax(m.take(padded, places, axis=2), axis=3)
    table = np.broadcast_to(places, (*place.shape, places.shape[1]))
    chosen = m.take_along(m.constant(table), m.reshape(place, shape=(*place.shape, 1)), axis=3)
    return flat, m.reshape(chosen, shape=place.shape)


@lower("FractionalMaxPool")
def _maximum(m: Any, event: Any, x: Any) -> Any:
    rows, columns = (tuple(int(k) for k in output.array) for output in event.outputs[1:])
    flat, chosen = _largest(m, x, _places(event, rows, columns, x.shape[1:3]))
    y = m.reshape(
        m.take_along(flat, chosen, axis=2), shape=(*flat.shape[:2], len(rows) - 1, len(columns) - 1)
    )
    return move_axis(m, y, 1, 3), *(m.constant(output.array) for output in event.outputs[1:])


@lower("FractionalMaxPoolGrad")
def _maximum_grad(m: Any, event: Any, x: Any, y: Any, gy: Any, rows: Any, columns: Any) -> Any:
    _, chosen = _largest(m, x, _places(event, ints(rows), ints(columns), x.shape[1:3]))
    gy = m.reshape(move_axis(m, gy, 3, 1), shape=chosen.shape)
    gx = m.scatter_along(gy, chosen, axis=2, size=math.prod(x.shape[1:3]))
    gx = m.reshape(gx, shape=(x.shape[0], x.shape[3], *x.shape[1:3]))
    return move_axis(m, gx, 1, 3)
