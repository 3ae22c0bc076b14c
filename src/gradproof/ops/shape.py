"""Ops that change the shape of an array or the order of its axes, and the sums that undo repetition."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.errors import NotSupported
from gradproof.ir import types
from gradproof.ops._op import ANY, Sample, op

_MATRIX = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))
_OTHER = ((0.25, -1.0, 6.0), (9.0, 0.125, -3.0))


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
    moves_only=True,
    forward=_reshape,
    pullback=lambda m, i, gy, y, x, shape: m.reshape(gy, shape=x.shape),
    linear="jointly",
    samples=(Sample((_MATRIX,), {"shape": (3, 2)}), Sample((_MATRIX,), {"shape": (1, 2, 3, 1)})),
    kinds=ANY,
)
op(
    "broadcast",
    moves_only=True,
    forward=_broadcast,
    pullback=lambda m, i, gy, y, x, shape: m.sum_to(gy, shape=x.shape),
    linear="jointly",
    samples=(Sample(((1.0, 2.0),), {"shape": (3, 2)}),),
    kinds=ANY,
)
op(
    "sum_to",
    forward=_sum_to,
    pullback=lambda m, i, gy, y, x, shape: m.broadcast(gy, shape=x.shape),
    linear="jointly",
    samples=(Sample((_MATRIX,), {"shape": (3,)}), Sample((_MATRIX,), {"shape": (2, 1)})),
    kinds=ANY,
)
op(
    "transpose",
    moves_only=True,
    forward=lambda m, x, order: m.domain.lift(lambda v: np.transpose(v, order), x),
    pullback=lambda m, i, gy, y, x, order: m.transpose(gy, order=_inverse(order)),
    linear="jointly",
    samples=(
        Sample((_MATRIX,), {"order": (1, 0)}),
        Sample(((_MATRIX, _OTHER, _OTHER),), {"order": (2, 0, 1)}),
    ),
    kinds=ANY,
)


def _concat(m: Any, *xs: Any, axis: int) -> Any:
    return m.domain.lift(lambda *parts: np.concatenate(parts, axis=axis), *xs)


def _concat_pullback(m: Any, i: int, gy: Any, y: Any, *xs: Any, axis: int) -> Any:
    start = sum(x.shape[axis] for x in xs[:i])
    begin, end = [0] * gy.ndim, list(gy.shape)
    begin[axis], end[axis] = start, start + xs[i].shape[axis]
    return m.strided_slice(gy, begin=tuple(begin), end=tuple(end))


def _stack(m: Any, *xs: Any, axis: int) -> Any:
    return m.domain.lift(lambda *parts: np.stack(parts, axis=axis), *xs)


def _stack_pullback(m: Any, i: int, gy: Any, y: Any, *xs: Any, axis: int) -> Any:
    begin, end = [0] * gy.ndim, list(gy.shape)
    begin[axis], end[axis] = i, i + 1
    return m.reshape(m.strided_slice(gy, begin=tuple(begin), end=tuple(end)), shape=xs[i].shape)


op(
    "concat",
    moves_only=True,
    forward=_concat,
    pullback=_concat_pullback,
    linear="jointly",
    samples=(
        Sample((_MATRIX, _OTHER, ((5.0, 0.5, 1.5),)), {"axis": 0}),
        Sample((_MATRIX, ((5.0,), (0.5,))), {"axis": 1}),
    ),
    kinds=ANY,
)
op(
    "stack",
    moves_only=True,
    forward=_stack,
    pullback=_stack_pullback,
    linear="jointly",
    samples=(Sample((_MATRIX, _OTHER), {"axis": 1}), Sample((0.5, -3.0, 7.0), {"axis": 0})),
    kinds=ANY,
)


def _tile_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, repeats: tuple[int, ...]) -> Any:
    """Each axis of the gradient is `repeats` copies of the axis of `x`; the copies are summed."""
    paired = tuple(n for pair in zip(repeats, x.shape) for n in pair)
    copies = tuple(range(0, 2 * x.ndim, 2))
    return m.sum(m.reshape(gy, shape=paired), axes=copies)


op(
    "tile",  # one number of repeats per axis of x
    forward=lambda m, x, repeats: m.domain.lift(lambda v: np.tile(v, repeats), x),
    pullback=_tile_pullback,
    linear="jointly",
    samples=(Sample((_MATRIX,), {"repeats": (2, 3)}), Sample((_MATRIX,), {"repeats": (1, 2)})),
    kinds=ANY,
)
op(
    "reverse",
    moves_only=True,
    forward=lambda m, x, axes: m.domain.lift(lambda v: np.flip(v, axes), x),
    pullback=lambda m, i, gy, y, x, axes: m.reverse(gy, axes=axes),
    linear="jointly",
    samples=(Sample((_MATRIX,), {"axes": (1,)}), Sample((_MATRIX,), {"axes": (0, 1)})),
    kinds=ANY,
)
op(
    "roll",
    moves_only=True,
    forward=lambda m, x, shifts, axes: m.domain.lift(lambda v: np.roll(v, shifts, axes), x),
    pullback=lambda m, i, gy, y, x, shifts, axes: m.roll(
        gy, shifts=tuple(-shift for shift in shifts), axes=axes
    ),
    linear="jointly",
    samples=(
        Sample((_MATRIX,), {"shifts": (2,), "axes": (1,)}),
        Sample((_MATRIX,), {"shifts": (1, -1), "axes": (0, 1)}),
    ),
    kinds=ANY,
)


def _cast(m: Any, x: Any, dtype: str) -> Any:
    """Rounds to `dtype` where the domain rounds; elsewhere a number is the same in every dtype."""
    is_discrete = types.is_discrete_array(x)
    if (
        isinstance(x, np.ndarray)
        and x.dtype.kind in "fc"
        and (x.dtype.kind == "c") != types.is_complex(dtype)
    ):
        raise NotSupported("a cast between real and complex numbers: one gains or loses a part")
    return m.domain.settle(m.domain.enter(x) if is_discrete else x, dtype)


op(
    "cast",
    forward=_cast,
    slopes=(lambda m, y, x, dtype: 1,),
    linear="jointly",
    samples=(
        Sample((_MATRIX,), {"dtype": "float64"}),
        Sample((_MATRIX,), {"dtype": "float32"}),
        Sample(((0.5 - 1.25j, 2.0j),), {"dtype": "complex128"}),
        Sample(((0.5 - 1.25j, 2.0j),), {"dtype": "complex64"}),
    ),
    kinds=ANY,
)
op(
    "stop_gradient",  # its true slope is 1; that the gradient treats it as a constant is what it means
    forward=lambda m, x: x,
    slopes=(lambda m, y, x: 0,),
    samples=((np.zeros(0),),),
    kinds=ANY,
)
