"""Sizes of numbers in a dtype: the last place, the smallest normal one; and arrays wide enough to be compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ir import types
from gradproof.ir.types import Array


def wide(given: Any) -> Array:
    """The same numbers in 64 bits, which hold those of every narrower dtype."""
    array = np.asarray(given)
    return array.astype(np.complex128 if np.iscomplexobj(array) else np.float64)


def unit(value: float, dtype: str) -> float:
    """One in the last place of a number."""
    if value == 0.0:
        return types.SMALLEST[dtype]
    exponent = np.floor(np.log2(abs(value))) - (types.precision_bits(dtype) - 1)
    return max(float(np.exp2(exponent)), types.SMALLEST[dtype])


def smallest_normal(dtype: str) -> float:
    return float(np.finfo(np.float32 if dtype == "bfloat16" else dtype).tiny)


def furthest(a: Array, b: Array) -> tuple[int, ...]:
    """The entry where two arrays differ most; one where a number differs from none comes first."""
    one, two = np.asarray(a, np.complex128), np.asarray(b, np.complex128)
    with np.errstate(all="ignore"):
        gap = np.where((one == two) | (np.isnan(one) & np.isnan(two)), 0.0, np.abs(one - two))
    gap = np.where(np.isfinite(gap), gap, np.inf)
    return tuple(int(place) for place in np.unravel_index(int(np.argmax(gap)), one.shape))
