"""mpmath values of the entrywise arithmetic."""

from __future__ import annotations

import mpmath
import numpy as np

REFERENCES = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "neg": lambda x: -x,
    "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x,
    "integer_power": lambda x, exponent: np.frompyfunc(lambda entry: mpmath.power(entry, exponent), 1, 1)(x),
}
