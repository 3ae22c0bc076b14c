"""Sums and extremes over windows, and the backward primitives of the latter."""

from __future__ import annotations

import math
from typing import Any

from gradproof.frontends.jax.lower._table import lower
from gradproof.ops.patches import windows
from gradproof.ops.pooling import max_pool


def _geometry(event: Any) -> dict[str, Any]:
    attrs = event.attrs
    ones = (1,) * len(attrs["window_dimensions"])
    return {
        "window": tuple(attrs["window_dimensions"]),
        "strides": tuple(attrs["window_strides"]),
        "padding": tuple(tuple(pair) for pair in attrs["padding"]),
        "dilation": tuple(attrs.get("window_dilation", ones)),
        "input_dilation": tuple(attrs.get("base_dilation", ones)),
    }


@lower("reduce_window_sum")
def _window_sum(m: Any, event: Any, x: Any) -> Any:
    patches = m.patches(x, **_geometry(event))
    return m.sum(patches, axes=tuple(range(x.ndim, 2 * x.ndim)))


def _is_spatial(geometry: dict[str, Any], axis: int) -> bool:
    plain = {"window": 1, "strides": 1, "padding": (0, 0), "input_dilation": 1}
    return any(geometry[key][axis] != value for key, value in plain.items())


def _arranged(m: Any, event: Any, x: Any) -> tuple[Any, dict[str, Any], tuple[int, ...]]:
    """The axes that windows lie along behind all others, which are one; the geometry of these; and the order."""
    geometry = _geometry(event)
    space = [axis for axis in range(x.ndim) if _is_spatial(geometry, axis)]
    lead = [axis for axis in range(x.ndim) if axis not in space]
    order = (*lead, *space)
    x = m.transpose(x, order=order)
    x = m.reshape(x, shape=(1, math.prod(x.shape[: len(lead)]), *x.shape[len(lead) :]))
    return x, {key: tuple(value[axis] for axis in space) for key, value in geometry.items()}, order


def _restored(m: Any, y: Any, shape: tuple[int, ...], order: tuple[int, ...]) -> Any:
    """Back in the order of axes that the primitive has."""
    y = m.reshape(y, shape=tuple(shape[axis] for axis in order))
    back = [0] * len(order)
    for place, axis in enumerate(order):
        back[axis] = place
    return m.transpose(y, order=tuple(back))


def _largest(m: Any, event: Any, x: Any) -> Any:
    arranged, geometry, order = _arranged(m, event, x)
    return _restored(m, max_pool(m, arranged, **geometry), event.outputs[0].shape, order)


@lower("reduce_window_max")
def _window_max(m: Any, event: Any, x: Any) -> Any:
    return _largest(m, event, x)


@lower("reduce_window_min")
def _window_min(m: Any, event: Any, x: Any) -> Any:
    return m.neg(_largest(m, event, m.neg(x)))


def _chosen(m: Any, event: Any, x: Any) -> tuple[Any, dict[str, Any], tuple[int, ...], Any]:
    """Which entry of every window was taken, by its flat place along the axes of the windows."""
    name = str(event.attrs["select_prim"])
    if name not in ("ge", "le"):
        raise NotImplementedError(f"windows chosen by {name}")
    x = x if name == "ge" else m.neg(x)
    arranged, geometry, order = _arranged(m, event, x)
    return arranged, geometry, order, m.window_argmax(arranged, **geometry)


@lower("select_and_scatter_add")
def _scatter_back(m: Any, event: Any, source: Any, operand: Any) -> Any:
    """Gradients go to the entry that was taken."""
    arranged, geometry, order, place = _chosen(m, event, operand)
    source = m.transpose(source, order=order)
    flat = m.reshape(
        source, shape=(*arranged.shape[:2], math.prod(windows(**geometry).counts(arranged.shape[2:])))
    )
    spread = m.scatter_along(flat, place, axis=2, size=math.prod(arranged.shape[2:]))
    return _restored(m, spread, tuple(operand.shape), order)


@lower("select_and_gather_add")
def _gather_along(m: Any, event: Any, tangents: Any, operand: Any) -> Any:
    """Tangents come from the entry that was taken."""
    arranged, _, order, place = _chosen(m, event, operand)
    moved = m.transpose(tangents, order=order)
    flat = m.reshape(moved, shape=(*arranged.shape[:2], math.prod(arranged.shape[2:])))
    return _restored(m, m.take_along(flat, place, axis=2), event.outputs[0].shape, order)
