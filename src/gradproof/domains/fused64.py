"""Sums, products and quotients of float64 balls in few passes over blocks that fit the processor's cache.

A kernel writes midpoints and radii of a block and says whether they may be believed: no result but an exact zero is
so small that something underflowed, and every radius is finite. Where it says no, the block is done again by the
careful formulas.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from gradproof.domains.cores import on_all_cores
from gradproof.domains.rounding64 import UNIT
from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array

Result = TypeVar("Result")

# Only a result smaller than this can have underflowed, or lost a term of its radius that way: with it every
# radius is at least 2^-953, and what falls below 2^-1022 on the way is a share of that far below one rounding.
SMALL = 2.0**-900
BLOCK = 1 << 15  # entries; measured best: five arrays of this size fit into a second-level cache

WORTH_A_THREAD = 4  # blocks: starting a thread takes as long as half of one

_UP = 1.0 + 16.0 * UNIT  # makes up for eight roundings, as `rounding64.up` explains

# Writes `mid` and `rad` from the midpoints and radii (None: exact) of two operands.
Kernel = Callable[[Array, Array, Array, Array | None, Array, Array | None], bool]
Parts = tuple[Array, Array | None]


def exact_sum(a: Array, ra: Array | None, b: Array, rb: Array | None) -> Array | None:
    """The sum of exact numbers where it is one of float64: an exponent 2 - 1 is 1, and no other number nearby."""
    if ra is not None or rb is not None:
        return None
    if max(a.size, b.size) > BLOCK or any(((np.abs(x) < SMALL) & (x != 0.0)).any() for x in (a, b)):
        return None  # what is left of numbers so small may have been flushed to zero
    with np.errstate(all="ignore"):
        total = np.asarray(a + b)
        taken = total - a
        is_rounded = np.any((a - (total - taken)) + (b - taken))  # not a number where one is infinite
    return None if is_rounded else total


def fused_sum(combine: Callable[..., Any]) -> Kernel:
    """The kernel of `np.add` or `np.subtract`."""

    def kernel(mid: Array, rad: Array, a: Array, ra: Array | None, b: Array, rb: Array | None) -> bool:
        combine(a, b, out=mid)
        least = _rounding(mid, rad)
        if ra is not None:
            rad += ra
        if rb is not None:
            rad += rb
        # A sum of zeros is exact, and so is one that cancels, unless a tiny difference was flushed to zero.
        return _finish(least, rad, mid, lambda: (mid == 0.0) & ((a == 0.0) | (np.abs(a) >= SMALL)))

    return kernel


def fused_product(mid: Array, rad: Array, a: Array, ra: Array | None, b: Array, rb: Array | None) -> bool:
    np.multiply(a, b, out=mid)
    least = _rounding(mid, rad)
    if ra is not None:
        size = np.asarray(np.abs(b))
        if rb is not None:
            size += rb
        rad += ra * size
    if rb is not None:
        rad += np.abs(a) * rb
    return _finish(least, rad, mid, lambda: _is_zero(a, ra) | _is_zero(b, rb))


def fused_quotient(mid: Array, rad: Array, a: Array, ra: Array | None, b: Array, rb: Array | None) -> bool:
    """|(a+s)/(b+t) - a/b| <= (|s| + |a/b| |t|) / (|b| - |t|), the denominator rounded down."""
    np.divide(a, b, out=mid)
    size = np.abs(mid) if rb is not None else None
    least = _rounding(mid, rad)
    if ra is not None or rb is not None:
        nearest = np.asarray(np.abs(b))
        nearest *= 1.0 - 4.0 * UNIT
        if rb is not None:
            nearest -= rb * (1.0 + 4.0 * UNIT)
        if not nearest.min() > 0.0:
            return False
        if ra is not None:
            rad += ra / nearest
        if rb is not None:
            rad += size * (rb / nearest)
    return _finish(least, rad, mid, lambda: _is_zero(a, ra))


def _rounding(mid: Array, rad: Array) -> float:
    """The rounding of the midpoint as the first term of the radius; returns the size of the smallest midpoint."""
    np.abs(mid, out=rad)
    least = float(rad.min())
    rad *= UNIT
    return least


def _finish(least: float, rad: Array, mid: Array, exact: Callable[[], Array]) -> bool:
    """Round the radius up and say whether it may be believed.

    Small results are believed where they are `exact` zeros; these are common. The radius of such a product or quotient
    is zero, and that of such a sum is the sum of two, which cannot underflow.
    """
    rad *= _UP
    if not float(rad.max()) < np.inf:  # or NaN
        return False
    if least >= SMALL:
        return True
    return not ((np.abs(mid) < SMALL) & ~exact()).any()


def _is_zero(mid: Array, rad: Array | None) -> Array:
    return np.asarray(mid == 0.0) if rad is None else np.asarray((mid == 0.0) & (rad == 0.0))


def in_blocks(
    kernel: Kernel, careful: Callable[[Parts, Parts], tuple[Array, Array]], a: Parts, b: Parts
) -> tuple[Array, Array]:
    """Midpoints and radii of a binary operation with broadcasting; `careful` is asked where the kernel is unsure."""
    shape = a[0].shape if a[0].shape == b[0].shape else joint_shape(a[0].shape, b[0].shape)
    mid, rad = np.empty(shape), np.empty(shape)
    if mid.size == 0:
        return mid, rad
    if mid.size <= BLOCK:
        return (mid, rad) if kernel(mid, rad, *a, *b) else careful(a, b)

    def fill(block: Any) -> None:
        part_a, part_b = _parts(a, block, shape), _parts(b, block, shape)
        if not kernel(mid[block], rad[block], *part_a, *part_b):
            mid[block], rad[block] = careful(part_a, part_b)

    each_block(fill, blocks(shape))
    return mid, rad


def widened(array: Array) -> Array:
    """The numbers as float64."""
    wide = np.empty(array.shape)

    def fill(block: Any) -> None:
        wide[block] = array[block]

    each_block(fill, blocks(array.shape))
    return wide


def each_block(work: Callable[[Any], Result], parts: Iterable[Any]) -> list[Result]:
    """`work` on every block, on all cores if there are enough of them to be worth a thread."""
    parts = list(parts)
    return on_all_cores(work, parts) if len(parts) >= WORTH_A_THREAD else [work(part) for part in parts]


def blocks(shape: tuple[int, ...], entries: int = BLOCK) -> Iterator[Any]:
    """Indices that cut an array along its first axis into blocks of about so many entries."""
    size = math.prod(shape)
    if size <= entries:
        return iter((...,))
    step = max(1, entries * shape[0] // size)
    return (slice(start, start + step) for start in range(0, shape[0], step))


def part_of(x: Array, block: Any, shape: tuple[int, ...]) -> Array:
    """An operand's share in a block of a result; all of it where it is repeated along the first axis."""
    return x if x.ndim < len(shape) or x.shape[:1] != shape[:1] else x[block]


def _parts(x: Parts, block: Any, shape: tuple[int, ...]) -> Parts:
    mid, rad = x
    return part_of(mid, block, shape), None if rad is None else part_of(rad, block, shape)
