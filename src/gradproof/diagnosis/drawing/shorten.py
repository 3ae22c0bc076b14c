"""Numbers cut to the digits a picture can show, so that a report with many curves stays small."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from gradproof.ir.types import Array

DIGITS = 7  # a screen has some thousand dots; the rest lets a reader zoom in


def shortened(curve: Array) -> Array:
    """A curve to so many digits of its height: what varies in the last digits only keeps its shape."""
    finite = curve[np.isfinite(curve)]
    height = float(np.ptp(finite)) if finite.size else 0.0
    if height == 0.0 or not math.isfinite(height):
        return significant(curve)
    places = DIGITS - 1 - math.floor(math.log10(height))
    return np.array([round(x, places) if math.isfinite(x) else x for x in curve.tolist()])


def significant(numbers: Iterable[float]) -> Array:
    """Each number to so many digits of its own, for curves on a logarithmic scale."""
    return np.array([float(f"{x:.{DIGITS}g}") for x in numbers])
