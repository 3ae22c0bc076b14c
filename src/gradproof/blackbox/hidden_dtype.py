"""Float32 that hides in values that came as float64."""

import numpy as np

from gradproof.blackbox.grid import Floats

MIN_VALUES = 4  # fewer can be float32 by chance
SHORT_BITS = 12  # a number of so few bits fits into every dtype and tells nothing


def hidden_eps(values: Floats) -> float:
    """The spacing of float32 where every value is one, although it came as float64; else 0."""
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        if not (finite == finite.astype(np.float32)).all():
            return 0.0
    mantissa, _ = np.frexp(finite)
    long = finite[(mantissa * 2.0**SHORT_BITS) % 1 != 0]
    return float(np.finfo(np.float32).eps) if len(np.unique(long)) >= MIN_VALUES else 0.0
