"""Values that lie on a coarse grid: hidden float32, rounding to decimals, a difference of large numbers."""

import numpy as np

from gradproof.blackbox.ladder import Floats, Ladder

MIN_VALUES = 4  # fewer can lie on a grid by chance
SHORT_BITS = 12  # a number of so few bits fits into every dtype and tells nothing
MAX_COUNT = 1e4  # beyond, a multiple of the grid is no longer told from any other number
CLOSENESS = 0.02


def hidden_eps(values: Floats) -> float:
    """The spacing of float32 where every value is one, although it came as float64; else 0."""
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        if not (finite == finite.astype(np.float32)).all():
            return 0.0
    mantissa, _ = np.frexp(finite)
    long = finite[(mantissa * 2.0**SHORT_BITS) % 1 != 0]
    return float(np.finfo(np.float32).eps) if len(np.unique(long)) >= MIN_VALUES else 0.0


def quantum_of(pairs: Ladder) -> float:
    """The spacing of the grid the changes lie on, 0 where they lie on none.

    Asked only where small steps change nothing. The smallest change is taken for the spacing, and believed
    if every other change that is not too large is a multiple of it.
    """
    changes = np.concatenate([pairs.plus - pairs.centre, pairs.minus - pairs.centre])
    sizes = np.unique(abs(changes[np.isfinite(changes) & (changes != 0)]))
    if not len(sizes):
        return 0.0
    steps = np.diff(sizes, prepend=0.0)
    spacing = float(
        steps[steps > 4 * np.finfo(np.float64).eps * max(sizes[0], abs(pairs.centre))].min(initial=np.inf)
    )
    counts = sizes[sizes < MAX_COUNT * spacing] / spacing
    off = abs(counts - np.round(counts))
    return spacing if len(counts) >= MIN_VALUES and (off <= CLOSENESS).all() else 0.0
