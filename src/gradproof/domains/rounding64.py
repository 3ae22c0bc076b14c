"""Rounding in float64: the unit, the error bound of a function, and rounding a radius upwards."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradproof.ir.types import Array

UNIT = 2.0**-53  # half an ulp of 1: the relative error of one correctly rounded operation

# The smallest normal number covers what underflow loses, even where a library has switched subnormals off.
TINY = 2.0**-1022


@dataclass(frozen=True)
class Bound:
    """What is proven of a computed y = f(x): |y - f(x)| <= relative |y| + argument |x| + absolute.

    `argument` speaks of a function whose argument is reduced by multiples of an irrational number; it is far
    below `relative` unless y nearly vanishes at an x that is not small.
    """

    relative: float
    absolute: float
    argument: float = 0.0

    def error(self, x: Array, y: Array) -> Array:
        """The bound, entry by entry; its own few roundings are left to `up`."""
        size = np.abs(y)
        size *= self.relative
        size += self.absolute
        if self.argument:
            size += self.argument * np.abs(x)
        return size


def up(x: Array, roundings: int = 8) -> Array:
    """An upper bound of a sum of non-negative terms, computed as x with at most `roundings` roundings.

    n roundings lose at most the factor (1 - UNIT)^-n < 1 + 1.01 n UNIT; multiplying by 1 + 2 n UNIT makes up
    for them and for its own rounding. Zero stays zero: a term that underflowed must be covered with TINY
    beforehand. The least term added covers what multiplication loses on subnormal numbers.
    """
    larger = x * (1.0 + 2.0 * roundings * UNIT)
    larger += np.minimum(x, TINY)
    return np.asarray(larger)
