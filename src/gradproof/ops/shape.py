"""Ops that move, repeat or drop entries and change none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.ops._op import Sample, op

_MATRIX = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))


def _reshape(m: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return m.domain.lift(lambda v: np.reshape(v, shape), x)


def _broadcast(m: Any, x: Any, shape: tuple[int, ...]) -> Any:
    return m.domain.lift(lambda v: np.broadcast_to(v, shape), x)


def _sum_to(m: Any, x: Any, shape: tuple[int, ...]) -> Any:
    """Sum over what broadcasting from `shape` has repeated."""
    lead = x.ndim - len(shape)
    repeated = [axis for axis, n in enumerate(shape, lead) if n == 1 and x.shape[axis] != 1]
    axes = (*range(lead), *repeated)
    return m.reshape(m.sum(x, axes=axes), shape=shape) if axes else x


def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(place) for place in np.argsort(order))


op(
    "reshape",
    forward=_reshape,
    pullback=lambda m, i, gy, y, x, shape: m.reshape(gy, shape=x.shape),
    linear="jointly",
    samples=(Sample((_MATRIX,), {"shape": (3, 2)}),),
)
op(
    "broadcast",
    forward=_broadcast,
    pullback=lambda m, i, gy, y, x, shape: m.sum_to(gy, shape=x.shape),
    linear="jointly",
    samples=(Sample(((1.0, 2.0),), {"shape": (3, 2)}),),
)
op(
    "sum_to",
    forward=_sum_to,
    pullback=lambda m, i, gy, y, x, shape: m.broadcast(gy, shape=x.shape),
    linear="jointly",
    samples=(Sample((_MATRIX,), {"shape": (3,)}), Sample((_MATRIX,), {"shape": (2, 1)})),
)
op(
    "transpose",
    forward=lambda m, x, order: m.domain.lift(lambda v: np.transpose(v, order), x),
    pullback=lambda m, i, gy, y, x, order: m.transpose(gy, order=_inverse(order)),
    linear="jointly",
    samples=(Sample((_MATRIX,), {"order": (1, 0)}),),
)


def _kept(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(1 if axis in axes else n for axis, n in enumerate(shape))


def _sum_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    return m.broadcast(m.reshape(gy, shape=_kept(x.shape, axes)), shape=x.shape)


op("sum", pullback=_sum_pullback, linear="jointly", samples=(Sample((_MATRIX,), {"axes": (0,)}), Sample((_MATRIX,), {"axes": (0, 1)})))
op(
    "mean",
    forward=lambda m, x, axes: m.div(m.sum(x, axes=axes), math.prod(x.shape[axis] for axis in axes)),
    pullback=lambda m, i, gy, y, x, axes: m.div(
        _sum_pullback(m, i, gy, y, x, axes), math.prod(x.shape[axis] for axis in axes)
    ),
    linear="jointly",
    samples=(Sample((_MATRIX,), {"axes": (1,)}),),
)
