"""Entrywise functions in floating point: what NumPy and SciPy call them, and the few they lack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy  # its parts are loaded when they are called: half a second that few programs need
from flint import arb

from gradproof.domains import ball_bessel, ball_gamma, ball_parameter
from gradproof.domains.ball_elementary import CONSTANTS
from gradproof.domains.ball_precise import precision
from gradproof.ir.types import Array

BALL_BITS = 80  # a float64 is then rounded once, but for the rarest of ties


def _times(x: Any, constant: str) -> Any:
    with precision(BALL_BITS):
        factor = float(CONSTANTS[constant]().mid())
    return np.multiply(x, np.asarray(factor, np.asarray(x).real.dtype))


def _absorbing_mul(a: Any, b: Any) -> Any:
    return np.where(
        (np.asarray(a) == 0) | (np.asarray(b) == 0), np.zeros((), np.result_type(a, b)), np.multiply(a, b)
    )


def _xdivy(x: Any, y: Any) -> Any:
    return np.where(np.asarray(x) == 0, np.zeros((), np.result_type(x, y)), np.divide(x, y))


def _of_scipy(name: str) -> Callable[..., Any]:
    return lambda *xs: getattr(scipy.special, name)(*xs)


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, np.zeros((), np.asarray(x).dtype))


def _sinc(x: Any) -> Any:
    x = np.asarray(x)
    return np.where(x == 0, np.ones((), x.dtype), np.sin(x) / np.where(x == 0, np.ones((), x.dtype), x))


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x)) if np.iscomplexobj(x) else scipy.special.expit(x)


def _bessel_i_scaled(x: Any, order: int) -> Any:
    return scipy.special.ive(order, x) * np.exp(np.abs(x) - x)


def _in_float64(function: Callable[..., Any]) -> Callable[..., Any]:
    """Functions put together from several steps are rounded once, at the end."""

    def rounded(*xs: Any, **params: Any) -> Any:
        floats = [np.asarray(x).dtype for x in xs if np.asarray(x).dtype.kind == "f"]
        y = function(*(np.asarray(x, np.float64) for x in xs), **params)
        return np.asarray(y, np.result_type(*floats) if floats else np.float64)

    return rounded


def _gamma_density(a: Array, x: Array) -> Any:
    return np.exp(scipy.special.xlogy(a - 1, x) - x - scipy.special.gammaln(a))


def _beta_density(a: Array, b: Array, x: Array) -> Any:
    return np.exp(
        scipy.special.xlogy(a - 1, x) + scipy.special.xlog1py(b - 1, -x) - scipy.special.betaln(a, b)
    )


def _through_balls(function: Callable[..., arb]) -> Callable[..., Any]:
    """For what no library has: the enclosure, entry by entry, rounded to floating point."""

    def kernel(*xs: Array, **params: Any) -> Any:
        def entry(*entries: float) -> float:
            with precision(BALL_BITS):
                y = function(*(arb(x) for x in entries), **params)
            return float(y.mid()) if y.is_finite() else np.nan

        return np.frompyfunc(entry, len(xs), 1)(*xs)

    return _in_float64(kernel)


SPELLINGS: dict[str, Callable[..., Any]] = {
    **{name: _through_balls(function) for name, function in ball_parameter.KERNELS.items()},
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "about": lambda x, radius: np.asarray(x),
    "times": _times,
    "absorbing_mul": _absorbing_mul,
    "power": lambda x, e, less=0: np.power(x, e - less),
    "integer_power": lambda x, exponent: np.power(x, exponent),
    "hypot": np.hypot,
    "xdivy": _xdivy,
    "xlogy": _of_scipy("xlogy"),
    "xlog1py": _of_scipy("xlog1py"),
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "logaddexp": np.logaddexp,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinc": _sinc,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "conj": np.conj,
    "real": np.real,
    "imag": np.imag,
    "erf": _of_scipy("erf"),
    "erfc": _of_scipy("erfc"),
    "erfcx": _of_scipy("erfcx"),
    "erfinv": _of_scipy("erfinv"),
    "erfcinv": _of_scipy("erfcinv"),
    "ndtr": _of_scipy("ndtr"),
    "ndtri": _of_scipy("ndtri"),
    "log_ndtr": _of_scipy("log_ndtr"),
    "dawson": _of_scipy("dawsn"),
    "expint": _of_scipy("expi"),
    "exp1": _of_scipy("exp1"),
    "fresnel_sin": lambda x: scipy.special.fresnel(x)[0],
    "fresnel_cos": lambda x: scipy.special.fresnel(x)[1],
    "sin_integral": lambda x: scipy.special.sici(x)[0],
    "cos_integral": lambda x: scipy.special.sici(x)[1],
    "spence": _of_scipy("spence"),
    "hyp0f1": lambda x, b: scipy.special.hyp0f1(b, x),
    "hyp1f1": _through_balls(ball_bessel.KERNELS["hyp1f1"]),
    "hyp2f1": _through_balls(ball_bessel.KERNELS["hyp2f1"]),
    "gamma": _of_scipy("gamma"),
    "lgamma": _of_scipy("gammaln"),
    "digamma": _of_scipy("digamma"),
    "polygamma": _through_balls(ball_gamma.KERNELS["polygamma"]),
    "zeta": _of_scipy("zeta"),
    "igamma": _of_scipy("gammainc"),
    "igammac": _of_scipy("gammaincc"),
    "gamma_density": _in_float64(_gamma_density),
    "betainc": _of_scipy("betainc"),
    "beta_density": _in_float64(_beta_density),
    "bessel_i": lambda x, order: scipy.special.iv(order, x),
    "bessel_i_scaled": _bessel_i_scaled,
    "bessel_j": lambda x, order: scipy.special.jv(order, x),
    "bessel_k": lambda x, order: scipy.special.kv(order, x),
    "bessel_k_scaled": lambda x, order: scipy.special.kve(order, x),
    "bessel_y": lambda x, order: scipy.special.yv(order, x),
}
