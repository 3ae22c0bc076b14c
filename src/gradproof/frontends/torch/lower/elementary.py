"""Exponentials, logarithms, roots, trigonometric, hyperbolic and special functions, and their backward ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import is_complex, lower, lower_to, number, pair
from gradproof.ops.bessel import bessel_ie
from gradproof.ops.complex import angle, modulus

for _name in (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan", "asin", "acos",
    "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "sigmoid", "erf", "erfc", "erfinv", "lgamma",
    "digamma", "logaddexp",
):  # fmt: skip
    lower_to(_name, _name)

for _op, _name in {
    "digamma": "special_digamma", "lgamma": "special_gammaln", "erfcx": "special_erfcx", "ndtri": "special_ndtri",
    "log_ndtr": "special_log_ndtr", "ndtr": "special_ndtr", "expm1": "special_expm1",
    "igamma": "special_gammainc", "igammac": "special_gammaincc",
}.items():  # fmt: skip
    lower_to(_op, _name)
lower_to("igamma", "igamma")
lower_to("igammac", "igammac")


@lower("xlogy", "special_xlogy")
def _xlogy(m: Any, e: Any, x: Any, z: Any) -> Any:
    return m.xlogy(*pair(m, x, z))


@lower("sinc", "special_sinc")
def _sinc(m: Any, e: Any, x: Any) -> Any:
    """PyTorch's has its zeros at the integers."""
    return m.sinc(m.times(x, constant="pi"))


@lower("special_xlog1py")
def _xlog1py(m: Any, e: Any, x: Any, z: Any) -> Any:
    return m.xlog1py(*pair(m, x, z))


@lower("special_zeta")
def _zeta(m: Any, e: Any, x: Any, q: Any) -> Any:
    return m.zeta(*pair(m, x, q))


@lower("special_entr")
def _entr(m: Any, e: Any, x: Any) -> Any:
    return -m.xlogy(x, x)


@lower("polygamma", "special_polygamma")
def _polygamma(m: Any, e: Any, n: Any, x: Any) -> Any:
    if not isinstance(n, int):
        n, x = x, n
    return m.polygamma(n, x) if n else m.digamma(x)


@lower("special_i0", "i0")
def _i0(m: Any, e: Any, x: Any) -> Any:
    return m.bessel_i(x, order=0)


@lower("special_i1")
def _i1(m: Any, e: Any, x: Any) -> Any:
    return m.bessel_i(x, order=1)


@lower("special_i0e")
def _i0e(m: Any, e: Any, x: Any) -> Any:
    return bessel_ie(m, x, 0)


@lower("special_i1e")
def _i1e(m: Any, e: Any, x: Any) -> Any:
    return bessel_ie(m, x, 1)


@lower("mvlgamma")
def _mvlgamma(m: Any, e: Any, x: Any, p: int) -> Any:
    total = m.literal(np.asarray(p * (p - 1) / 4.0)) * m.log(m.pi())
    for k in range(p):
        total = total + m.lgamma(x - k / 2.0)
    return total


@lower("logit", "special_logit")
def _logit(m: Any, e: Any, x: Any, eps: Any = None) -> Any:
    if eps is not None:
        low, high = number(m, eps, x), number(m, 1.0 - eps, x)
        x = m.select(m.less(x, low), low, m.select(m.greater(x, high), high, x))
    return m.log(x) - m.log(1 - x)


@lower("logit_backward")
def _logit_backward(m: Any, e: Any, gy: Any, x: Any, eps: Any = None) -> Any:
    slope = m.div(gy, m.mul(x, 1 - x))
    if eps is None:
        return slope
    inside = m.logical_and(m.greater_equal(x, number(m, eps, x)), m.less_equal(x, number(m, 1.0 - eps, x)))
    return m.select(inside, slope, m.zeros(()))


@lower("abs", "absolute")
def _abs(m: Any, e: Any, x: Any) -> Any:
    return modulus(m, x) if is_complex(x) else absolute(m, x)


def absolute(m: Any, x: Any) -> Any:
    return m.select(m.greater_equal(x, 0), x, -x)


@lower("sgn")
def _sgn(m: Any, e: Any, x: Any) -> Any:
    """Of a complex number: the number of size 1 in its direction."""
    return m.div(x, modulus(m, x)) if is_complex(x) else m.cast(m.sign(x), dtype=str(e.outputs[0].dtype))


@lower("angle")
def _angle(m: Any, e: Any, x: Any) -> Any:
    if not is_complex(x):  # half a turn on one side of 0, none on the other
        return m.select(m.less(x, 0), number(m, np.pi, x), number(m, 0.0, x))
    return angle(m, x)


@lower("frexp")
def _frexp(m: Any, e: Any, x: Any) -> Any:
    """(a number from a half to one, the power of two that it is to be multiplied with)."""
    power = np.asarray(e.outputs[1].array)
    if (np.abs(np.asarray(e.outputs[0].array)) == 0.5).any():
        raise NotImplementedError("powers of two, where the result jumps")
    return m.mul(x, m.literal(np.exp2(-power.astype(np.float64)))), m.constant(power)


@lower("sigmoid_backward")
def _sigmoid_backward(m: Any, e: Any, gy: Any, y: Any) -> Any:
    return m.mul(gy, m.conj(y * (1 - y)))


@lower("tanh_backward")
def _tanh_backward(m: Any, e: Any, gy: Any, y: Any) -> Any:
    return m.mul(gy, m.conj(1 - y * y))


@lower("real", "prims.real")
def _real(m: Any, e: Any, x: Any) -> Any:
    return m.real(x) if is_complex(x) else m.identity(x)


@lower("imag", "prims.imag")
def _imag(m: Any, e: Any, x: Any) -> Any:
    return m.imag(x)


@lower("view_as_real", "view_as_real_copy")
def _view_as_real(m: Any, e: Any, x: Any) -> Any:
    return m.stack(m.real(x), m.imag(x), axis=x.ndim)


@lower("view_as_complex", "view_as_complex_copy")
def _view_as_complex(m: Any, e: Any, x: Any) -> Any:
    parts = (m.take(x, np.asarray(k), axis=x.ndim - 1) for k in (0, 1))
    return m.complex(*parts)


@lower("complex")
def _complex(m: Any, e: Any, real: Any, imag: Any) -> Any:
    return m.complex(real, imag)


@lower("polar")
def _polar(m: Any, e: Any, size: Any, turn: Any) -> Any:
    return m.complex(m.mul(size, m.cos(turn)), m.mul(size, m.sin(turn)))
