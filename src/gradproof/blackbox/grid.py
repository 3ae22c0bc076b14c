"""Values that lie on a grid: multiples of one spacing, or numbers of few decimal or binary digits."""

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MIN_LEVELS = 4  # fewer values lie on some grid by chance
COARSE = 2.0**-40  # of the values: a finer grid is no more than the rounding of a float64
MAX_DIGITS = 12
MAX_BITS = 40
SEPARATE = 32.0  # times its own uncertainty: a smaller number is no spacing
SLACK = 4.0  # units in the last place by which multiples of a spacing may be off it


@dataclass(frozen=True)
class Grid:
    """The spacing of values, absolute or by their number of digits; what is not known is zero."""

    spacing: float
    digits: int = 0
    bits: int = 0
    largest: float = np.inf  # of the values that were looked at; of larger ones the digits say nothing

    def at(self, values: Floats) -> Floats:
        """The spacing around each value: the widest that is known."""
        size = np.clip(abs(values), np.finfo(np.float64).tiny, self.largest)
        found = np.full(np.shape(values), self.spacing)
        if self.digits:
            found = np.maximum(found, 10.0 ** (np.floor(np.log10(size)) + 1 - self.digits))
        if self.bits:
            found = np.maximum(found, 2.0 ** (np.floor(np.log2(size)) + 1 - self.bits))
        return np.asarray(found)


def grid_of(values: Floats) -> Grid | None:
    """The grid on which all these values lie, None where they are too few, or fine as floats are."""
    levels = np.unique(values[np.isfinite(values)])
    if len(levels) < MIN_LEVELS:
        return None
    largest = float(abs(levels).max())
    spacing = common_spacing(levels, SLACK * 2.0**-53 * largest)
    digits, bits = max(map(_digits, levels.tolist())), max(map(_bits, levels.tolist()))
    grid = Grid(
        spacing if spacing > COARSE * largest else 0.0,
        digits if digits <= MAX_DIGITS else 0,
        bits if bits <= MAX_BITS else 0,
        largest,
    )
    return grid if grid.spacing or grid.digits or grid.bits else None


def common_spacing(levels: Floats, slack: float) -> float:
    """The largest number of which all distances are multiples, up to `slack`: Euclid's algorithm on floats.

    Zero where there is none, or where the uncertainty of a candidate grew until anything would be its multiple.
    """
    spacing, known_to = 0.0, slack  # the spacing so far, and how far it may be off
    for distance in np.sort(np.diff(levels)).tolist():
        blur = slack
        while distance > SEPARATE * blur:
            count = round(distance / spacing) if spacing else 0
            if not count:
                spacing, distance, known_to, blur = distance, spacing, blur, known_to
                continue
            rest, allowed = abs(distance - count * spacing), blur + count * known_to
            if SEPARATE * allowed > spacing:
                return 0.0
            if rest <= allowed:
                # A distance of many spacings tells the single one more sharply.
                if blur / count < known_to:
                    spacing, known_to = distance / count, blur / count
                break
            spacing, distance, known_to, blur = rest, spacing, allowed, known_to
    return spacing


def _digits(value: float) -> int:
    """Significant decimal digits of the shortest text that reads back as the value."""
    return len(Decimal(repr(value)).normalize().as_tuple().digits)


def _bits(value: float) -> int:
    """Significant binary digits."""
    whole = int(abs(np.frexp(value)[0]) * 2.0**53)
    return 53 - ((whole & -whole).bit_length() - 1) if whole else 0
