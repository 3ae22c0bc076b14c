"""More families: values on a grid, noise, loose solvers, kinks, jumps, and what nobody can tell."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from blackbox_families import Smooth, decimals, family, level, smooth_of
from blackbox_functions import Function, noise
from blackbox_troubles import slope_of

# Values on a grid.


@family("grid, nearest")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    spacing = level(rng, f, -7, -2)
    return f.seen(lambda y: round(y / spacing) * spacing)


@family("grid, from below")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    spacing = level(rng, f, -7, -2)
    return f.seen(lambda y: math.floor(y / spacing) * spacing)


@family("grid, powers of two, towards zero")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    spacing = 2.0 ** round(math.log2(level(rng, f, -7, -2)))
    return f.seen(lambda y: math.trunc(y / spacing) * spacing)


@family("grid, then scaled and shifted")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    spacing, factor, shift = level(rng, f, -6, -2), float(rng.uniform(1, 3)), float(rng.normal()) * f.size
    scaled = replace(f, shape=lambda x, m: factor * f.shape(x, m) + shift)
    return scaled.made(lambda x: factor * (round(f(x) / spacing) * spacing) + shift)


@family("grid, a sum of rounded terms")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    places = decimals(rng, f, -6, -3)
    summed = smooth_of(lambda x, m: f.shape(x, m) + f.size * m.sin(x / f.length), f.x, f.length)
    return summed.made(lambda x: round(f(x), places) + round(f.size * math.sin(x / f.length), places))


@family("grid of the input")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    spacing = f.length * float(10.0 ** rng.uniform(-7, -2.5))
    return f.made(lambda x: f(round(x / spacing) * spacing))


@family("grid, rounded at random")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    spacing = level(rng, f, -7, -2.5)
    return f.made(lambda x: math.floor(f(x) / spacing + (noise(x) + 1) / 2) * spacing)


# Noise.


def _with_noise(f: Smooth, size: float) -> Function:
    return f.made(lambda x: f(x) + size * noise(x))


@family("noise of 1e-10")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    return _with_noise(f, 1e-10 * f.size)


@family("noise of 1e-6")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    return _with_noise(f, 1e-6 * f.size)


@family("noise of 1e-3")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    return _with_noise(f, 1e-3 * f.size)


@family("noise of 1e-14 to 1e-2")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    return _with_noise(f, level(rng, f, -14, -2))


@family("noise, bell-shaped, other at every call")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    size, inner = level(rng, f), np.random.default_rng(int(rng.integers(2**32)))
    return f.made(lambda x: f(x) + size * inner.normal())


@family("noise, heavy tails")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    size, inner = level(rng, f, -9, -3), np.random.default_rng(int(rng.integers(2**32)))
    return f.made(lambda x: f(x) + size * inner.standard_t(4))


@family("noise, a share of the value")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    share = float(10.0 ** rng.uniform(-12, -4))
    return f.made(lambda x: f(x) * (1 + share * noise(x)))


@family("noise, at zero")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    moved, size = smooth_of(lambda x, m: f.shape(x + f.x, m), 0.0, f.length), level(rng, f)
    return _with_noise(moved, size)


@family("noise, far from zero")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    away = float(f.length * 10.0 ** rng.uniform(1, 5))
    moved = smooth_of(lambda x, m: f.shape(x - away, m), f.x + away, f.length)
    return _with_noise(moved, level(rng, f))


@family("noise, at a length far above x")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    near = f.length * float(10.0 ** rng.uniform(-5, -1))
    moved = smooth_of(lambda x, m: f.shape(x - near + f.x, m), near, f.length)
    return _with_noise(moved, level(rng, f))


@family("noise, a line and a wave")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    mixed = smooth_of(lambda x, m: m.sin(x) + x * x, float(rng.uniform(-4, 4)), 1.0)
    return _with_noise(mixed, level(rng, mixed, -8, -3))


@family("noise, on an oscillation")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    rate = float(10.0 ** rng.uniform(0.5, 3)) / (abs(f.x) or 1.0)
    fast = smooth_of(lambda x, m: m.sin(rate * x), f.x, 1 / rate)
    return _with_noise(fast, level(rng, fast, -9, -3))


# Solvers that stop early.


@family("solver, bisection with a loose tolerance")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    tolerance, rate = float(10.0 ** rng.uniform(-8, -3)), 1 / f.length
    shape = lambda x, m: m.asinh(m.exp(m.sin(x * rate)))

    def call(x: float) -> float:
        low, high, wanted = 0.0, 2.0, math.exp(math.sin(x * rate))
        while high - low > tolerance:
            middle = (low + high) / 2
            low, high = (middle, high) if math.sinh(middle) < wanted else (low, middle)
        return (low + high) / 2

    return Function("", "", call, f.x, _slope_by_chain(shape, f.x, f.length))


def _slope_by_chain(shape: Any, x: float, length: float) -> float:
    return slope_of(shape, x, length)


@family("solver, integral by random points")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    inner, n_points, rate = np.random.default_rng(int(rng.integers(2**32))), 200, 1 / f.length
    shape = lambda x, m: (m.exp(x * rate / 8) - 1) / (x * rate / 8)
    call = lambda x: float(np.mean(np.exp(x * rate / 8 * inner.random(n_points))))
    return Function("", "", call, f.x, slope_of(shape, f.x, f.length))


@family("solver, integral by the same random points")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    nodes, rate = [float(v) for v in rng.random(20)], 1 / f.length

    def mean(x: Any, m: Any) -> Any:
        return sum(m.sin(x * rate * node + node) for node in nodes) / 20

    summed = smooth_of(mean, f.x, f.length)
    return summed.made(summed)


# Structure.


def _ramp(rng: np.random.Generator, f: Smooth) -> Smooth:
    slope = float(rng.normal()) * f.size / f.length
    return smooth_of(lambda x, m: slope * x, f.x, abs(f.x))


def _bent(ramp: Smooth, f: Smooth, x: float) -> float:
    """A line up to a corner that lies up to ten thousand times as far from the point as zero does."""
    away = abs(f.x) * 10.0 ** (4 * abs(math.sin(1e3 * f.x / f.length)))
    return ramp(x) - 2 * ramp(max(x - f.x - away, 0.0))


@family("kink near by")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    gap = f.length * float(10.0 ** rng.uniform(-5, 0) * rng.choice([-1, 1]))
    corner, weight = f.x + gap, f.size / f.length * float(rng.choice([1.0, 0.1]))
    side = replace(f, shape=lambda x, m: f.shape(x, m) + weight * (x - corner) * (-1 if gap > 0 else 1))
    return side.made(lambda x: f(x) + weight * abs(x - corner))


@family("kink near by, with noise")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    gap = f.length * float(10.0 ** rng.uniform(-2, 0) * rng.choice([-1, 1]))
    corner, weight, size = f.x + gap, f.size / f.length, level(rng, f, -9, -5)
    side = replace(f, shape=lambda x, m: f.shape(x, m) + weight * (x - corner) * (-1 if gap > 0 else 1))
    return side.made(lambda x: f(x) + weight * abs(x - corner) + size * noise(x))


@family("kink far away, a line with noise")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    ramp = _ramp(rng, f)
    size = level(rng, ramp, -6, -1)
    return ramp.made(lambda x: _bent(ramp, f, x) + size * noise(x))


@family("kink far away, a line on a grid")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    ramp = _ramp(rng, f)
    spacing = level(rng, ramp, -6, -1)
    return ramp.made(lambda x: round(_bent(ramp, f, x) / spacing) * spacing)


@family("flat side of a ramp, rounded")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    corner, places = f.x + f.length * float(10.0 ** rng.uniform(-1.5, 0.5)), int(rng.integers(2, 7))
    call = lambda x: round(max(x - corner, 0.0) / f.length + 0.4321, places)
    return Function("", "", call, f.x, 0.0)


@family("saturated, printed")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    digits, reach = int(rng.integers(3, 7)), float(rng.uniform(1.5, 5))
    tail = smooth_of(lambda x, m: f.size * m.tanh((x - f.x) / f.length + reach), f.x, f.length)
    return tail.seen(lambda y: float(f"{y:.{digits}g}"))


@family("kink at the point")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    weight, slope = f.size / f.length * float(rng.choice([1.0, 0.1])), f.slope
    call = lambda x: f(x) + weight * abs(x - f.x)
    return Function("", "", call, f.x, None, slope - weight, slope + weight, ("kink",))


@family("jump at the point")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    height = f.size * float(10.0 ** rng.uniform(-3, 0))
    return Function("", "", lambda x: f(x) + height * (x > f.x), f.x, None, statuses=("jump",))


@family("ripple")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    rate, height = float(10.0 ** rng.uniform(0.5, 4)) / f.length, f.size * float(10.0 ** rng.uniform(-6, -1))
    rippled = smooth_of(lambda x, m: f.shape(x, m) + height * m.sin(rate * x), f.x, 1 / rate)
    return rippled.made(rippled)


@family("ripple with noise")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    rate, height = float(10.0 ** rng.uniform(0.5, 1.5)) / f.length, f.size * float(10.0 ** rng.uniform(-2, 0))
    rippled = smooth_of(lambda x, m: f.shape(x, m) + height * m.sin(rate * x), f.x, 1 / rate)
    return _with_noise(rippled, height * float(10.0 ** rng.uniform(-8, -4)))


# What nobody can tell.


def _hopeless(function: Function) -> Function:
    return replace(function, statuses=("cannot tell",), hopeless=True)


@family("hopeless, a staircase of few steps")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    spacing = f.size * float(rng.uniform(0.3, 0.8))
    return _hopeless(f.seen(lambda y: round(y / spacing) * spacing))


@family("hopeless, noise above the function")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    inner, size = np.random.default_rng(int(rng.integers(2**32))), 3 * f.size
    bounded = smooth_of(lambda x, m: f.size * m.sin(x / f.length), f.x, f.length)
    return _hopeless(bounded.made(lambda x: bounded(x) + size * inner.normal()))
