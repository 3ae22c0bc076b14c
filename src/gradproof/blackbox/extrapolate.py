"""Extrapolation of difference quotients to step zero, with an error made of truncation and noise."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gradproof.blackbox.grid import Floats

MAX_ORDER = 6  # a seventh step adds noise faster than it removes truncation
MAX_GAP = 16.0  # across a wider gap nothing shows that the power series still holds
TRUNCATION_SAFETY = 2.0
NOISE_SAFETY = 3.0
# The largest of a few samples understates the noise; the fewer, the more.
FEW_SAMPLES = ((2, 4.0), (4, 2.5), (1000, 1.5))
NOISE_GROWTH = 30.0  # from step to step; the largest of two samples is rarely so much below the next
MISFIT_SAFETY = 2.0
STRAYS = 0.2  # of the parabola's own change
STEADY = 4.0  # units of rounding within which neighbouring small steps count as agreeing


@dataclass(frozen=True)
class Estimate:
    """The limit for step zero seen through the steps low..high of a ladder."""

    value: float
    truncation: float
    noise_error: float
    noise: float  # the noise of single values that the steps below the window bear witness to
    misfit: float  # how far the slopes of steps below the window are from it for which noise is no excuse
    low: int
    high: int

    @property
    def error(self) -> float:
        return self.truncation + self.noise_error + self.misfit


@dataclass(frozen=True)
class Quotients:
    """Difference quotients y, a power series in step**power, and what one unit of noise does to each."""

    steps: Floats
    y: Floats
    amplification: Floats  # error of y for noise 1 in the values
    rounding: Floats  # least noise of the values at each step
    power: int
    flat: NDArray[np.bool_]  # steps that change nothing: witnesses, but no part of a window
    even: Floats | None = None  # (f(x+h) + f(x-h))/2 - f(x): a second witness to the noise


def extrapolated(q: Quotients) -> Estimate | None:
    """The estimate with the smallest error over all windows of neighbouring steps, None without any.

    It is widened until it agrees with its near rivals, because the smallest of many error
    estimates is small partly by luck.
    """
    scale = _power_of_two(float(abs(q.y).max(initial=0.0)))
    found = [e for e in _windows(_scaled(q, 1 / scale)) if np.isfinite(e.error) and np.isfinite(e.value)]
    if not found:
        return None
    winner = min(found, key=lambda e: e.error)
    spread = max(abs(e.value - winner.value) for e in found if e.error <= 3 * winner.error)
    truncation = max(winner.truncation, spread - winner.noise_error)
    return Estimate(
        scale * winner.value,
        scale * truncation,
        scale * winner.noise_error,
        scale * winner.noise,
        scale * winner.misfit,
        winner.low,
        winner.high,
    )


def _power_of_two(size: float) -> float:
    """A scale that brings the slopes near 1, so that neither 1e300 nor 1e-300 leaves the range of floats."""
    return 2.0 ** float(np.clip(np.frexp(size)[1], -900, 900)) if 0 < size < np.inf else 1.0


def _scaled(q: Quotients, factor: float) -> Quotients:
    even = None if q.even is None else q.even * factor
    return replace(q, y=q.y * factor, rounding=q.rounding * factor, even=even)


def _windows(q: Quotients) -> list[Estimate]:
    """One estimate per window. Row i of the tables belongs to the window that starts at step i."""
    n = len(q.steps)
    if n < 2:
        return []
    x = (q.steps / q.steps[-1]) ** q.power
    at = np.concatenate([[0.0], x])  # step zero, and every step where a window's prediction can be compared
    connected = np.concatenate(
        [(q.steps[1:] / q.steps[:-1] <= MAX_GAP) & ~q.flat[:-1] & ~q.flat[1:], [False]]
    )
    weights = np.eye(n)
    table = np.repeat(q.y[:, None], n + 1, axis=1)
    curved = None if q.even is None else np.repeat((q.even / x)[:, None], n + 1, axis=1)
    history = [q.y]
    found: list[Estimate] = []
    allowed = connected
    for order in range(1, min(MAX_ORDER, n - 1) + 1):
        below, above = x[:-order, None], x[order:, None]
        toward, away = (above - at) / (above - below), (at - below) / (above - below)
        table = toward * table[:-1] + away * table[1:]
        weights = toward[:, :1] * weights[:-1] + away[:, :1] * weights[1:]
        if curved is not None:
            curved = toward * curved[:-1] + away * curved[1:]
        history.append(table[:, 0])
        noise, misfit = _witnesses(q, x, table, curved)
        found.extend(_estimates(q, weights, history, (noise, misfit), allowed[: n - order], order))
        allowed = allowed[:-1] & connected[order:]
    return found


def _strays(q: Quotients, order: int) -> NDArray[np.bool_]:
    """Whether at the largest step of a window the slope and curvature of its smallest mean little."""
    low, high = slice(None, -order), slice(order, None)
    linear = abs(q.y[low]) * q.steps[high]
    off = abs(q.y[high] - q.y[low]) * q.steps[high]
    if q.even is not None:
        bent = q.even[low] * (q.steps[high] / q.steps[low]) ** 2
        linear, off = linear + abs(bent), off + abs(q.even[high] - bent)
    return np.asarray(off > STRAYS * linear)


def steady(q: Quotients) -> NDArray[np.bool_]:
    """For each step, whether it and the next smaller one agree to rounding in slope and in curvature."""
    agree = np.zeros(len(q.steps), dtype=bool)
    blur = STEADY * q.rounding[:-1]
    agree[1:] = abs(np.diff(q.y)) <= blur * q.amplification[:-1]
    if q.even is not None:
        ratio = (q.steps[:-1] / q.steps[1:]) ** q.power
        agree[1:] &= abs(q.even[:-1] - q.even[1:] * ratio) <= blur
    return agree


def _witnesses(q: Quotients, x: Floats, table: Floats, curved: Floats | None) -> tuple[Floats, Floats]:
    """What the steps below each window say: the noise of single values, and slopes the window does not fit.

    Steps below the window were not used by it, so they are independent witnesses. Where they miss its
    prediction by an amount that is the same at all of them, that is noise. Noise does not grow with the
    step; a miss that does is a feature of the function the window is blind to, and counts in full.
    """
    n_windows, n = len(table), len(q.steps)
    seen = abs(q.y - table[:, 1:]) / q.amplification
    n_samples = np.arange(n_windows)
    if curved is not None and q.even is not None:
        # The mean of two values against a third: 1.2 times the noise of one.
        seen = np.maximum(seen, abs(q.even - curved[:, 1:] * x) / 1.2)
        n_samples = 2 * n_samples
    below = np.tri(n_windows, n, -1, dtype=bool)
    noise = np.zeros(n_windows)
    misfit = np.zeros(n_windows)
    for k in range(n_windows - 1):
        grown = (
            (seen[:, k] > NOISE_GROWTH * np.maximum(noise, q.rounding[k])) if k else np.zeros(n_windows, bool)
        )
        noise = np.maximum(noise, np.where(below[:, k] & ~grown, seen[:, k], 0.0))
        misfit = np.maximum(misfit, np.where(below[:, k] & grown, seen[:, k] * q.amplification[k], 0.0))
    factors = np.array(
        [next(factor for limit, factor in FEW_SAMPLES if count <= limit) for count in n_samples]
    )
    return factors * noise, MISFIT_SAFETY * misfit


def _estimates(
    q: Quotients,
    weights: Floats,
    history: list[Floats],
    witnesses: tuple[Floats, Floats],
    allowed: NDArray[np.bool_],
    order: int,
) -> list[Estimate]:
    noise, misfit = witnesses
    value, simpler = history[order], history[order - 1][: len(history[order])]
    last = abs(value - simpler)
    # The last correction overstates the error while the series converges; where it shrank by less than
    # tenfold the convergence is not yet trusted.
    before = abs(simpler - history[order - 2][: len(value)]) / 10 if order > 1 else np.zeros_like(last)
    # Where the function has left its own parabola, the error of the window without its smallest step stands.
    outside = np.where(_strays(q, order), abs(value - history[order - 1][1:]), 0.0)
    truncation = TRUNCATION_SAFETY * np.maximum(np.maximum(last, before), outside)
    # The window that starts at the smallest step of all has no witness but that step.
    truncation[:1] = np.maximum(truncation[:1], abs(value[:1] - q.y[:1]))
    at_steps = np.maximum(q.rounding, noise[:, None]) * q.amplification
    noise_error = NOISE_SAFETY * np.sum(abs(weights) * at_steps, axis=1)
    columns = (value.tolist(), truncation.tolist(), noise_error.tolist(), noise.tolist(), misfit.tolist())
    return [
        Estimate(v, t, e, n, m, i, i + order) for i, (v, t, e, n, m) in enumerate(zip(*columns)) if allowed[i]
    ]
