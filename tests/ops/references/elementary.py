"""mpmath values of exponentials, logarithms, roots, and (hyperbolic) trigonometric functions."""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

_SAME_NAME = (
    *("exp", "expm1", "log", "log1p", "log10", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sinc"),
)


def _cbrt(x: Any) -> Any:
    return -mpmath.cbrt(-x) if x < 0 else mpmath.cbrt(x)


REFERENCES = {
    **{name: np.frompyfunc(getattr(mpmath, name), 1, 1) for name in _SAME_NAME},
    "exp2": np.frompyfunc(lambda x: mpmath.power(2, x), 1, 1),
    "log2": np.frompyfunc(lambda x: mpmath.log(x, 2), 1, 1),
    "rsqrt": np.frompyfunc(lambda x: 1 / mpmath.sqrt(x), 1, 1),
    "cbrt": np.frompyfunc(_cbrt, 1, 1),
    "sigmoid": np.frompyfunc(lambda x: 1 / (1 + mpmath.exp(-x)), 1, 1),
    "softplus": np.frompyfunc(lambda x: mpmath.log1p(mpmath.exp(x)), 1, 1),
    "log_sigmoid": np.frompyfunc(lambda x: -mpmath.log1p(mpmath.exp(-x)), 1, 1),
    "logaddexp": np.frompyfunc(lambda a, b: mpmath.log(mpmath.exp(a) + mpmath.exp(b)), 2, 1),
    "atan2": np.frompyfunc(mpmath.atan2, 2, 1),
    "real": np.frompyfunc(mpmath.re, 1, 1),
    "imag": np.frompyfunc(mpmath.im, 1, 1),
    "conj": np.frompyfunc(mpmath.conj, 1, 1),
    "complex": np.frompyfunc(mpmath.mpc, 2, 1),
}
