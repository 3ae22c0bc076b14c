"""Elementary functions of balls that the library has not, or has with other branches than NumPy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from flint import acb, arb

from gradproof.domains.ball_precise import NAN, Kernel

ZERO = arb(0)

# Irrational factors of slopes, under the names that the op `times` knows.
CONSTANTS: dict[str, Callable[[], arb]] = {
    "pi": arb.pi,
    "ln(2)": arb.const_log2,
    "1/ln(2)": lambda: 1 / arb.const_log2(),
    "1/ln(10)": lambda: 1 / arb.const_log10(),
    "sqrt(pi)": arb.const_sqrt_pi,
    "2/sqrt(pi)": lambda: 2 / arb.const_sqrt_pi(),
    "sqrt(pi)/2": lambda: arb.const_sqrt_pi() / 2,
    "sqrt(2pi)": lambda: (2 * arb.pi()).sqrt(),
    "1/sqrt(2pi)": lambda: (2 * arb.pi()).rsqrt(),
}


def _times(x: Any, constant: str) -> Any:
    return x * CONSTANTS[constant]()


MOST_FACTORS = 64  # powers of a ball around zero that are multiplied out


def _power(x: Any, exponent: Any, less: int = 0) -> Any:
    exponent = exponent - less
    around_zero = isinstance(x, arb) and not x.is_exact() and x.contains(ZERO)
    if around_zero and 0 <= exponent <= MOST_FACTORS and exponent.is_integer():
        # The library takes a logarithm here, which a ball around zero has not; products need none.
        return math.prod([x] * int(exponent.unique_fmpz()), start=arb(1))
    return x**exponent


def _cbrt(x: arb) -> arb:
    if x > 0:
        return x.root(3)
    if x < 0:
        return -((-x).root(3))
    if not x.is_finite():
        return NAN
    return ZERO if x == 0 else arb(0, abs(x).upper().root(3).upper())


def _sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), written so that the exponential is the small one."""
    if x.real.mid() >= 0:
        return 1 / (1 + (-x).exp())
    small = x.exp()
    return small / (1 + small)


def _softplus(x: arb) -> arb:
    """log(1 + exp(x)), written so that the exponential is the small one."""
    return x + (-x).exp().log1p() if x.mid() > 0 else x.exp().log1p()


def _logaddexp(a: Any, b: Any) -> arb:
    large, small = (a, b) if a.mid() >= b.mid() else (b, a)
    return large + (small - large).exp().log1p()


def _xlogy(x: Any, y: Any) -> Any:
    return ZERO if x == 0 else x * y.log()


def _xlog1py(x: Any, y: Any) -> Any:
    return ZERO if x == 0 else x * y.log1p()


def _xdivy(x: Any, y: Any) -> Any:
    return ZERO if x == 0 else x / y


def _hypot(a: arb, b: arb) -> arb:
    # As products: a power of a ball around zero is unknown, and one of the two may well be such a ball.
    length = (a * a + b * b).sqrt()
    # The product of a ball around zero with itself reaches below zero, and has no root; a length has a bound there.
    return length if length.is_finite() else arb(0).union(abs(a).upper() + abs(b).upper())


def _above_right_cut(name: str) -> Kernel:
    """The library continues from below on the cut to the right of 1, NumPy from above."""

    def kernel(x: Any) -> Any:
        y = getattr(x, name)()
        on_cut = isinstance(x, acb) and x.imag == 0 and x.real > 1
        return y.conjugate() if on_cut else y

    return kernel


KERNELS: dict[str, Kernel] = {
    "times": _times,
    "power": _power,
    "cbrt": _cbrt,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
    "log_sigmoid": lambda x: -_softplus(-x),
    "logaddexp": _logaddexp,
    "xlogy": _xlogy,
    "xlog1py": _xlog1py,
    "xdivy": _xdivy,
    "hypot": _hypot,
    "sinc": lambda x: x.sinc(),
    "asin": _above_right_cut("asin"),
    "acos": _above_right_cut("acos"),
    "atanh": _above_right_cut("atanh"),
}
