"""Families of functions with random shapes, scales and points, and the true slope of the smooth function beneath."""

import decimal
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from blackbox_functions import Function
from blackbox_troubles import Float32Math, Shape, shapes, slope_of

Family = Callable[[np.random.Generator, "Smooth"], Function]

FAMILIES: dict[str, Family] = {}
LIMIT = 1e100  # of values: beyond, a family would measure overflow and nothing else


@dataclass(frozen=True)
class Smooth:
    """A smooth function at a point, the length on which it changes, and by how much it then does."""

    shape: Shape
    x: float
    length: float
    size: float

    def __call__(self, x: Any) -> float:
        return float(self.shape(float(x), math))

    @property
    def slope(self) -> float:
        return slope_of(self.shape, self.x, self.length)

    def made(self, call: Callable[[Any], Any], x: Any = None, **more: Any) -> Function:
        """A function to be asked, whose truth is the slope of this one."""
        return Function("", "", call, self.x if x is None else x, self.slope, **more)

    def seen(self, change: Callable[[float], float]) -> Function:
        """This function, with every value changed."""
        return self.made(lambda x: change(self(x)))


def family(name: str) -> Callable[[Family], Family]:
    def keep(make: Family) -> Family:
        FAMILIES[name] = make
        return make

    return keep


def points(seed: int, per_family: int) -> Iterator[Function]:
    """So many functions of every family, each with a shape, a scale and a point of its own."""
    for number, (name, make) in enumerate(FAMILIES.items()):
        rng = np.random.default_rng([seed, number])
        found = 0
        while found < per_family:
            function = _drawn(rng, make)
            if function is not None:
                yield replace(function, name=f"{name} {found}", family=name)
                found += 1


def _drawn(rng: np.random.Generator, make: Family) -> Function | None:
    smooth = _smooth(rng)
    try:
        function = make(rng, smooth)
        fine = smooth.size < LIMIT and np.isfinite(np.real(function.call(function.x)))
    except (OverflowError, ZeroDivisionError, ValueError):
        return None
    return function if fine else None


def _smooth(rng: np.random.Generator) -> Smooth:
    """Lengths from 1e-4 to 1e4, values from 1e-4 to 1e4; one point in four lies where it was not scaled at all."""
    a, b, c = (float(v) for v in np.exp(rng.normal(0, 0.7, 3)))
    base = shapes(a, b, c)[int(rng.integers(12))]
    x = float(rng.choice([rng.normal(), 3 * rng.normal(), rng.uniform(0.5, 4)]))
    inner, outer = (1.0, 1.0) if rng.random() < 0.25 else (float(v) for v in 10.0 ** rng.uniform(-4, 4, 2))
    return smooth_of(lambda x, m: outer * base(x / inner, m), x * inner, inner)


def smooth_of(shape: Shape, x: float, length: float) -> Smooth:
    try:
        around = [float(shape(x + length * t, math)) for t in (-0.5, -0.25, 0.0, 0.25, 0.5)]
    except (OverflowError, ValueError, ZeroDivisionError):
        return Smooth(shape, x, length, math.inf)
    return Smooth(shape, x, length, float(np.ptp(around)) or math.inf)


def level(rng: np.random.Generator, smooth: Smooth, least: float = -9, most: float = -2) -> float:
    """A size for rounding or noise, as a power of ten of how much the function changes."""
    return float(10.0 ** rng.uniform(least, most)) * smooth.size


# Smooth functions.


@family("smooth, plain")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    return f.made(f)


@family("smooth, complex numbers")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    rate, shift = 1 / f.length, float(rng.normal())
    shape = lambda x, m: m.exp(m.sin(x * rate + shift)) + m.cos(2 * x * rate)
    return replace(smooth_of(shape, f.x, f.length), size=1.0).made(lambda x: shape(x, np))


@family("smooth, lengths of 1e-20 to 1e20")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    inner, outer = (float(v) for v in 10.0 ** rng.uniform(-20, 20, 2))
    scaled = smooth_of(lambda x, m: outer * f.shape(x / inner, m), f.x * inner, f.length * inner)
    return scaled.made(scaled)


@family("smooth, at zero")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    moved = smooth_of(lambda x, m: f.shape(x + f.x, m), 0.0, f.length)
    return moved.made(moved)


@family("smooth, far from zero")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    away = float(f.length * 10.0 ** rng.uniform(1, 6))
    moved = smooth_of(lambda x, m: f.shape(x - away, m), f.x + away, f.length)
    return moved.made(moved)


@family("smooth, on a large constant")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    high = float(f.size * 10.0 ** rng.uniform(2, 9))
    return f.seen(lambda y: y + high)


@family("smooth, near an extremum")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    off = float(10.0 ** rng.uniform(-6, -1))
    shape = lambda x, m: m.cos((x - f.x) / f.length + off) * 3 + 1
    near = smooth_of(shape, f.x, f.length)
    return near.made(near)


@family("smooth, oscillating")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    rate = float(10.0 ** rng.uniform(0.5, 4)) / (abs(f.x) or 1.0)
    fast = smooth_of(lambda x, m: m.sin(rate * x) + m.cos(rate * x / 7), f.x, 1 / rate)
    return fast.made(fast)


@family("smooth, steep layer near by")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    width, gap = f.length * float(10.0 ** rng.uniform(-5, -1)), float(rng.normal())
    steep = smooth_of(lambda x, m: m.tanh((x - f.x) / width + gap), f.x, width)
    return steep.made(steep)


@family("smooth, pole near by")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    gap = f.length * float(10.0 ** rng.uniform(-4, 0))
    near = smooth_of(lambda x, m: 1 / (x - (f.x - gap)), f.x, gap)
    return near.made(near)


@family("smooth, end of the domain near by")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    end = f.x - f.length * float(10.0 ** rng.uniform(-4, 0))
    near = smooth_of(lambda x, m: m.sqrt(x - end) + m.log(x - end), f.x, (f.x - end) / 2)
    return near.made(near)


@family("smooth, by iteration to the last digit")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    rate = 1 / f.length

    def kepler(x: Any, m: Any) -> Any:
        angle = x * rate
        for _ in range(40):
            angle = x * rate + m.sin(angle) / 2
        return m.sin(angle) * 2

    solved = smooth_of(kepler, f.x, f.length)
    return solved.made(solved)


@family("smooth, a long sum")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    weights = [float(w) for w in rng.normal(size=60)]

    def total(x: Any, m: Any) -> Any:
        result = 0 * x
        for k, weight in enumerate(weights):
            result += weight * m.cos(x / f.length * (1 + k / 60) + k)
        return result

    summed = smooth_of(total, f.x, f.length)
    return summed.made(summed)


# Fewer digits than a float64 has.


@family("float32, declared")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    return f.made(lambda x: np.float32(f.shape(np.float32(x), Float32Math)))


@family("float32, given by x")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    short = np.float32(f.x)
    return replace(f, x=float(short)).made(lambda x: np.float32(f.shape(x, Float32Math)), short)


@family("float32, hidden")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    return f.made(lambda x: float(np.float32(f.shape(np.float32(x), Float32Math))))


@family("float32, a result in float64 of insides in float32")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    factor = float(rng.uniform(0.5, 2))
    inside = replace(f, shape=lambda x, m: factor * f.shape(x, m))
    return inside.made(lambda x: factor * float(np.float32(f.shape(np.float32(x), Float32Math))))


@family("float16 values")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    unit = f.size
    scaled = replace(f, shape=lambda x, m: f.shape(x, m) / unit)
    return scaled.seen(lambda y: float(np.float16(y)))


@family("complex64 insides")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    rate = 1 / f.length
    shape = lambda x, m: m.exp(m.sin(x * rate)) + m.cos(2 * x * rate)

    def call(x: Any) -> Any:
        if not np.iscomplexobj(x):
            return float(np.real(shape(np.complex64(x), np)))
        return complex(shape(np.complex64(x), np))

    return smooth_of(shape, f.x, f.length).made(call)


@family("complex64 only for complex numbers")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    rate, factor = 1 / f.length, float(rng.uniform(1, 2))
    shape = lambda x, m: factor * m.sin(x * rate)
    call = lambda x: (
        factor * complex(np.sin(np.complex64(x * rate))) if np.iscomplexobj(x) else shape(float(x), math)
    )
    return smooth_of(shape, f.x, f.length).made(call)


def decimals(rng: np.random.Generator, smooth: Smooth, least: float = -7, most: float = -2) -> int:
    """A number of decimals that leaves between two and seven digits of the change."""
    return math.ceil(-math.log10(level(rng, smooth, least, most)))


@family("rounded to decimals")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    places = decimals(rng, f)
    return f.seen(lambda y: round(y, places))


@family("rounded to decimals, a line and a wave")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    places, x = int(rng.integers(2, 8)), float(rng.uniform(-4, 4))
    mixed = smooth_of(lambda x, m: m.sin(x) + x * x, x, 1.0)
    return mixed.seen(lambda y: round(y, places))


@family("printed, %.4g to %.8g")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    digits = int(rng.integers(4, 9))
    return f.seen(lambda y: float(f"{y:.{digits}g}"))


@family("printed, %.3g")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    return f.seen(lambda y: float(f"{y:.3g}"))


@family("decimal arithmetic")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    context = decimal.Context(prec=int(rng.integers(5, 12)))
    return f.seen(lambda y: float(context.create_decimal(y)))
