"""Observed and proven gradient entry by entry: right digits, the worst entries, a histogram."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from gradproof.ir.types import Array

# An entry is measured against no less than this share of the largest one: beside entries of size 1 the
# digits of an entry of size 1e-9 do not matter.
FLOOR_RELATIVE = 1e-3
N_WORST = 10  # enough to see a pattern in the indices; a screen holds them

_SIGNIFICAND_BITS = {
    "bfloat16": 8,
    "float16": 11,
    "float32": 24,
    "float64": 53,
    "complex64": 24,
    "complex128": 53,
}


@dataclass(frozen=True)
class Entry:
    """One entry of a gradient; `radius` bounds the error of `reference`."""

    index: tuple[int, ...]
    observed: complex
    reference: complex
    radius: float
    digits: float


@dataclass(frozen=True)
class EntryTable:
    """What is worth knowing about a gradient too large to be shown.

    `histogram[k]` counts the entries with at least k and fewer than k + 1 right digits, the last one being
    all that the dtype holds; the entries that are not finite stand apart.
    """

    count: int
    not_finite: int
    histogram: tuple[int, ...]
    worst: tuple[Entry, ...]
    observed_norm: float
    reference_norm: float
    difference_norm: float


def digits_possible(dtype: str) -> float | None:
    """The decimal digits a number of this dtype holds; None for a dtype that holds no real numbers."""
    bits = _SIGNIFICAND_BITS.get(dtype)
    return None if bits is None else bits * math.log10(2)


def entry_digits(observed: Array, reference: Array, radius: Array, possible: float) -> Array:
    """The digits every entry is certain to have right, between 0 and `possible`; NaN where nothing is known.

    An observed entry that is not finite has none. The reference is trusted only up to its radius.
    """
    with np.errstate(all="ignore"):
        size = np.abs(reference)
        known = np.isfinite(size) & np.isfinite(radius)
        largest = np.max(size, where=known, initial=0.0)
        scale = np.maximum(size, FLOOR_RELATIVE * largest)
        error = np.abs(observed - reference) + radius
        relative = np.where(error == 0, 0.0, error / np.where(scale == 0, 1.0, scale))
        # Where the true gradient is zero throughout there is no scale: any other number has no right digit.
        relative = np.where((scale == 0) & (error > 0), np.inf, relative)
        digits = np.clip(-np.log10(relative), 0.0, possible)
    digits = np.where(np.isfinite(observed), digits, 0.0)
    return np.where(known, digits, np.nan)


def norm(array: Array) -> float:
    """The Euclidean norm, the same to the last digit on every machine, which that of a BLAS library is not."""
    with np.errstate(all="ignore"):
        return float(np.sqrt(np.sum(np.square(np.abs(np.ravel(array))))))


def tabulate(observed: Array, reference: Array, radius: Array | None, possible: float) -> EntryTable:
    """The table of a gradient whose entries are all at hand."""
    # Half-precision numbers would overflow in the norms.
    wide = np.complex128 if np.iscomplexobj(observed) or np.iscomplexobj(reference) else np.float64
    observed, reference = observed.astype(wide), reference.astype(wide)
    bound = np.zeros(reference.shape) if radius is None else np.broadcast_to(radius, reference.shape)
    digits = entry_digits(observed, reference, bound, possible)
    finite = np.isfinite(observed) & np.isfinite(digits)
    bins = np.floor(digits[finite]).astype(int)
    with np.errstate(all="ignore"):
        arrays = (observed, reference, observed - reference)
        norms = [norm(array) for array in arrays]
    return EntryTable(
        count=int(observed.size),
        not_finite=int(observed.size - np.count_nonzero(np.isfinite(observed))),
        histogram=tuple(int(n) for n in np.bincount(bins, minlength=int(possible) + 1)),
        worst=_worst(observed, reference, bound, digits),
        observed_norm=norms[0],
        reference_norm=norms[1],
        difference_norm=norms[2],
    )


def _worst(observed: Array, reference: Array, radius: Array, digits: Array) -> tuple[Entry, ...]:
    """The entries with the fewest right digits, those that are not finite first, then in order of place."""
    key = np.where(np.isfinite(observed), np.where(np.isnan(digits), np.inf, digits), -1.0).ravel()
    count = min(N_WORST, key.size)
    # A partition first: a full sort of ten million entries takes seconds.
    limit = np.partition(key, count - 1)[count - 1] if count else 0.0
    candidates = np.flatnonzero(key <= limit)
    order = candidates[np.argsort(key[candidates], kind="stable")][:count]
    # By index and not by `flat`, which ends at 32 axes; an array may have 64.
    indices = [tuple(int(i) for i in np.unravel_index(flat, observed.shape)) for flat in order]
    return tuple(
        Entry(
            index=index,
            observed=observed[index].item(),
            reference=reference[index].item(),
            radius=float(radius[index]),
            digits=float(digits[index]),
        )
        for index in indices
    )
