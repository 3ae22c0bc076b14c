"""Compares an observed gradient with the enclosure of the true one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from gradproof.engine.refine import Enclosure
from gradproof.errors import InvalidInput
from gradproof.ir import types
from gradproof.options import Options

Array = np.ndarray[Any, Any]
Outcome = Literal["within", "beyond", "undecided", "nonfinite", "unbounded"]

BLOCK = 1 << 15  # entries compared at a time: the ten temporaries of a block fit into a second-level cache

# A true value below this share of the terms it is the sum of is zero for every purpose: 30 digits cancelled.
ZERO_LIKE = 2.0**-100
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
    if np.iscomplexobj(observed) and not np.iscomplexobj(reference.mid):
        raise InvalidInput("a complex gradient was observed for a real source")
    if observed.size == 0:
        return Comparison("within", 0.0, types.digits_possible(dtype), types.digits_possible(dtype), None)
    finite = np.isfinite(observed)
    bounded = np.isfinite(reference.rad)
    if not finite.all() and bounded[~finite].any():
        return _finding("nonfinite", _Worst(np.inf, int(np.argmax(~finite & bounded))), observed.shape, dtype)
    if not bounded.all():
        return _finding("unbounded", _Worst(np.nan, int(np.argmax(~bounded))), observed.shape, dtype)
    tolerance = options.tolerance(dtype)
    low, high = _worst_errors(
        observed, reference, options.share_of_largest, _zero_scale(sizes, dtype, options), dtype
    )
    if high.size <= tolerance:
        return _finding("within", high, observed.shape, dtype)
    return _finding("beyond" if low.size > tolerance else "undecided", low, observed.shape, dtype)


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


def _worst_errors(
    observed: Array, reference: Enclosure, share: float, zero: tuple[Array, Array] | None, dtype: str
) -> tuple[_Worst, _Worst]:
    """Lower and upper bounds of the relative errors, each at its worst entry; block by block, to stay in the cache."""
    flat = [np.ravel(array) for array in (observed, reference.mid, reference.rad, *(zero or ()))]
    largest, certain = _largest(flat[1], flat[2])
    low, high = _Worst(-1.0, 0), _Worst(-1.0, 0)
    for start in range(0, flat[0].size, BLOCK):
        part = [array[start : start + BLOCK] for array in flat]
        lows, highs = _relative_errors(part, share * largest, share * certain, types.SMALLEST[dtype])
        low, high = _worse(low, lows, start), _worse(high, highs, start)
    return low, high


def _largest(mid: Array, rad: Array) -> tuple[float, float]:
    """The most that the largest entry can be, and the least."""
    most, least = 0.0, 0.0
    for start in range(0, mid.size, BLOCK):
        size, radius = np.abs(mid[start : start + BLOCK]), rad[start : start + BLOCK]
        most, least = max(most, float((size + radius).max())), max(least, float((size - radius).max()))
    return most, least


def _worse(worst: _Worst, errors: Array, start: int) -> _Worst:
    place = int(np.argmax(errors))
    return _Worst(float(errors[place]), start + place) if errors[place] > worst.size else worst


def _relative_errors(
    part: list[Array], floor_most: float, floor_least: float, smallest: float
) -> tuple[Array, Array]:
    """Lower and upper bounds of the relative error of every entry of a block."""
    observed, mid, rad = part[:3]
    distance = np.abs(observed - mid)
    size = np.abs(mid)
    most, least = size + rad, size - rad
    scale_most, scale_least = np.maximum(most, floor_most), np.maximum(np.maximum(least, floor_least), 0.0)
    if len(part) > 3:
        sizes, scale = part[3:]
        # A value that is proven not to be zero is measured against itself, however small.
        zero_like = (least <= 0.0) & (most <= ZERO_LIKE * sizes)
        scale_least = np.where(zero_like, np.maximum(scale_least, scale), scale_least)
        scale_most = np.where(zero_like, np.maximum(scale_most, scale), scale_most)
    high = distance + rad
    low = np.maximum(distance - rad, 0.0)
    # No number of the dtype is closer to a true value than this: it has been found as well as it can be.
    found = high <= smallest
    low[found] = high[found] = 0.0
    with np.errstate(all="ignore"):
        low /= scale_most
        high /= scale_least
    low[found] = high[found] = 0.0  # also where the scale is zero
    return np.nan_to_num(low, nan=np.inf), np.nan_to_num(high, nan=np.inf)


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
