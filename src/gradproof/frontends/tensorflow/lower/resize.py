"""Resizing of images: linear maps along the two axes, with the weights that TensorFlow's kernels use.

The kernels compute positions and weights in float32. These are facts of the op, so they are computed here in the
same way and then taken as exact; the backward ops apply the transposed maps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import lower
from gradproof.ir.types import Array

Weights = Callable[[Any, int, int], Array]

BICUBIC_TABLE = 1024  # the kernel rounds positions between two pixels to this many steps


def _scale(event: Any, size: int, new_size: int) -> np.float32:
    if event.attrs.get("align_corners") and new_size > 1:
        return np.float32(size - 1) / np.float32(new_size - 1)
    return np.float32(size) / np.float32(new_size)


def _positions(event: Any, size: int, new_size: int) -> Array:
    """Where the centres of the new pixels lie among the old ones."""
    place = np.arange(new_size, dtype=np.float32)
    scale = _scale(event, size, new_size)
    if event.attrs.get("half_pixel_centers"):
        return (place + np.float32(0.5)) * scale - np.float32(0.5)
    return place * scale


def _matrix(new_size: int, size: int, *terms: tuple[Array, Array]) -> Array:
    """(new_size, size): the weights of the old pixels, given as pairs of places and weights."""
    matrix = np.zeros((new_size, size))
    for places, weights in terms:
        np.add.at(matrix, (np.arange(new_size), places), weights)
    return matrix


def _bilinear(event: Any, size: int, new_size: int) -> Array:
    position = _positions(event, size, new_size)
    below = np.floor(position)
    share = (position - below).astype(np.float64)
    first = np.maximum(below.astype(np.int64), 0)
    second = np.minimum(np.ceil(position).astype(np.int64), size - 1)
    return _matrix(new_size, size, (np.minimum(first, second), 1.0 - share), (second, share))


def _nearest(event: Any, size: int, new_size: int) -> Array:
    place = np.arange(new_size, dtype=np.float32)
    centre = np.float32(0.5 if event.attrs.get("half_pixel_centers") else 0.0)
    position = (place + centre) * _scale(event, size, new_size)
    # The kernel rounds half away from zero.
    nearest = np.floor(position + np.float32(0.5)) if event.attrs.get("align_corners") else np.floor(position)
    chosen = np.clip(nearest.astype(np.int64), 0, size - 1)
    return _matrix(new_size, size, (chosen, np.ones(new_size)))


def _cubic_tables(sharpness: float) -> tuple[Array, Array]:
    """Weights of the pixels next to a position and of the ones behind, for every step in between."""
    x = np.arange(BICUBIC_TABLE + 1, dtype=np.float32) / np.float32(BICUBIC_TABLE)
    a = np.float32(sharpness)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + np.float32(1)
    return near, ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def _bicubic(event: Any, size: int, new_size: int) -> Array:
    half = bool(event.attrs.get("half_pixel_centers"))
    near, far = _cubic_tables(-0.5 if half else -0.75)
    position = _positions(event, size, new_size)
    below = np.floor(position).astype(np.int64)
    step = np.rint((position - below.astype(np.float32)) * np.float32(BICUBIC_TABLE)).astype(np.int64)
    weights = [far[step], near[step], near[BICUBIC_TABLE - step], far[BICUBIC_TABLE - step]]
    wanted = [below + k for k in (-1, 0, 1, 2)]
    places = [np.clip(place, 0, size - 1) for place in wanted]
    if half:  # pixels outside have no weight, and the others are scaled up to make up for them
        weights = [
            np.where(place == asked, w, np.float32(0)) for place, asked, w in zip(places, wanted, weights)
        ]
        total = sum(weights, np.zeros(new_size, np.float32))
        weights = [w / total for w in weights]
    return _matrix(new_size, size, *zip(places, (w.astype(np.float64) for w in weights)))


def _along(m: Any, x: Any, matrix: Array, equation: str) -> Any:
    return m.einsum(m.literal(matrix), x, equation=equation)


def apply_maps(m: Any, x: Any, rows: Array, columns: Array) -> Any:
    """Images (batch, height, width, channel) with both axes mapped."""
    return _along(m, _along(m, x, rows, "oh,bhwc->bowc"), columns, "ow,bhwc->bhoc")


def _resizing(name: str, weights: Weights) -> None:
    @lower(name)
    def forward(m: Any, event: Any, x: Any, size: Any) -> Any:
        height, width = event.outputs[0].shape[1:3]
        return apply_maps(m, x, weights(event, x.shape[1], height), weights(event, x.shape[2], width))

    @lower(f"{name}Grad")
    def backward(m: Any, event: Any, gy: Any, like: Any) -> Any:
        height, width = event.outputs[0].shape[1:3]
        rows, columns = weights(event, height, gy.shape[1]), weights(event, width, gy.shape[2])
        return apply_maps(m, gy, rows.T, columns.T)


_resizing("ResizeBilinear", _bilinear)
_resizing("ResizeNearestNeighbor", _nearest)
_resizing("ResizeBicubic", _bicubic)


def _lanczos(radius: float) -> Callable[[Array], Array]:
    return lambda x: np.where(np.abs(x) <= radius, np.sinc(x) * np.sinc(x / radius), 0.0)


def _cubic(b: float, c: float) -> Callable[[Array], Array]:
    """The family of Mitchell and Netravali."""

    def kernel(x: Array) -> Array:
        x = np.abs(x)
        near = ((12 - 9 * b - 6 * c) * x**3 + (-18 + 12 * b + 6 * c) * x**2 + (6 - 2 * b)) / 6
        far = ((-b - 6 * c) * x**3 + (6 * b + 30 * c) * x**2 + (-12 * b - 48 * c) * x + (8 * b + 24 * c)) / 6
        return np.where(x < 1, near, np.where(x < 2, far, 0.0))

    return kernel


def _box(x: Array) -> Array:
    x = np.abs(x)
    return np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))


def _gaussian(x: Array) -> Array:
    radius = 1.5
    return np.where(np.abs(x) < radius, np.exp(-(x**2) / (2 * (radius / 3) ** 2)), 0.0)


# Name of the kernel -> (radius, function), as `ScaleAndTranslate` has them.
KERNELS: dict[str, tuple[float, Callable[[Array], Array]]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, _box),
    "triangle": (1.0, lambda x: np.maximum(1.0 - np.abs(x), 0.0)),
    "keyscubic": (2.0, _cubic(0.0, 0.5)),
    "mitchellcubic": (2.0, _cubic(1.0 / 3.0, 1.0 / 3.0)),
}


def _spans(event: Any, size: int, new_size: int, scale: np.float32, translation: np.float32) -> Array:
    """Weights of old pixels around every new centre; a centre outside the image gets none."""
    radius, kernel = KERNELS[str(event.attrs.get("kernel_type", "lanczos3"))]
    half, inverse = np.float32(0.5), np.float32(1) / scale
    spread = max(inverse, np.float32(1)) if event.attrs.get("antialias", True) else np.float32(1)
    reach = np.float32(radius) * spread
    centre = (np.arange(new_size, dtype=np.float32) + half) * inverse - translation * inverse
    first = np.maximum(np.ceil(centre - reach - half), 0)
    last = np.minimum(np.floor(centre + reach - half), size - 1)
    old = np.arange(size, dtype=np.float32)
    weights = kernel((old + half - centre[:, None]) / spread)
    weights = np.where((old >= first[:, None]) & (old <= last[:, None]), weights, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total != 0.0)
    return np.where((centre < 0)[:, None] | (centre > size)[:, None], 0.0, weights).astype(np.float32)


def _both_spans(event: Any, size: Any, new_size: Any, scale: Any, translation: Any) -> tuple[Array, Array]:
    factor, shift = np.asarray(scale.value), np.asarray(translation.value)
    rows, columns = (_spans(event, size[k], new_size[k], factor[k], shift[k]) for k in (0, 1))
    return rows, columns


@lower("ScaleAndTranslate")
def _scale_and_translate(m: Any, event: Any, x: Any, size: Any, scale: Any, translation: Any) -> Any:
    new_size = event.outputs[0].shape[1:3]
    return apply_maps(m, x, *_both_spans(event, x.shape[1:3], new_size, scale, translation))


@lower("ScaleAndTranslateGrad")
def _scale_and_translate_grad(m: Any, event: Any, gy: Any, x: Any, scale: Any, translation: Any) -> Any:
    rows, columns = _both_spans(event, x.shape[1:3], gy.shape[1:3], scale, translation)
    return apply_maps(m, gy, rows.T, columns.T)
