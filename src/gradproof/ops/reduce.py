"""Sums, means, variances and running sums."""

from __future__ import annotations

import math
from typing import Any

from gradproof.ops._op import ANY, Sample, op

_MATRIX = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))


def kept(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape in which the reduced axes stay with length one."""
    return tuple(1 if axis in axes else n for axis, n in enumerate(shape))


def spread(m: Any, y: Any, shape: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    """A reduced array brought back to the shape it was reduced from."""
    return m.broadcast(m.reshape(y, shape=kept(shape, axes)), shape=shape)


def _count(x: Any, axes: tuple[int, ...]) -> int:
    return math.prod(x.shape[axis] for axis in axes)


op(
    "sum",
    pullback=lambda m, i, gy, y, x, axes: spread(m, gy, x.shape, axes),
    linear="jointly",
    samples=(
        Sample((_MATRIX,), {"axes": (0,)}),
        Sample((_MATRIX,), {"axes": (0, 1)}),
        Sample((_MATRIX,), {"axes": ()}),
    ),
    kinds=ANY,
)
op(
    "mean",
    forward=lambda m, x, axes: m.div(m.sum(x, axes=axes), _count(x, axes)),
    pullback=lambda m, i, gy, y, x, axes: m.div(spread(m, gy, x.shape, axes), _count(x, axes)),
    linear="jointly",
    samples=(Sample((_MATRIX,), {"axes": (1,)}),),
    kinds=ANY,
)


def _var(m: Any, x: Any, axes: tuple[int, ...], ddof: int = 0) -> Any:
    """The mean square distance from the mean, divided by the number of entries less `ddof`."""
    deviation = m.sub(x, spread(m, m.mean(x, axes=axes), x.shape, axes))
    return m.div(m.sum(m.mul(deviation, deviation), axes=axes), _count(x, axes) - ddof)


def _var_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, axes: tuple[int, ...], ddof: int = 0) -> Any:
    # The mean moves too, but the deviations from it sum to zero.
    deviation = m.sub(x, spread(m, m.mean(x, axes=axes), x.shape, axes))
    return m.mul(spread(m, m.div(m.mul(gy, 2), _count(x, axes) - ddof), x.shape, axes), deviation)


op(
    "var",
    forward=_var,
    pullback=_var_pullback,
    samples=(Sample((_MATRIX,), {"axes": (1,)}), Sample((_MATRIX,), {"axes": (0, 1), "ddof": 1})),
)
