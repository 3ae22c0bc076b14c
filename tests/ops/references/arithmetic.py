"""mpmath values of the entrywise arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

_CONSTANTS: dict[str, Callable[[], Any]] = {
    "pi": lambda: +mpmath.pi,
    "1/sqrt(2pi)": lambda: 1 / mpmath.sqrt(2 * mpmath.pi),
}


def _each(function: Callable[..., Any], n: int = 2) -> Callable[..., Any]:
    return np.frompyfunc(lambda *entries: function(*(mpmath.mpmathify(entry) for entry in entries)), n, 1)


REFERENCES = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "absorbing_mul": lambda a, b: a * b,
    "times": lambda x, constant: x * _CONSTANTS[constant](),
    "div": lambda a, b: a / b,
    "neg": lambda x: -x,
    "reciprocal": lambda x: 1 / x,
    "square": lambda x: x * x,
    "integer_power": lambda x, exponent: np.frompyfunc(lambda entry: mpmath.power(entry, exponent), 1, 1)(x),
    "power": lambda x, e, less=0: _each(mpmath.power)(x, e - less),
    "hypot": _each(mpmath.hypot),
    "xdivy": _each(lambda x, y: x / y),
    "xlogy": _each(lambda x, y: x * mpmath.log(y)),
    "xlog1py": _each(lambda x, y: x * mpmath.log1p(y)),
}
