"""mpmath values of special functions, where possible by other definitions than those of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np


def _each(function: Callable[..., Any], n: int = 1) -> Callable[..., Any]:
    def entry(*entries: Any) -> Any:
        return function(*(mpmath.mpf(x) for x in entries))

    return np.frompyfunc(entry, n, 1)


def _ndtri(p: Any) -> Any:
    return mpmath.sqrt(2) * mpmath.erfinv(2 * p - 1)


def _log_ndtr(x: Any) -> Any:
    with mpmath.extradps(250):  # the mass of the far tail, taken from 1
        return mpmath.log(mpmath.ncdf(x))


def _betainc(a: Any, b: Any, x: Any) -> Any:
    return mpmath.betainc(a, b, 0, x, regularized=True)


def _gamma_density(a: Any, x: Any) -> Any:
    return x ** (a - 1) * mpmath.exp(-x) / mpmath.gamma(a)


def _beta_density(a: Any, b: Any, x: Any) -> Any:
    return x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)


def _igamma(a: Any, x: Any) -> Any:
    return mpmath.gammainc(a, 0, x, regularized=True)


def _by_parameter(function: Callable[..., Any], place: int) -> Callable[..., Any]:
    """A difference with so many digits that 60 of the quotient are right."""

    def slope(*xs: Any) -> Any:
        with mpmath.extradps(160):
            h = mpmath.mpf(10) ** -60
            ahead, behind = (function(*xs[:place], xs[place] + step, *xs[place + 1 :]) for step in (h, -h))
            return (ahead - behind) / (2 * h)

    return slope


def _bessel(function: Callable[..., Any], scale: Callable[..., Any] | None = None) -> Callable[..., Any]:
    def value(x: Any, order: int) -> Any:
        return _each(lambda entry: function(order, entry) * (1 if scale is None else scale(entry)))(x)

    return value


REFERENCES = {
    "erf": _each(mpmath.erf),
    "erfc": _each(mpmath.erfc),
    "erfcx": _each(lambda x: mpmath.exp(x * x) * mpmath.erfc(x)),
    "erfinv": _each(mpmath.erfinv),
    "erfcinv": _each(lambda x: mpmath.erfinv(1 - x)),
    "ndtr": _each(mpmath.ncdf),
    "ndtri": _each(_ndtri),
    "log_ndtr": _each(_log_ndtr),
    "dawson": _each(lambda x: mpmath.exp(-x * x) * mpmath.erfi(x) * mpmath.sqrt(mpmath.pi) / 2),
    "expint": _each(mpmath.ei),
    "exp1": _each(mpmath.e1),
    "fresnel_sin": _each(mpmath.fresnels),
    "fresnel_cos": _each(mpmath.fresnelc),
    "sin_integral": _each(mpmath.si),
    "cos_integral": _each(mpmath.ci),
    "spence": _each(lambda x: mpmath.polylog(2, 1 - x)),
    "hyp0f1": lambda x, b: _each(lambda entry: mpmath.hyp0f1(b, entry))(x),
    "hyp1f1": lambda x, a, b: _each(lambda entry: mpmath.hyp1f1(a, b, entry))(x),
    "hyp2f1": lambda x, a, b, c: _each(lambda entry: mpmath.hyp2f1(a, b, c, entry))(x),
    "lgamma": _each(lambda x: mpmath.log(abs(mpmath.gamma(x)))),
    "gamma": _each(mpmath.gamma),
    "digamma": _each(mpmath.digamma),
    "polygamma": lambda n, x, more=0: _each(lambda k, entry: mpmath.polygamma(int(k), entry), 2)(n + more, x),
    "lbeta": _each(lambda a, b: mpmath.log(mpmath.beta(a, b)), 2),
    "igamma": _each(_igamma, 2),
    "igammac": _each(lambda a, x: mpmath.gammainc(a, x, regularized=True), 2),
    "gamma_density": _each(_gamma_density, 2),
    "igamma_da": _each(_by_parameter(_igamma, 0), 2),
    "betainc": _each(_betainc, 3),
    "beta_density": _each(_beta_density, 3),
    "betainc_da": _each(_by_parameter(_betainc, 0), 3),
    "betainc_db": _each(_by_parameter(_betainc, 1), 3),
    "zeta": _each(mpmath.zeta, 2),
    "zeta_ds": _each(lambda s, q: mpmath.zeta(s, q, 1), 2),
    "bessel_i": _bessel(mpmath.besseli),
    "bessel_i_scaled": _bessel(mpmath.besseli, lambda x: mpmath.exp(-x)),
    "bessel_j": _bessel(mpmath.besselj),
    "bessel_k": _bessel(mpmath.besselk),
    "bessel_k_scaled": _bessel(mpmath.besselk, mpmath.exp),
    "bessel_y": _bessel(mpmath.bessely),
}
