"""Compares an observed gradient with the enclosure of the true one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradproof.domains.ball64 import all_finite
from gradproof.domains.fused64 import each_block
from gradproof.engine.refine import Enclosure
from gradproof.errors import InvalidInput
from gradproof.ir import types
from gradproof.ir.types import Array
from gradproof.options import Options

Outcome = Literal["within", "beyond", "undecided", "nonfinite", "unbounded"]

BLOCK = 1 << 15  # entries compared at a time: the ten temporaries of a block fit into a second-level cache

# A ball around zero that is below this share of the terms it is the sum of is zero for every purpose: 24 digits
# cancelled. Balls of 128 bits get there through some twenty layers, whose radii grow from each to the next.
ZERO_LIKE = 2.0**-80
NARROW_RANGE = "float16"  # ends at 6e-8; gradients of ordinary size get there, those of wider dtypes do not
# Roundings of its terms that a value which should be zero may consist of: a short chain of ops makes so many.
ROUNDINGS_OF_ZERO = 32


@dataclass(frozen=True)
class Comparison:
    """How far an observed gradient lies from the true one.

    `within` and `beyond` (the tolerance) are proven; `undecided` needs a tighter enclosure; `unbounded` says
    that some entries have no enclosure at all. `nonfinite` is about the observed number.
    """

    outcome: Outcome
    relative_error: float  # of the worst entry; NaN where none is known
    digits: float  # correct decimal digits of the worst entry
    digits_possible: float
    worst: tuple[int, ...] | None  # index of the worst entry


def compare(
    observed: Array, reference: Enclosure, dtype: str, options: Options, sizes: Array | None = None
) -> Comparison:
    """Entry by entry, measured against max(|its true value|, a share of the largest entry).

    `sizes` are the sizes of the terms each entry is a sum of. Where the true value is zero beside them, they
    are what the error is measured against: no arithmetic can find a zero to a relative precision.
    """
    observed = np.asarray(observed)
    if observed.shape != reference.mid.shape:
        raise InvalidInput(
            f"a gradient of shape {observed.shape} was observed for a source of shape {reference.mid.shape}"
        )
    if dtype not in types.SMALLEST:
        raise InvalidInput(f"a gradient of dtype {dtype} was observed; gradients are real or complex numbers")
    if observed.size == 0:
        return Comparison("within", 0.0, types.digits_possible(dtype), types.digits_possible(dtype), None)
    if not (all_finite(observed) and reference.is_bounded):
        finite, bounded = np.isfinite(observed), np.isfinite(reference.rad)
        if bounded[~finite].any():
            worst = _Worst(np.inf, int(np.argmax(~finite & bounded)))
            return _finding("nonfinite", worst, observed.shape, dtype)
        if not bounded.all():
            return _finding("unbounded", _Worst(np.nan, int(np.argmax(~bounded))), observed.shape, dtype)
    tolerance = options.tolerance(dtype)
    entries = _Entries(
        observed, reference, options.share_of_largest, _zero_scale(sizes, dtype, options), dtype
    )
    high = _worst_error(entries, _upper_bounds)
    if high.size <= tolerance:
        return _finding("within", high, observed.shape, dtype)
    low = _worst_error(entries, _lower_bounds)
    return _finding("beyond" if low.size > tolerance else "undecided", low, observed.shape, dtype)


def fails_beside_zero(observed: Array, reference: Enclosure, dtype: str, options: Options) -> bool:
    """Whether an entry that is proven not to be zero is not shown to be within the tolerance: nothing that is said
    about zeros can mend that."""
    entries = _Entries(np.asarray(observed), reference, options.share_of_largest, None, dtype)

    def of_what_is_not_zero(part: list[Array], floors: tuple[float, float], smallest: float) -> Array:
        return np.where(_may_be_zero(part), 0.0, _upper_bounds(part, floors, smallest))

    return _worst_error(entries, of_what_is_not_zero).size > options.tolerance(dtype)


@dataclass(frozen=True)
class _Worst:
    """The largest relative error and the flat place of its entry."""

    size: float
    place: int


def _zero_scale(sizes: Array | None, dtype: str, options: Options) -> tuple[Array, Array] | None:
    """The sizes of the terms, and what an error is measured against where they cancel to zero.

    As for small entries, a share of them; in 16-bit types that would demand more than rounding allows.
    """
    if sizes is None:
        return None
    roundings = ROUNDINGS_OF_ZERO * types.unit_roundoff(dtype) / options.tolerance(dtype)
    return sizes, sizes * min(1.0, max(options.share_of_largest, roundings))


@dataclass(frozen=True)
class _Entries:
    """What is compared, and against what size."""

    observed: Array
    reference: Enclosure
    share: float
    zero: tuple[Array, Array] | None
    dtype: str

    @property
    def are_lost(self) -> bool:
        """Whether all is 0 in a dtype whose range programs scale to stay in: then 0 is not the best there is."""
        return self.dtype == NARROW_RANGE and not np.any(self.observed)


# Observed, midpoints, radii, the sizes of terms and their scale if given; the floor of the scale; the smallest number.
Bounds = Callable[[list[Array], tuple[float, float], float], Array]


def _worst_error(entries: _Entries, bounds: Bounds) -> _Worst:
    """The worst of the bounds of the relative errors; block by block, to stay in the cache."""
    reference = entries.reference
    flat = [np.ravel(x) for x in (entries.observed, reference.mid, reference.rad, *(entries.zero or ()))]
    most, least = _largest(flat[1], flat[2])
    floors = entries.share * most, entries.share * least
    smallest = 0.0 if entries.are_lost else types.SMALLEST[entries.dtype]

    def worst(start: int) -> _Worst:
        part = [array[start : start + BLOCK] for array in flat]
        with np.errstate(all="ignore"):
            errors = bounds(part, floors, smallest)
        place = int(np.argmax(errors))  # NaN, if there is one
        size = float(errors[place])
        return _Worst(size if size == size else np.inf, start + place)

    # The first of the largest: `max` keeps it.
    return max(each_block(worst, range(0, flat[0].size, BLOCK)), key=lambda one: one.size)


def _largest(mid: Array, rad: Array) -> tuple[float, float]:
    """The most that the largest entry can be, and the least."""
    most, least = 0.0, 0.0
    for start in range(0, mid.size, BLOCK):
        size, radius = np.abs(mid[start : start + BLOCK]), rad[start : start + BLOCK]
        most, least = max(most, float((size + radius).max())), max(least, float((size - radius).max()))
    return most, least


def _upper_bounds(part: list[Array], floors: tuple[float, float], smallest: float) -> Array:
    """Upper bounds of the relative error of every entry of a block."""
    observed, mid, rad = part[:3]
    high = np.abs(observed - mid)
    high += rad
    scale = np.abs(mid)
    scale -= rad
    np.maximum(scale, floors[1], out=scale)
    if len(part) > 3:
        scale = np.where(_zero_like(part), np.maximum(scale, part[4]), scale)
    found = _found(high, smallest)
    high /= scale
    if found is not None:
        high[found] = 0.0
    return np.asarray(high)


def _lower_bounds(part: list[Array], floors: tuple[float, float], smallest: float) -> Array:
    """Lower bounds of the relative error of every entry of a block."""
    observed, mid, rad = part[:3]
    distance = np.abs(observed - mid)
    scale = np.maximum(np.abs(mid) + rad, floors[0])
    if len(part) > 3:
        scale = np.where(_may_be_zero(part), np.maximum(scale, part[4]), scale)
    found = _found(distance + rad, smallest)
    low = np.maximum(distance - rad, 0.0) / scale
    if found is not None:
        low[found] = 0.0
    return np.asarray(low)


def _zero_like(part: list[Array]) -> Array:
    """Where a value is zero beside its terms; one proven not to be zero is measured against itself, however small."""
    mid, rad, sizes = part[1:4]
    size = np.abs(mid)
    return np.asarray((size <= rad) & (size + rad <= ZERO_LIKE * sizes))


def _may_be_zero(part: list[Array]) -> Array:
    """Where more digits may show a value to be zero beside its terms: nothing is beyond the line before that."""
    mid, rad = part[1:3]
    return np.asarray(np.abs(mid) <= rad)


def _found(farthest: Array, smallest: float) -> Array | None:
    """Where no number of the dtype is closer to the true value: it has been found as well as it can be."""
    return np.asarray(farthest <= smallest) if farthest.min() <= smallest else None


def _finding(outcome: Outcome, worst: _Worst, shape: tuple[int, ...], dtype: str) -> Comparison:
    possible = types.digits_possible(dtype)
    place = tuple(int(k) for k in np.unravel_index(worst.place, shape))
    error = worst.size
    digits = (
        possible
        if error <= 0.0
        else float(np.clip(-np.log10(error), 0.0, possible))
        if error == error
        else 0.0
    )
    return Comparison(outcome, error, digits, possible, place)
