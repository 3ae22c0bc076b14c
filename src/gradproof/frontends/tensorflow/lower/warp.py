"""Images read at computed positions: projective transforms and crops. Which pixels are read is a decision."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gradproof.frontends.tensorflow.lower._table import float_attr, ints, lower


def _pixels(m: Any, x: Any, example: Any, row: Any, column: Any) -> Any:
    """x[example, row, column], channels included; places outside the image are read at its border."""
    flat = m.reshape(x, shape=(math.prod(x.shape[:3]), x.shape[3]))
    return m.take(flat, _flat_places(m, x.shape, example, row, column), axis=0)


def _flat_places(m: Any, shape: tuple[int, ...], example: Any, row: Any, column: Any) -> Any:
    """The number of a pixel among all pixels of all images."""
    _, height, width, _ = shape
    row, column = _clipped(m, row, height), _clipped(m, column, width)
    return m.add(m.mul(m.add(m.mul(example, height), row), width), column)


def _clipped(m: Any, place: Any, n: int) -> Any:
    """Integers held between 0 and n - 1."""
    above = m.select(m.less(place, 0), np.zeros((), np.int64), place)
    return m.select(m.greater(above, n - 1), np.full((), n - 1), above)


def _inside(m: Any, place: Any, n: int) -> Any:
    return m.logical_and(m.greater_equal(place, 0), m.less(place, n))


def _read(m: Any, x: Any, example: Any, row: Any, column: Any, fill: Any) -> Any:
    """A pixel, or `fill` if there is none."""
    found = m.logical_and(_inside(m, row, x.shape[1]), _inside(m, column, x.shape[2]))
    pixels = _pixels(m, x, example, row, column)
    return m.select(m.reshape(found, shape=(*found.shape, 1)), pixels, fill)


def _last_axis(m: Any, x: Any) -> Any:
    return m.reshape(x, shape=(*x.shape, 1))


def _bilinear(m: Any, x: Any, example: Any, row: Any, column: Any, fill: Any) -> Any:
    """Between the four pixels around (row, column)."""
    top, left = m.floor(row), m.floor(column)
    bottom, right = m.add(top, 1), m.add(left, 1)
    down, across = (
        _last_axis(m, row - m.cast(top, dtype="float32")),
        _last_axis(m, column - m.cast(left, dtype="float32")),
    )
    corner = {
        (i, j): _read(m, x, example, r, c, fill)
        for i, r in ((0, top), (1, bottom))
        for j, c in ((0, left), (1, right))
    }
    upper = m.mul(corner[0, 0], 1 - across) + m.mul(corner[0, 1], across)
    under = m.mul(corner[1, 0], 1 - across) + m.mul(corner[1, 1], across)
    return m.mul(upper, 1 - down) + m.mul(under, down)


def _held(m: Any, position: Any, n: int) -> Any:
    """Positions held between the first pixel and the last."""
    above = m.select(m.less(position, 0), m.zeros(()), position)
    return m.select(m.greater(above, n - 1), m.literal(float(n - 1)), above)


def _periods(m: Any, position: Any, length: int) -> Any:
    """How many whole lengths fit into a position."""
    return m.cast(m.floor(m.div(position, length)), dtype="float32")


def _reflected(m: Any, position: Any, n: int) -> tuple[Any, Any]:
    """What lies below the first pixel and above the last of images that go on as in a mirror, edges twice."""
    below = position + m.mul(_periods(m, m.neg(position), 2 * n), 2 * n)
    below = m.select(m.less(below, -n), below + 2 * n, m.neg(below) - 1)
    above = position - m.mul(_periods(m, position, 2 * n), 2 * n)
    return below, m.select(m.greater_equal(above, n), m.neg(above) + (2 * n - 1), above)


def _repeated(m: Any, position: Any, n: int) -> tuple[Any, Any]:
    """The same of images that begin anew; TensorFlow counts how often by the distance of the outermost pixels."""
    below = position + m.mul(_periods(m, m.neg(position), n - 1) + 1, n)
    return below, position - m.mul(_periods(m, position, n - 1), n)


_BEYOND = {"REFLECT": _reflected, "WRAP": _repeated}


def _wrapped(m: Any, position: Any, n: int, mode: str) -> Any:
    """Positions outside brought back inside, as the fill mode says; the number of periods is a decision."""
    if mode == "CONSTANT":
        return position
    if mode != "NEAREST" and n > 1:
        below, above = _BEYOND[mode](m, position, n)
        inside = m.select(m.greater(position, n - 1), above, position)
        position = m.select(m.less(position, 0), below, inside)
    return _held(m, position, n)


@lower("ImageProjectiveTransformV2", "ImageProjectiveTransformV3")
def _projective(m: Any, event: Any, x: Any, transforms: Any, size: Any, *fill: Any) -> Any:
    """Output (r, c) reads the input at the image of (c, r, 1) under the 3 x 3 matrix of its transform."""
    n, height, width = event.outputs[0].shape[:3]
    mode = str(event.attrs.get("fill_mode", "CONSTANT"))
    r, c = (m.literal(part.astype(np.float64)) for part in np.mgrid[:height, :width])
    rows = m.broadcast(transforms, shape=(n, 8))
    t = [m.reshape(m.take(rows, np.asarray([k]), axis=1), shape=(n, 1, 1)) for k in range(8)]
    depth = m.mul(t[6], c) + m.mul(t[7], r) + 1
    column = m.div(m.mul(t[0], c) + m.mul(t[1], r) + t[2], depth)
    row = m.div(m.mul(t[3], c) + m.mul(t[4], r) + t[5], depth)
    row, column = _wrapped(m, row, x.shape[1], mode), _wrapped(m, column, x.shape[2], mode)
    example = np.broadcast_to(np.arange(n)[:, None, None], (n, height, width))
    outside = m.reshape(fill[0], shape=()) if fill else m.zeros(())
    if str(event.attrs["interpolation"]) == "NEAREST":
        return _read(m, x, example, m.round(row), m.round(column), outside)
    return _bilinear(m, x, example, row, column, outside)


def _crop_positions(m: Any, boxes: Any, axis: int, n: int, count: int) -> Any:
    """(box, place): positions along an axis of n pixels, from one edge of every box to the other."""
    first, last = (m.take(boxes, np.asarray([k]), axis=1) for k in (axis, axis + 2))
    if count == 1:
        return m.mul(first + last, (n - 1) / 2)
    step = m.mul(last - first, n - 1) / (count - 1)
    return m.mul(first, n - 1) + m.mul(step, m.literal(np.arange(count, dtype=np.float64)))


class _Crop(NamedTuple):
    """Where the pixels of crops lie in the images, and which of them lie inside."""

    example: Any
    row: Any
    column: Any
    within: Any


def _crop(m: Any, x_shape: tuple[int, ...], boxes: Any, which: Any, size: tuple[int, int]) -> _Crop:
    n, (height, width) = boxes.shape[0], size
    rows, columns = x_shape[1:3]
    shape = (n, height, width)
    row = m.reshape(_crop_positions(m, boxes, 0, rows, height), shape=(n, height, 1))
    column = m.reshape(_crop_positions(m, boxes, 1, columns, width), shape=(n, 1, width))
    row, column = m.broadcast(row, shape=shape), m.broadcast(column, shape=shape)
    example = m.broadcast(m.reshape(which, shape=(n, 1, 1)), shape=shape)
    return _Crop(
        example,
        row,
        column,
        m.logical_and(_between(m, row, rows - 1), _between(m, column, columns - 1)),
    )


def _between(m: Any, position: Any, last: int) -> Any:
    return m.logical_and(m.greater_equal(position, 0), m.less_equal(position, last))


def _is_nearest(event: Any) -> bool:
    return str(event.attrs.get("method", "bilinear")) == "nearest"


def _nearest_places(m: Any, crop: _Crop) -> tuple[Any, Any]:
    # The kernel rounds half away from zero; positions are not negative where a pixel is read.
    return m.floor(m.add(crop.row, 0.5)), m.floor(m.add(crop.column, 0.5))


class _Square(NamedTuple):
    """The pixels around a position: first and second row and column, and how far it is from the first ones."""

    rows: tuple[Any, Any]
    columns: tuple[Any, Any]
    down: Any
    across: Any


def _square(m: Any, crop: _Crop) -> _Square:
    top, left = m.floor(crop.row), m.floor(crop.column)
    down, across = crop.row - m.cast(top, dtype="float32"), crop.column - m.cast(left, dtype="float32")
    return _Square((top, m.add(top, 1)), (left, m.add(left, 1)), _last_axis(m, down), _last_axis(m, across))


def _corners(m: Any, x: Any, crop: _Crop, square: _Square) -> list[list[Any]]:
    """At the very border the pixel beyond has no weight; reading the border once more does no harm."""
    return [[_pixels(m, x, crop.example, row, column) for column in square.columns] for row in square.rows]


@lower("CropAndResize")
def _crop_and_resize(m: Any, event: Any, x: Any, boxes: Any, which: Any, size: Any) -> Any:
    height, width = ints(size)
    crop = _crop(m, x.shape, boxes, which, (height, width))
    if _is_nearest(event):
        values = _pixels(m, x, crop.example, *_nearest_places(m, crop))
    else:
        square = _square(m, crop)
        (a, b), (c, d) = _corners(m, x, crop, square)
        upper = a + m.mul(b - a, square.across)
        values = upper + m.mul(c + m.mul(d - c, square.across) - upper, square.down)
    return m.select(_last_axis(m, crop.within), values, m.literal(float_attr(event, "extrapolation_value")))


@lower("CropAndResizeGradImage")
def _crop_grad_image(m: Any, event: Any, gy: Any, boxes: Any, which: Any, size: Any) -> Any:
    shape = event.outputs[0].shape
    crop = _crop(m, shape, boxes, which, gy.shape[1:3])
    gy = m.select(_last_axis(m, crop.within), gy, m.zeros(()))
    if _is_nearest(event):
        return _put(m, gy, shape, crop.example, *_nearest_places(m, crop))
    square = _square(m, crop)
    total = m.zeros(shape)
    for row, share in zip(square.rows, (1 - square.down, square.down)):
        for column, part in zip(square.columns, (1 - square.across, square.across)):
            total = total + _put(m, m.mul(gy, m.mul(share, part)), shape, crop.example, row, column)
    return total


def _put(m: Any, pixels: Any, shape: tuple[int, ...], example: Any, row: Any, column: Any) -> Any:
    """The transpose of `_pixels`."""
    places = _flat_places(m, shape, example, row, column)
    summed = m.scatter_add(pixels, places, size=math.prod(shape[:3]))
    return m.reshape(summed, shape=shape)


@lower("CropAndResizeGradBoxes")
def _crop_grad_boxes(m: Any, event: Any, gy: Any, x: Any, boxes: Any, which: Any) -> Any:
    """How the values change with the positions, and the positions with the edges of the boxes."""
    height, width = gy.shape[1:3]
    crop = _crop(m, x.shape, boxes, which, (height, width))
    square = _square(m, crop)
    (a, b), (c, d) = _corners(m, x, crop, square)
    by_row = (c - a) + m.mul((d - c) - (b - a), square.across)
    by_column = (b - a) + m.mul((d - c) - (b - a), square.down)
    gy = m.select(_last_axis(m, crop.within), gy, m.zeros(()))
    g_row, g_column = (m.sum(m.mul(gy, slope), axes=(3,)) for slope in (by_row, by_column))
    g_row, g_column = m.sum(g_row, axes=(2,)), m.sum(g_column, axes=(1,))
    ends = [_edge_gradients(m, g, n) for g, n in ((g_row, x.shape[1]), (g_column, x.shape[2]))]
    return m.stack(ends[0][0], ends[1][0], ends[0][1], ends[1][1], axis=1)


def _edge_gradients(m: Any, g: Any, n: int) -> tuple[Any, Any]:
    """From the gradients of positions (box, place) to those of the first and the last edge."""
    count = g.shape[1]
    place = np.arange(count, dtype=np.float64) if count > 1 else np.full(1, 0.5)
    share = m.literal(place) / max(count - 1, 1)
    return (
        m.sum(m.mul(m.mul(g, 1 - share), n - 1), axes=(1,)),
        m.sum(m.mul(m.mul(g, share), n - 1), axes=(1,)),
    )
