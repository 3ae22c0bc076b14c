"""mpmath values of exponentials, logarithms and roots."""

from __future__ import annotations

import mpmath
import numpy as np

REFERENCES = {name: np.frompyfunc(getattr(mpmath, name), 1, 1) for name in ("exp", "log", "sqrt", "tanh")}
