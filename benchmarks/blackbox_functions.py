"""The functions on which black-box derivatives are measured, each with its true slope to 50 digits."""

import math
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf


@dataclass(frozen=True)
class Function:
    """One function at one point; `slope` is its true derivative, None where there is none."""

    name: str
    family: str
    call: Callable[[Any], Any]
    x: Any
    slope: float | None
    left: float | None = None  # at a kink: the slopes of both sides
    right: float | None = None
    statuses: tuple[str, ...] = ("ok",)  # the answers that are right
    hopeless: bool = False  # no method can know: "cannot tell" is what is wanted


def functions() -> tuple[Function, ...]:
    """All of them, in a fixed order."""
    makers = (
        _smooth,
        _python_only,
        _oscillating,
        _scales,
        _noisy,
        _float32,
        _near_kinks,
        _at_kinks,
        _at_jumps,
        _domain_limits,
        _not_analytic,
        _hopeless,
    )
    return tuple(function for make in makers for function in make())


def _at(family: str, name: str, call: Callable[[Any], Any], x: Any, slope: Callable[[Any], Any]) -> Function:
    """A row whose true slope is evaluated with 50 digits at the very number `x` is."""
    with mpmath.workdps(50):
        return Function(name, family, call, x, float(slope(mpf(float(x)))))


def noise(x: Any) -> float:
    """A number in [-1, 1] that has nothing to do with its neighbours': a checksum of the bits of x."""
    return zlib.crc32(struct.pack("<d", float(x))) / 2**31 - 1.0


def _smooth() -> Iterator[Function]:
    """NumPy functions that accept complex numbers, where the complex step of the peers shines."""
    m = mpmath
    rows: tuple[tuple[str, Callable[[Any], Any], float, Callable[[Any], Any]], ...] = (
        ("sin", np.sin, 1.0, m.cos),
        ("exp", np.exp, 0.7, m.exp),
        ("log", np.log, 3.0, lambda x: 1 / x),
        ("tanh", np.tanh, 0.3, lambda x: m.sech(x) ** 2),
        ("polynomial", lambda x: 3 * x**5 - 2 * x**3 + x - 7, 1.3, lambda x: 15 * x**4 - 6 * x**2 + 1),
        ("rational", lambda x: 1 / (1 + 25 * x * x), 0.2, lambda x: -50 * x / (1 + 25 * x * x) ** 2),
        ("exp over polynomial", lambda x: np.exp(x) / (np.sin(x) ** 3 + np.cos(x) ** 3), 1.5, _squire_trapp),
        ("softplus", lambda x: np.log(1 + np.exp(x)), -2.0, lambda x: 1 / (1 + m.exp(-x))),
        ("power", lambda x: x**2.5, 2.0, lambda x: mpf("2.5") * x ** mpf("1.5")),
        ("arctan", np.arctan, -1.7, lambda x: 1 / (1 + x * x)),
        ("sqrt", np.sqrt, 0.01, lambda x: 1 / (2 * m.sqrt(x))),
        ("bell at its flank", lambda x: np.exp(-x * x), 2.2, lambda x: -2 * x * m.exp(-x * x)),
    )
    for name, call, x, slope in rows:
        yield _at("smooth", name, call, x, slope)


def _squire_trapp(x: Any) -> Any:
    m = mpmath
    inner = m.sin(x) ** 3 + m.cos(x) ** 3
    change = 3 * m.sin(x) ** 2 * m.cos(x) - 3 * m.cos(x) ** 2 * m.sin(x)
    return m.exp(x) / inner - m.exp(x) * change / inner**2


def _python_only() -> Iterator[Function]:
    """Smooth functions on floats of Python: no arrays, no complex numbers."""
    m = mpmath
    rows: tuple[tuple[str, Callable[[Any], Any], float, Callable[[Any], Any]], ...] = (
        ("math.sin", math.sin, 1.0, m.cos),
        ("math.exp", math.exp, -3.0, m.exp),
        ("math.log", math.log, 0.2, lambda x: 1 / x),
        ("math.erf", math.erf, 0.5, lambda x: 2 / m.sqrt(m.pi) * m.exp(-x * x)),
        ("math.gamma", math.gamma, 2.5, lambda x: m.gamma(x) * m.digamma(x)),
        ("math.lgamma", math.lgamma, 7.3, lambda x: m.digamma(x)),
        ("math.atan far out", math.atan, 50.0, lambda x: 1 / (1 + x * x)),
        ("math.cosh", math.cosh, 4.0, m.sinh),
        ("cube root", math.cbrt, 8.0, lambda x: 1 / (3 * m.cbrt(x) ** 2)),
        ("minimum of a parabola", lambda x: math.pow(x - 1.5, 2) + 2, 1.5, lambda x: 2 * (x - mpf("1.5"))),
        ("triple root", lambda x: math.pow(x - 1.0, 3), 1.0, lambda x: 3 * (x - 1) ** 2),
        ("maximum of sin", math.sin, math.pi / 2, m.cos),
        ("constant", lambda x: float(math.pow(x, 0)) * 3.5, 2.0, lambda x: mpf(0)),
        ("line", lambda x: 3.0 * float(x) - 2.0, 0.4, lambda x: mpf(3)),
        ("stiff layer", lambda x: math.tanh(200 * (x - 1)), 1.001, _stiff_layer),
        ("narrow bell", lambda x: math.exp(-((x - 2) ** 2) * 1e6), 2.0005, _narrow_bell),
        ("pole near by", lambda x: 1.0 / (math.pow(x, 1) - 1.0), 1.001, lambda x: -1 / (x - 1) ** 2),
        ("logsumexp", lambda x: math.log(math.exp(x) + 1) - x, 14.0, lambda x: -1 / (m.exp(x) + 1)),
    )
    for name, call, x, slope in rows:
        yield _at("python only", name, call, x, slope)


def _stiff_layer(x: Any) -> Any:
    return 200 * mpmath.sech(200 * (x - 1)) ** 2


def _narrow_bell(x: Any) -> Any:
    return -2e6 * (x - 2) * mpmath.exp(-((x - 2) ** 2) * 10**6)


def _oscillating() -> Iterator[Function]:
    """sin of up to 10,000 x: a step that is not tiny sees nothing but aliases."""
    m = mpmath
    for rate in (10, 100, 1000, 10_000):
        yield _at(
            "oscillating",
            f"sin({rate} x)",
            lambda x, k=rate: math.sin(k * x),
            1.1,
            lambda x, k=rate: k * m.cos(k * x),
        )
        yield _at(
            "oscillating",
            f"x + sin({rate} x) / {rate}",
            lambda x, k=rate: x + math.sin(k * x) / k,
            0.37,
            lambda x, k=rate: 1 + m.cos(k * x),
        )
    yield _at(
        "oscillating", "np.sin(1e4 x)", lambda x: np.sin(1e4 * x), 2.3, lambda x: 10**4 * m.cos(10**4 * x)
    )
    yield _at("oscillating", "chirp", lambda x: math.sin(x**3), 12.0, lambda x: 3 * x * x * m.cos(x**3))


def _scales() -> Iterator[Function]:
    """Inputs, outputs and features from 1e-20 to 1e20, and x = 0, whose size says nothing."""
    m = mpmath
    for size in (1e-20, 1e-10, 1e-5, 1e5, 1e10, 1e20):
        s = mpf(size)
        yield _at(
            "scales",
            f"sin(x / {size:g})",
            lambda x, s=size: math.sin(x / s),
            size,
            lambda x, s=s: m.cos(x / s) / s,
        )
        yield _at(
            "scales", f"{size:g} exp(x)", lambda x, s=size: s * math.exp(x), 0.5, lambda x, s=s: s * m.exp(x)
        )
        yield _at(
            "scales",
            f"cos(1 + x / {size:g}) at 0",
            lambda x, s=size: math.cos(1 + x / s),
            0.0,
            lambda x, s=s: -m.sin(1) / s,
        )
    yield _at("scales", "exp at 1e-20", math.exp, 1e-20, m.exp)
    yield _at("scales", "log at 1e-20", math.log, 1e-20, lambda x: 1 / x)
    yield _at("scales", "log at 1e20", math.log, 1e20, lambda x: 1 / x)
    yield _at("scales", "tanh(1e20 x) at 0", lambda x: math.tanh(1e20 * x), 0.0, lambda x: mpf(1e20))
    yield _at("scales", "np.exp at 0", np.exp, 0.0, lambda x: mpf(1))
    yield _at("scales", "x^2 at 1e15", lambda x: math.pow(x, 2), 1e15, lambda x: 2 * x)


def _noisy() -> Iterator[Function]:
    """The same smooth functions with noise of 1e-14 to 1e-4 of their size added to every value."""
    m = mpmath
    for exponent in (-14, -12, -10, -8, -6, -5, -4):
        size = 10.0**exponent
        yield _at("noise", f"sin + {size:g}", lambda x, n=size: math.sin(x) + n * noise(x), 1.0, m.cos)
        yield _at("noise", f"exp + {size:g}", lambda x, n=size: math.exp(x) * (1 + n * noise(x)), 1.7, m.exp)
    for size in (1e-10, 1e-6):
        yield _at(
            "noise",
            f"cosh + {size:g} at 0",
            lambda x, n=size: math.cosh(x + 1) + n * noise(x),
            0.0,
            lambda x: m.sinh(1),
        )
        yield _at(
            "noise",
            f"log10 quantised to {size:g}",
            lambda x, n=size: round(math.log10(x) / n) * n,
            3.0,
            lambda x: 1 / (x * m.log(10)),
        )
    yield _at(
        "noise",
        "sin(100 x) + 1e-8",
        lambda x: math.sin(100 * x) + 1e-8 * noise(x),
        1.0,
        lambda x: 100 * m.cos(100 * x),
    )


def _float32() -> Iterator[Function]:
    """Computed in float32: declared by the dtype of the result, given by x, or hidden inside."""
    m = mpmath
    f = np.float32
    yield _at("float32", "sin of a float32", np.sin, f(1.0), m.cos)
    yield _at("float32", "exp of a float32", np.exp, f(0.7), m.exp)
    yield _at("float32", "sqrt of a float32", np.sqrt, f(30.0), lambda x: 1 / (2 * m.sqrt(x)))
    yield _at("float32", "tanh, cast inside", lambda x: np.tanh(f(x)), 0.5, lambda x: m.sech(x) ** 2)
    yield _at("float32", "log, cast inside", lambda x: np.log(f(x)), 10.0, lambda x: 1 / x)
    yield _at("float32", "x^3, cast inside", lambda x: f(x) * f(x) * f(x), 1.25, lambda x: 3 * x * x)
    yield _at("float32", "exp, hidden", lambda x: float(np.exp(f(x))), 1.5, m.exp)
    yield _at("float32", "cos, hidden", lambda x: float(np.cos(f(x))), 2.0, lambda x: -m.sin(x))
    yield _at(
        "float32",
        "sin(100 x), cast inside",
        lambda x: np.sin(f(100) * f(x)),
        0.75,
        lambda x: 100 * m.cos(100 * x),
    )
    yield _at(
        "float32",
        "sigmoid of a float32",
        lambda x: 1 / (1 + np.exp(-x)),
        f(3.0),
        lambda x: m.exp(-x) / (1 + m.exp(-x)) ** 2,
    )
    yield _at(
        "float32",
        "1e20 exp, cast inside",
        lambda x: f(1e20) * np.exp(f(x)),
        0.25,
        lambda x: mpf(float(f(1e20))) * m.exp(x),
    )


def _near_kinks() -> Iterator[Function]:
    """A kink or a jump close to x, but not at x: the slope of this side is the answer."""
    m = mpmath
    for gap in (1e-1, 1e-2, 1e-3, 1e-5, 1e-7):
        yield _at(
            "near kink",
            f"|sin(x - 1)|, {gap:g} away",
            lambda x: abs(math.sin(x - 1)),
            1 + gap,
            lambda x: m.cos(x - 1),
        )
        yield _at("near kink", f"relu of {gap:g}", lambda x: max(float(x), 0.0), gap, lambda x: mpf(1))
    yield _at("near kink", "jump 1e-3 away", lambda x: math.exp(x) + (5.0 if x > 1.001 else 0.0), 1.0, m.exp)
    yield _at(
        "near kink",
        "np.where 1e-4 away",
        lambda x: np.where(x < 2, x * x, 8 - x * x),
        2 - 1e-4,
        lambda x: 2 * x,
    )
    grid = np.linspace(0.0, 3.0, 301)
    table = np.sin(grid)
    slope = float(
        (mpf(float(table[101])) - mpf(float(table[100]))) / (mpf(float(grid[101])) - mpf(float(grid[100])))
    )
    yield Function("table of 301 entries", "near kink", lambda x: np.interp(x, grid, table), 1.004, slope)


def _at_kinks() -> Iterator[Function]:
    """No derivative: the slopes of both sides are what can be said."""
    e = math.e
    rows: tuple[tuple[str, Callable[[Any], Any], float, float, float], ...] = (
        ("|x|", abs, 0.0, -1.0, 1.0),
        ("relu", lambda x: max(float(x), 0.0), 0.0, 0.0, 1.0),
        ("np.maximum", lambda x: np.maximum(x, 0.0), 0.0, 0.0, 1.0),
        ("|x - 1| + exp(x)", lambda x: abs(x - 1) + math.exp(x), 1.0, e - 1, e + 1),
        ("max(x, x^2)", lambda x: max(x, x * x), 1.0, 1.0, 2.0),
        ("|sin(3 x)|", lambda x: abs(math.sin(3 * x)), 0.0, -3.0, 3.0),
        ("faint kink", lambda x: math.exp(x) + 1e-3 * abs(x), 0.0, 1 - 1e-3, 1 + 1e-3),
        (
            "leaky relu, float32",
            lambda x: np.where(x > 0, x, np.float32(0.125) * x),
            np.float32(0.0),
            0.125,
            1.0,
        ),
    )
    for name, call, x, left, right in rows:
        yield Function(name, "at kink", call, x, None, left, right, ("kink",))


def _at_jumps() -> Iterator[Function]:
    """No derivative: the value jumps, or the slope is infinite."""
    jump, infinite = ("jump",), ("infinite slope",)
    yield Function("sign", "at jump", np.sign, 0.0, None, statuses=jump)
    yield Function("heaviside + sin", "at jump", lambda x: math.sin(x) + (x >= 1), 1.0, None, statuses=jump)
    yield Function("floor at 3", "at jump", lambda x: float(math.floor(x)), 3.0, None, statuses=jump)
    yield Function(
        "1/x rescued at 0",
        "at jump",
        lambda x: 1 / x if x else 0.0,
        0.0,
        None,
        statuses=("jump", "infinite slope", "cannot tell"),
    )
    yield Function("cube root at 0", "at jump", math.cbrt, 0.0, None, statuses=infinite)
    yield Function(
        "sqrt(|x|) at 0", "at jump", lambda x: math.sqrt(abs(x)), 0.0, None, statuses=(*infinite, "kink")
    )


def _domain_limits() -> Iterator[Function]:
    """Points at or near the end of the domain, where one side raises or is NaN."""
    m = mpmath
    yield _at("domain limit", "log at 1e-3", math.log, 1e-3, lambda x: 1 / x)
    yield _at("domain limit", "np.log at 1e-8", np.log, 1e-8, lambda x: 1 / x)
    yield _at("domain limit", "arcsin at 1 - 1e-4", math.asin, 1 - 1e-4, lambda x: 1 / m.sqrt(1 - x * x))
    yield _at(
        "domain limit",
        "sqrt(x - 1) at 1.0001",
        lambda x: math.sqrt(x - 1),
        1.0001,
        lambda x: 1 / (2 * m.sqrt(x - 1)),
    )
    yield _at(
        "domain limit",
        "exp(700 x), overflow",
        lambda x: math.exp(700 * x),
        1.0,
        lambda x: 700 * m.exp(700 * x),
    )
    yield Function("sqrt at 0", "domain limit", math.sqrt, 0.0, None, statuses=("infinite slope",))
    yield Function(
        "(1 - x)^2 log(2 - x), one side",
        "domain limit",
        lambda x: math.sqrt(1 - x) ** 4 + 2 * x,
        1.0,
        2.0,
        statuses=("one-sided",),
    )
    yield Function(
        "x from the right", "domain limit", lambda x: math.sqrt(x) ** 2 * 3, 0.0, 3.0, statuses=("one-sided",)
    )


def _not_analytic() -> Iterator[Function]:
    """They accept complex numbers and return the wrong thing: traps for the complex step."""
    m = mpmath
    yield _at("not analytic", "x conj(x)", lambda x: x * np.conj(x), 1.5, lambda x: 2 * x)
    yield _at("not analytic", "np.abs(x)^3", lambda x: np.abs(x) ** 3 + 0 * x, 1.2, lambda x: 3 * x * x)
    yield _at("not analytic", "np.real inside", lambda x: np.sin(np.real(x)) + 0 * x, 0.8, m.cos)
    yield _at(
        "not analytic",
        "half conjugated",
        lambda x: np.exp(x) + np.exp(np.conj(x)),
        0.3,
        lambda x: 2 * m.exp(x),
    )
    yield _at(
        "not analytic",
        "norm",
        lambda x: np.linalg.norm(np.array([x, 2.0])),
        1.5,
        lambda x: x / m.sqrt(x * x + 4),
    )


def _hopeless() -> Iterator[Function]:
    """No number of calls can know the slope: only "cannot tell" is honest."""
    m = mpmath
    unknown = ("cannot tell",)
    for rate in (1e18, 1e20):
        yield Function(
            f"sin({rate:g} x) at 1",
            "hopeless",
            lambda x, k=rate: math.sin(k * x),
            1.0,
            float(rate * m.cos(rate)),
            statuses=unknown,
            hopeless=True,
        )
    yield Function("noise alone", "hopeless", noise, 1.0, None, statuses=unknown, hopeless=True)
    yield Function(
        "x sin(1/x) at 0",
        "hopeless",
        lambda x: x * math.sin(1 / x) if x else 0.0,
        0.0,
        None,
        statuses=unknown,
        hopeless=True,
    )
    yield Function(
        "NaN at x",
        "hopeless",
        lambda x: math.nan if x == 1 else x,
        1.0,
        None,
        statuses=unknown,
        hopeless=True,
    )
