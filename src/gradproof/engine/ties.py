"""Numbers that cannot be told apart, made equal, so that what they do next can decide a tie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.ir.program import Node
from gradproof.ir.shapes import jointly
from gradproof.ir.types import Array
from gradproof.ops import Arithmetic, Op

Bounds = tuple[Array, Array]  # midpoints and radii

RATE_SHARE = 2.0**-40  # tangents that agree to twelve digits do not settle a tie
LEAST_RATE = 2.0**-1000  # moves also what stands still, and is lost beside anything that moves


def snapped(node: Node, op: Op, bounds: Sequence[Bounds], tied: Array) -> list[Array]:
    """The midpoints of a decision's operands, exactly equal (or exactly on the grid) where they tie."""
    mids = [mid for mid, _ in bounds]
    if op.compares == "pair":
        a, b = jointly(*mids)
        return [a, np.where(tied, a, b)]
    if op.compares == "grid":
        return [np.where(tied, np.rint(2.0 * mids[0]) / 2.0, mids[0])]
    if op.compares == "line":
        axis = node.params.get("axis", 0)
        if _stand_apart(*bounds[0], axis):
            return mids
        return [np.take_along_axis(mids[0], _lowest(*bounds[0], axis), axis), *mids[1:]]
    mid, rad = (np.concatenate([part.reshape(-1) for part in parts]) for parts in zip(*bounds))
    if _stand_apart(mid, rad, axis=0):
        return mids
    return _apart(mid[_lowest(mid, rad, axis=0)], [mid.shape for mid in mids])


def gaps(
    m: Arithmetic, node: Node, op: Op, xs: Sequence[Any], bounds: Sequence[Bounds], tied: Array
) -> list[Array]:
    """By how much operands that tied have come apart in the numbers `xs`; zero where that cannot be seen.

    What ties is subtracted before anything is rounded, so that the gaps keep their digits, however small.
    """
    shapes = [np.shape(x) for x in xs]
    if op.compares == "pair":
        gap = _seen(m, m.sub(xs[0], xs[1]))
        return [gap, np.zeros(gap.shape)]
    if op.compares == "grid":
        return [_seen(m, m.sub(xs[0], m.literal(snapped(node, op, bounds, tied)[0])))]
    if op.compares == "line":
        axis = node.params.get("axis", 0)
        lowest = m.take_along(xs[0], _lowest(*bounds[0], axis), axis=axis)
        return [_seen(m, m.sub(xs[0], lowest)), *(np.zeros(shape) for shape in shapes[1:])]
    mid, rad = (np.concatenate([part.reshape(-1) for part in parts]) for parts in zip(*bounds))
    flat = m.concat(*(m.reshape(x, shape=(part.size,)) for x, (part, _) in zip(xs, bounds)), axis=0)
    return _apart(_seen(m, m.sub(flat, m.take(flat, _lowest(mid, rad, axis=0), axis=0))), shapes)


def _seen(m: Arithmetic, x: Any) -> Array:
    mid, rad = m.domain.leave(x)
    return np.where(np.abs(mid) > rad, mid, 0.0)


def _apart(flat: Array, shapes: Sequence[tuple[int, ...]]) -> list[Array]:
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes)]


def _stand_apart(mid: Array, rad: Array, axis: int) -> bool:
    """Whether any two numbers on a line are exactly equal or surely apart: each is the lowest of its chain.

    Sorting numbers is ten times quicker than sorting their places. As many balls have ended before the k-th begins as
    have begun, if the k-th lower end lies beyond the upper end that comes k-th.
    """
    low, high = (np.moveaxis(np.sort(end, axis=axis), axis, -1) for end in (mid - rad, mid + rad))
    begins = low[..., 1:] > high[..., :-1]
    repeats = (low[..., 1:] == low[..., :-1]) & (high[..., 1:] == high[..., :-1]) & (low == high)[..., 1:]
    return bool((begins | repeats).all())


def _lowest(mid: Array, rad: Array, axis: int) -> Array:
    """For each number the place, along the axis, of the lowest in its chain of overlapping balls."""
    low, high = np.moveaxis(mid - rad, axis, -1), np.moveaxis(mid + rad, axis, -1)
    order = np.argsort(low, axis=-1, kind="stable")
    low, high = np.take_along_axis(low, order, -1), np.take_along_axis(high, order, -1)
    starts = np.ones(low.shape, bool)
    starts[..., 1:] = low[..., 1:] > np.maximum.accumulate(high, axis=-1)[..., :-1]
    first = np.maximum.accumulate(np.where(starts, np.arange(low.shape[-1]), 0), axis=-1)
    places = np.empty(low.shape, np.int64)
    np.put_along_axis(places, order, np.take_along_axis(order, first, -1), -1)
    return np.moveaxis(places, -1, axis)


def nudges(rates: Sequence[Bounds], moving: Sequence[bool]) -> list[Array]:
    """Changes of the tangents too small to matter, unless the tangents tie; none for what stands still."""
    rng = np.random.default_rng(0)
    parts = []
    for (rate, radius), moves in zip(rates, moving):
        size = radius + RATE_SHARE * np.abs(rate) + LEAST_RATE
        sign = rng.choice([-1.0, 1.0], rate.shape) * rng.uniform(0.5, 1.0, rate.shape)
        parts.append(np.where(np.isfinite(size) & moves, sign * size, 0.0))
    return parts
