"""Exponentials, logarithms, roots, trigonometric, hyperbolic and special functions."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.jax.lower._table import lower, lower_to
from gradproof.ops.bessel import bessel_ie

for _op, _name in {
    "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log", "log1p": "log1p", "sqrt": "sqrt", "rsqrt": "rsqrt",
    "cbrt": "cbrt", "sin": "sin", "cos": "cos", "tan": "tan", "asin": "asin", "acos": "acos", "atan": "atan",
    "atan2": "atan2", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh", "acosh": "acosh",
    "atanh": "atanh", "sigmoid": "logistic", "erf": "erf", "erfc": "erfc", "erfinv": "erf_inv", "lgamma": "lgamma",
    "digamma": "digamma", "igamma": "igamma", "igammac": "igammac", "igamma_da": "igamma_grad_a", "zeta": "zeta",
}.items():  # fmt: skip
    lower_to(_op, _name)


@lower("regularized_incomplete_beta")
def _betainc(m: Any, event: Any, a: Any, b: Any, x: Any) -> Any:
    return m.betainc(a, b, x)


@lower("polygamma")
def _polygamma(m: Any, event: Any, n: Any, x: Any) -> Any:
    return m.polygamma(n, x)


@lower("bessel_i0e")
def _bessel_i0e(m: Any, event: Any, x: Any) -> Any:
    return bessel_ie(m, x, 0)


@lower("bessel_i1e")
def _bessel_i1e(m: Any, event: Any, x: Any) -> Any:
    return bessel_ie(m, x, 1)
