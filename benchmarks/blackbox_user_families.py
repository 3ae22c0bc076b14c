"""Families of functions as users have them: tables, counters, dates, networks in float32, solvers that stop."""

import hashlib
import math
import struct
from typing import Any

import numpy as np
from blackbox_families import Smooth, family, level, smooth_of
from blackbox_functions import Function
from blackbox_troubles import slope_of


def hashed(x: float, salt: float) -> float:
    """A number from 0 to 1 that is always the same for an x, and has nothing to do with that of its neighbours."""
    digest = hashlib.md5(struct.pack("dd", x, salt)).digest()
    return int.from_bytes(digest[:8], "little") / 2**64


@family("user, noise of two values by a hash")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    size, salt = level(rng, f, -8, -3), float(rng.random())
    return f.made(lambda x: f(x) + size * (hashed(x, salt) < 0.5))


@family("user, noise to one side by a hash")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    size, salt = level(rng, f, -9, -3), float(rng.random())
    return f.made(lambda x: f(x) - size * math.log(1 - hashed(x, salt)))


@family("user, counts among the same random points")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    drawn, at = rng.random(int(10.0 ** rng.uniform(3, 5.5))), float(rng.uniform(-1.5, 1.5))
    drawn.sort()
    logistic = lambda x, m: 1 / (1 + m.exp(-x))
    call = lambda x: float(np.searchsorted(drawn, logistic(x, math)) / len(drawn))
    return Function("", "", call, at, slope_of(logistic, at))


@family("user, the mean of a payoff over the same random points")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    grown = np.exp(0.2 * rng.normal(size=int(10.0 ** rng.uniform(2, 4))) - 0.02)
    at = float(rng.uniform(80, 120))
    call = lambda x: float(np.mean(np.maximum(x * grown - 100, 0)))
    return Function("", "", call, at, float(np.mean(grown * (at * grown > 100))))


def _knots(rng: np.random.Generator, f: Smooth, n: int) -> Any:
    return f.x + f.length * (np.linspace(-2, 2, n) + 1e-3 * float(rng.normal()))


@family("user, a table with lines between")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    knots = _knots(rng, f, int(10.0 ** rng.uniform(1.5, 4)))
    values = np.array([f(knot) for knot in knots])
    k = int(np.searchsorted(knots, f.x))
    slope = float((values[k] - values[k - 1]) / (knots[k] - knots[k - 1]))
    return Function("", "", lambda x: float(np.interp(x, knots, values)), f.x, slope)


@family("user, the nearest entry of a table")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    knots = _knots(rng, f, int(10.0 ** rng.uniform(2.5, 4)))
    return f.made(lambda x: f(knots[int(np.argmin(abs(knots - x)))]))


@family("user, a sum of forty amounts in cents")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    amounts = [float(amount) for amount in rng.uniform(1, 100, 40)]
    of = lambda x, m: [amount * (2 + m.sin(x / f.length + k)) for k, amount in enumerate(amounts)]
    total = smooth_of(lambda x, m: sum(of(x, m)), f.x, f.length)
    return total.made(lambda x: sum(round(amount, 2) for amount in of(x, math)))


@family("user, a counter that is clipped")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    many, size = float(10.0 ** rng.uniform(2.5, 6)), f.size
    counted = smooth_of(lambda x, m: many * f.shape(x, m) / size, f.x, f.length)
    least, most = (math.floor(counted(f.x) + share * many) for share in (-1 / 2, 1 / 3))
    return counted.seen(lambda y: float(min(max(math.floor(y), least), most)))


@family("user, seconds since 1970")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    at, length = 1.6e9 + float(rng.uniform(0, 1e8)), float(10.0 ** rng.uniform(0, 7))
    wave = smooth_of(lambda x, m: m.sin((x - at) / length + 1) + m.exp((x - at) / length / 5), at, length)
    return wave.made(wave)


@family("user, days of the Julian calendar, printed")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    at, length = 2.46e6 + float(rng.uniform(0, 1e3)), float(10.0 ** rng.uniform(-1, 3))
    wave = smooth_of(lambda x, m: m.sin((x - at) / length + 1), at, length)
    return wave.made(lambda x: round(wave(x), 5))


@family("user, a loss of a network in float32")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    matrix, bias = (rng.normal(size=shape).astype(np.float32) / 3 for shape in ((8, 8), 8))

    def call(x: float) -> float:
        hidden = bias * np.float32(x / f.length)
        for _ in range(3):
            hidden = np.tanh(matrix @ hidden + bias)
        return float(hidden.sum())

    hidden, change = bias * np.float64(f.x / f.length), bias.astype(np.float64) / f.length
    for _ in range(3):
        hidden = np.tanh(matrix.astype(np.float64) @ hidden + bias)
        change = (1 - hidden**2) * (matrix.astype(np.float64) @ change)
    return Function("", "", call, f.x, float(change.sum()))


@family("user, an eigenvalue in float32")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    first, second = ((a + a.T).astype(np.float32) for a in rng.normal(size=(2, 6, 6)))
    at = float(rng.uniform(-2, 2))
    vector = np.linalg.eigh(first + at * second.astype(np.float64))[1][:, -1]
    call = lambda x: float(np.linalg.eigvalsh(first + np.float32(x) * second)[-1])
    return Function("", "", call, at, float(vector @ second.astype(np.float64) @ vector))


# Solvers that stop at a tolerance: between two counts of turns they are smooth, and have the slope of that many turns.


def _stopped(step: Any, start: float, at: float, tolerance: float) -> Function:
    def turns(x: Any, m: Any, count: int | None = None) -> tuple[Any, int]:
        value, done = start + 0 * x, 0
        while done < (count or 1000):
            before, value, done = value, step(value, x, m), done + 1
            if count is None and abs(value - before) <= tolerance:
                break
        return value, done

    count = turns(at, math)[1]
    slope = slope_of(lambda x, m: turns(x, m, count)[0], at)
    return Function("", "", lambda x: turns(x, math)[0], at, slope)


@family("user, Newton's method with a tolerance")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    at, tolerance = float(rng.uniform(0.5, 20)), float(10.0 ** rng.uniform(-6, -2))
    return _stopped(lambda y, x, m: (y + x / y) / 2, 1.0, at, tolerance)


@family("user, a fixed point with a tolerance")
def _(rng: np.random.Generator, f: Smooth) -> Function:
    at, tolerance = float(rng.uniform(-2, 2)), float(10.0 ** rng.uniform(-9, -4))
    return _stopped(lambda y, x, m: m.cos(y * 0.7 + x), 0.0, at, tolerance)
