"""Random functions with known slopes: twelve shapes, in eight kinds of trouble."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import mpmath
import numpy as np
from blackbox_functions import Function, noise
from mpmath import mpf

# A shape is written once for floats, for float32 and for 60 digits: m is math, its float32 twin, or mpmath.
Shape = Callable[[Any, Any], Any]

KINDS = {
    "plain": 0.25,
    "noise": 0.2,
    "float32": 0.15,
    "scale": 0.15,
    "near kink": 0.1,
    "at kink": 0.05,
    "at jump": 0.05,
    "ripple": 0.05,
}


class Float32Math:
    """The functions of `math` that the shapes use, rounded to float32."""


def _rounded(ufunc: Any) -> Callable[[Any], np.float32]:
    return lambda x: np.float32(ufunc(np.float32(x)))


for _name, _ufunc in {
    "sin": np.sin,
    "cos": np.cos,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sqrt": np.sqrt,
    "atan": np.arctan,
    "cosh": np.cosh,
}.items():
    setattr(Float32Math, _name, staticmethod(_rounded(_ufunc)))


def shapes(a: float, b: float, c: float) -> tuple[Shape, ...]:
    return (
        lambda x, m: a * m.sin(b * x + c),
        lambda x, m: a * m.exp(b * x) + c,
        lambda x, m: a * m.log(b * x * x + c),
        lambda x, m: a * m.tanh(b * (x - c)),
        lambda x, m: a / (b * x * x + c),
        lambda x, m: x * x * x * a - b * x * x + c,
        lambda x, m: m.sqrt(x * x * a + b) * m.cos(c * x),
        lambda x, m: m.exp(-a * (x - b) ** 2) * m.sin(c * x),
        lambda x, m: m.atan(a * x) * m.exp(-b * x) + c * x,
        lambda x, m: m.log(1 + m.exp(a * x)) - b * m.sin(x) / (1 + c * x * x),
        lambda x, m: m.sin(m.exp(a * x)),
        lambda x, m: a * m.cosh(b * x) - c,
    )


def random_functions(seed: int, n: int) -> tuple[Function, ...]:
    """The first n functions of this seed that are finite, and not beyond all measure, at their point."""
    rng = np.random.default_rng(seed)
    found: list[Function] = []
    while len(found) < n:
        function = _random_function(rng, len(found))
        if function is not None:
            found.append(function)
    return tuple(found)


def _random_function(rng: np.random.Generator, number: int) -> Function | None:
    a, b, c = (float(v) for v in np.exp(rng.normal(0, 1.2, 3)))
    which = int(rng.integers(12))
    shape = shapes(a, b, c)[which]
    points = (rng.normal(), 3 * rng.normal(), 10.0 ** rng.uniform(-8, 1) * rng.choice([-1, 1]), 0.0)
    x = float(points[int(rng.integers(4))])
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    try:
        size = abs(shape(x, math))
        function = _MAKERS[kind](rng, shape, x, size)
        if not (np.isfinite(function.call(function.x)) and size < 1e6):
            return None
    except OverflowError:
        return None
    name = f"{number}: shape {which} ({a:.3g}, {b:.3g}, {c:.3g}) at {x:.3g}"
    return replace(function, name=name, family=kind)


def slope_of(shape: Shape, x: float, scale: float = 1.0) -> float:
    """The true slope: a central difference with 60 digits and a step of 1e-20 has 38 of them."""
    with mpmath.workdps(60):
        h = mpf(10) ** -20 * scale
        point = mpf(x)
        return float((shape(point + h, mpmath) - shape(point - h, mpmath)) / (2 * h))


def _plain(rng: np.random.Generator, shape: Shape, x: float, size: float) -> Function:
    return Function("", "", lambda x: shape(x, math), x, slope_of(shape, x))


def _noisy(rng: np.random.Generator, shape: Shape, x: float, size: float) -> Function:
    level = 10.0 ** rng.uniform(-15, -4) * (size + 1e-3)
    return Function("", "", lambda x: shape(x, math) + level * noise(x), x, slope_of(shape, x))


def _float32(rng: np.random.Generator, shape: Shape, x: float, size: float) -> Function:
    way = int(rng.integers(3))
    if way == 0:  # declared by the dtype of the result
        return Function("", "", lambda x: shape(np.float32(x), Float32Math), x, slope_of(shape, x))
    if way == 1:  # hidden
        call = lambda x: float(np.float32(shape(np.float32(x), Float32Math)))
        return Function("", "", call, x, slope_of(shape, x))
    short = np.float32(x)  # given by x
    return Function("", "", lambda x: shape(x, Float32Math), short, slope_of(shape, float(short)))


def _scaled(rng: np.random.Generator, shape: Shape, x: float, size: float) -> Function:
    inner, outer = 10.0 ** rng.uniform(-20, 20), 10.0 ** rng.uniform(-20, 20)
    scaled = lambda x, m: outer * shape(x / inner, m)
    return Function("", "", lambda x: scaled(x, math), x * inner, slope_of(scaled, x * inner, inner))


def _near_kink(rng: np.random.Generator, shape: Shape, x: float, size: float) -> Function:
    gap = float(10.0 ** rng.uniform(-8, 0) * rng.choice([-1, 1]))
    corner, weight = x + gap, float(rng.choice([1.0, 1e-2]))
    side = lambda x, m: shape(x, m) + weight * (x - corner) * (-1 if gap > 0 else 1)
    return Function("", "", lambda x: shape(x, math) + weight * abs(x - corner), x, slope_of(side, x))


def _at_kink(rng: np.random.Generator, shape: Shape, x: float, size: float) -> Function:
    weight, slope = float(rng.choice([1.0, 1e-1, 1e-2])), slope_of(shape, x)
    call = lambda z: shape(z, math) + weight * abs(z - x)
    return Function("", "", call, x, None, slope - weight, slope + weight, ("kink",))


def _at_jump(rng: np.random.Generator, shape: Shape, x: float, size: float) -> Function:
    height = 0.5 * max(size, 1.0)
    call = lambda z: shape(z, math) + (height if z > x else 0.0)
    return Function("", "", call, x, None, statuses=("jump",))


def _rippled(rng: np.random.Generator, shape: Shape, x: float, size: float) -> Function:
    rate, height = float(10.0 ** rng.uniform(0, 4)), float(10.0 ** rng.uniform(-6, 0))
    rippled = lambda x, m: shape(x, m) + height * m.sin(rate * x)
    return Function("", "", lambda x: rippled(x, math), x, slope_of(rippled, x))


_MAKERS: dict[str, Callable[[np.random.Generator, Shape, float, float], Function]] = {
    "plain": _plain,
    "noise": _noisy,
    "float32": _float32,
    "scale": _scaled,
    "near kink": _near_kink,
    "at kink": _at_kink,
    "at jump": _at_jump,
    "ripple": _rippled,
}
