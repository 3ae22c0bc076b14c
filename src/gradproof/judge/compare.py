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


def compare(observed: Array, reference: Enclosure, dtype: str, options: Options, sizes: Array | None = None) -> Comparison:
    """Entry by entry, measured against max(|its true value|, a share of the largest entry).

    `sizes` are the sizes of the terms each entry is a sum of. Where the true value is zero beside them, they
    are what the error is measured against: no arithmetic can find a zero to a relative precision.
    """
    observed = np.asarray(observed)
    if observed.shape != reference.mid.shape:
        raise InvalidInput(f"a gradient of shape {observed.shape} was observed for a source of shape {reference.mid.shape}")
    if dtype not in types.SMALLEST:
        raise InvalidInput(f"a gradient of dtype {dtype} was observed; gradients are real or complex numbers")
    if np.iscomplexobj(observed) and not np.iscomplexobj(reference.mid):
        raise InvalidInput("a complex gradient was observed for a real source")
    if observed.size == 0:
        return Comparison("within", 0.0, types.digits_possible(dtype), types.digits_possible(dtype), None)
    finite = np.isfinite(observed)
    bounded = np.isfinite(reference.rad)
    if not finite.all() and bounded[~finite].any():
        return _finding("nonfinite", np.where(finite | ~bounded, 0.0, np.inf), dtype)
    if not bounded.all():
        return _finding("unbounded", np.where(bounded, 0.0, np.nan), dtype)
    tolerance = options.tolerance(dtype)
    zero = _zero_scale(sizes, dtype, options)
    low, high = _relative_errors(observed, reference, options.share_of_largest, zero, types.SMALLEST[dtype])
    if (high <= tolerance).all():
        return _finding("within", high, dtype)
    return _finding("beyond" if (low > tolerance).any() else "undecided", low, dtype)


def _zero_scale(sizes: Array | None, dtype: str, options: Options) -> tuple[Array, Array] | None:
    """The sizes of the terms, and what an error is measured against where they cancel to zero.

    As for small entries, a share of them; in 16-bit types that would demand more than rounding allows.
    """
    if sizes is None:
        return None
    roundings = ROUNDINGS_OF_ZERO * types.unit_roundoff(dtype) / options.tolerance(dtype)
    return sizes, sizes * min(1.0, max(options.share_of_largest, roundings))


def _relative_errors(
    observed: Array, reference: Enclosure, share: float, zero: tuple[Array, Array] | None, smallest: float
) -> tuple[Array, Array]:
    """Lower and upper bounds of the relative error of every entry."""
    distance = np.abs(observed.astype(np.result_type(reference.mid, observed)) - reference.mid)
    most = np.abs(reference.mid) + reference.rad
    least = np.maximum(np.abs(reference.mid) - reference.rad, 0.0)
    scale_most, scale_least = np.maximum(most, share * most.max()), np.maximum(least, share * least.max())
    if zero is not None:
        sizes, scale = zero
        # A value that is proven not to be zero is measured against itself, however small.
        zero_like = (least == 0.0) & (most <= ZERO_LIKE * sizes)
        scale_least = np.where(zero_like, np.maximum(scale_least, scale), scale_least)
        scale_most = np.where(zero_like, np.maximum(scale_most, scale), scale_most)
    low, high = np.maximum(distance - reference.rad, 0.0), distance + reference.rad
    # No number of the dtype is closer to a true value than this: it has been found as well as it can be.
    low, high = np.where(high <= smallest, 0.0, low), np.where(high <= smallest, 0.0, high)
    with np.errstate(divide="ignore", invalid="ignore"):
        return _ratio(low, scale_most), _ratio(high, scale_least)


def _ratio(error: Array, scale: Array) -> Array:
    return np.where(error == 0.0, 0.0, error / np.where(error == 0.0, 1.0, scale))


def _finding(outcome: Outcome, errors: Array, dtype: str) -> Comparison:
    possible = types.digits_possible(dtype)
    known = np.nan_to_num(errors, nan=-1.0, posinf=np.inf)
    worst = tuple(int(k) for k in np.unravel_index(int(np.argmax(known)), known.shape))
    error = float(errors[worst])
    digits = possible if error <= 0.0 else float(np.clip(-np.log10(error), 0.0, possible)) if error == error else 0.0
    return Comparison(outcome, error, digits, possible, worst)
