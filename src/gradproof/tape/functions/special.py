"""SciPy's special functions; those that are ufuncs come to the tape by themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special
from scipy.special import _ufuncs

from gradproof.errors import NotSupported
from gradproof.ops.bessel import bessel_ie
from gradproof.tape.functions._operands import axes_of, operand, scalar_constant
from gradproof.tape.functions._table import LOWERINGS, lowers
from gradproof.tape.functions.elementwise import enter_direct
from gradproof.tape.functions.reductions import kept_shape

enter_direct(
    {
        special.expit: "sigmoid",
        special.log_expit: "log_sigmoid",
        special.erf: "erf",
        special.erfc: "erfc",
        special.erfcx: "erfcx",
        special.erfinv: "erfinv",
        special.erfcinv: "erfcinv",
        special.ndtr: "ndtr",
        special.log_ndtr: "log_ndtr",
        special.ndtri: "ndtri",
        special.gamma: "gamma",
        special.gammaln: "lgamma",
        special.loggamma: "lgamma",
        special.psi: "digamma",
        special.gammainc: "igamma",
        special.gammaincc: "igammac",
        special.betaln: "lbeta",
        special.betainc: "betainc",
        special.dawsn: "dawson",
        special.expi: "expint",
        special.exp1: "exp1",
        special.spence: "spence",
        special.xlogy: "xlogy",
        special.xlog1py: "xlog1py",
        special.cbrt: "cbrt",
        special.exp2: "exp2",
        special.expm1: "expm1",
        special.log1p: "log1p",
    }
)

_BESSEL_OF_ORDER = {
    special.i0: ("bessel_i", 0),
    special.i1: ("bessel_i", 1),
    special.j0: ("bessel_j", 0),
    special.j1: ("bessel_j", 1),
    special.y0: ("bessel_y", 0),
    special.y1: ("bessel_y", 1),
    special.k0: ("bessel_k", 0),
    special.k1: ("bessel_k", 1),
    special.k0e: ("bessel_k_scaled", 0),
    special.k1e: ("bessel_k_scaled", 1),
}
_BESSEL = {
    special.jv: "bessel_j",
    special.jn: "bessel_j",
    special.yv: "bessel_y",
    special.yn: "bessel_y",
    special.iv: "bessel_i",
    special.kv: "bessel_k",
    special.kn: "bessel_k",
    special.kve: "bessel_k_scaled",
}


def _of_fixed_order(op: str, order: int) -> Any:
    return lambda m, y, x: m.record(op, [operand(m, x, y.dtype)], y, {"order": order})


def _of_given_order(op: str) -> Any:
    def lower(m: Any, y: Any, order: Any, x: Any) -> Any:
        number = scalar_constant(order)
        if not isinstance(number, int | float) or number != int(number):
            raise NotSupported("a Bessel function whose order is not one integer")
        return m.record(op, [operand(m, x, y.dtype)], y, {"order": int(number)})

    return lower


for _ufunc, (_op, _order) in _BESSEL_OF_ORDER.items():
    LOWERINGS[_ufunc] = _of_fixed_order(_op, _order)
for _ufunc, _op in _BESSEL.items():
    LOWERINGS[_ufunc] = _of_given_order(_op)


@lowers(special.ive)
def _ive(m: Any, y: Any, order: Any, x: Any) -> Any:
    number = scalar_constant(order)
    if not isinstance(number, int | float) or number != int(number):
        raise NotSupported("a Bessel function whose order is not one integer")
    return bessel_ie(m, operand(m, x, y.dtype), int(number))


@lowers(special.i0e)
def _i0e(m: Any, y: Any, x: Any) -> Any:
    return bessel_ie(m, operand(m, x, y.dtype), 0)


@lowers(special.i1e)
def _i1e(m: Any, y: Any, x: Any) -> Any:
    return bessel_ie(m, operand(m, x, y.dtype), 1)


@lowers(special.rgamma)
def _rgamma(m: Any, y: Any, x: Any) -> Any:
    return m.reciprocal(m.gamma(operand(m, x, y.dtype)))


@lowers(special.beta)
def _beta(m: Any, y: Any, a: Any, b: Any) -> Any:
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    return m.div(m.mul(m.gamma(a), m.gamma(b)), m.gamma(m.add(a, b)))


@lowers(special.logit)
def _logit(m: Any, y: Any, x: Any) -> Any:
    x = operand(m, x, y.dtype)
    return m.sub(m.log(x), m.log1p(m.neg(x)))


@lowers(special.entr)
def _entr(m: Any, y: Any, x: Any) -> Any:
    x = operand(m, x, y.dtype)
    return m.neg(m.xlogy(x, x))


@lowers(special.rel_entr)
def _rel_entr(m: Any, y: Any, x: Any, z: Any) -> Any:
    x, z = operand(m, x, y.dtype), operand(m, z, y.dtype)
    return m.xlogy(x, m.div(x, z))


@lowers(special.kl_div)
def _kl_div(m: Any, y: Any, x: Any, z: Any) -> Any:
    x, z = operand(m, x, y.dtype), operand(m, z, y.dtype)
    return m.add(m.sub(m.xlogy(x, m.div(x, z)), x), z)


@lowers(special.huber)
def _huber(m: Any, y: Any, delta: Any, r: Any) -> Any:
    delta, r = operand(m, delta, y.dtype), operand(m, r, y.dtype)
    size = m.select(m.greater_equal(r, 0), r, m.neg(r))
    inside = m.div(m.square(r), 2)
    outside = m.mul(delta, m.sub(size, m.div(delta, 2)))
    return m.select(m.less_equal(size, delta), inside, outside)


@lowers(special.pseudo_huber)
def _pseudo_huber(m: Any, y: Any, delta: Any, r: Any) -> Any:
    delta, r = operand(m, delta, y.dtype), operand(m, r, y.dtype)
    return m.mul(m.square(delta), m.sub(m.sqrt(m.add(m.square(m.div(r, delta)), 1)), 1))


@lowers(_ufuncs._zeta)  # what `special.zeta(x, q)` calls
def _zeta(m: Any, y: Any, x: Any, q: Any) -> Any:
    return m.zeta(operand(m, x, y.dtype), operand(m, q, y.dtype))


@lowers(special.cosm1)
def _cosm1(m: Any, y: Any, x: Any) -> Any:
    half = m.sin(m.div(operand(m, x, y.dtype), 2))
    return m.mul(m.square(half), -2)


@lowers(special.exprel)
def _exprel(m: Any, y: Any, x: Any) -> Any:
    x = operand(m, x, y.dtype)
    if np.any(x.value == 0):
        raise NotSupported("exprel at 0")
    return m.div(m.expm1(x), x)


@lowers(special.sici)
def _sici(m: Any, y: Any, x: Any) -> Any:
    x = operand(m, x, y[0].dtype)
    return m.sin_integral(x), m.cos_integral(x)


@lowers(special.fresnel)
def _fresnel(m: Any, y: Any, x: Any) -> Any:
    x = operand(m, x, y[0].dtype)
    return m.fresnel_sin(x), m.fresnel_cos(x)


@lowers((np.logaddexp, "reduce"))
def _logsumexp(m: Any, y: Any, a: Any, axis: Any = 0, **options: Any) -> Any:
    if any(options.get(name) not in (None, True) for name in ("initial", "where")):
        raise NotSupported("logaddexp.reduce with `initial` or `where`")
    x = operand(m, a, y.dtype)
    return kept_shape(m, m.logsumexp(x, axes=axes_of(axis, x.ndim)), y)


@lowers(special.betaincc)
def _betaincc(m: Any, y: Any, a: Any, b: Any, x: Any) -> Any:
    a, b, x = (operand(m, part, y.dtype) for part in (a, b, x))
    return m.betainc(b, a, m.sub(m.constant(np.ones((), y.dtype)), x))


@lowers(special.exp10)
def _exp10(m: Any, y: Any, x: Any) -> Any:
    return m.power(m.constant(np.asarray(10, y.dtype)), operand(m, x, y.dtype))


@lowers(special.boxcox)
def _boxcox(m: Any, y: Any, x: Any, exponent: Any) -> Any:
    x, exponent = operand(m, x, y.dtype), operand(m, exponent, y.dtype)
    if np.any(exponent.value == 0):
        raise NotSupported("a Box-Cox transform with exponent 0")
    return m.div(m.expm1(m.mul(exponent, m.log(x))), exponent)


@lowers(special.chdtr)
def _chdtr(m: Any, y: Any, v: Any, x: Any) -> Any:
    return m.igamma(m.div(operand(m, v, y.dtype), 2), m.div(operand(m, x, y.dtype), 2))


@lowers(special.chdtrc)
def _chdtrc(m: Any, y: Any, v: Any, x: Any) -> Any:
    return m.igammac(m.div(operand(m, v, y.dtype), 2), m.div(operand(m, x, y.dtype), 2))
