"""The slope of a smooth function beneath noise: polynomials through many values, by least squares.

A window is the point and all values within some distance of it. Through each, polynomials of rising
degree are fitted. Their slopes at the point have an error made of noise, told by what the polynomial leaves
over, and of bias, told by what the next higher degrees would change. A window is refused where its rest is
larger than the noise that small steps show, and where its slope contradicts that of a smaller window.

Noise may be independent from value to value, or wander: counts of samples (a Monte Carlo estimate with fixed random
numbers) differ the more, the farther apart they are asked. Then not the values, but what they change by over the
root of the way is alike everywhere, and the polynomials go through these changes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gradproof.blackbox.grid import Floats

MAX_DEGREE = 9
NEAREST = 2.0**-4  # of a window's width: closer to the point equal values are one value
MIN_POINTS = 5
GRID_NOISE = 0.3  # of the spacing: the deviation of values that were rounded to a grid
LEFT_OVER = 3.0  # times the noise of small steps: a rest so large is structure
LEAST_NOISE = 0.5  # of the largest deviation among small steps
BIAS_SAFETY = 2.0
STRAY = 4.0  # times the noise: close to the point a single value so far off is no noise
SAME = 1e-3  # of a distance, or of a window: steps so close are one
RIVALS = 2.0  # times the smallest bar: estimates that should agree with the best
# Of a bar in deviations, by degrees of freedom: Student's distribution at 0.5 %.
CONFIDENCE = {1: 63.7, 2: 9.9, 3: 5.8, 4: 4.6, 5: 4.0, 6: 3.7, 8: 3.4, 12: 3.1}
LEAST_CONFIDENCE = 3.0
ROUNDED = 0.75  # of the spacing of a grid: what is left over beyond it is no rounding
SHOWN = 10.0  # by which the logarithm of its likelihood has to exceed: only then noise is independent


@dataclass(frozen=True)
class Fit:
    """The slope at the point by one polynomial over one window."""

    slope: float
    spread: float  # its standard deviation from noise
    noise_error: float
    bias: float
    width: float
    degree: int
    noise: float  # of single values, as the fit leaves it over
    scale: float  # the steepest way from the point to a value near the end of the window

    @property
    def error(self) -> float:
        return self.noise_error + self.bias


@dataclass(frozen=True)
class Samples:
    """Values at steps to both sides of the point, sorted by distance; the least noise each may have."""

    steps: Floats
    values: Floats
    rounding: Floats

    def within(self, width: float) -> "Samples":
        """All values of a window but those on the tread of a staircase on which the point itself stands."""
        size = abs(self.steps)
        tread = (self.values == self.values[0]) & (size < NEAREST * width)
        tread[0] = False
        kept = (size <= width) & ~tread
        return Samples(self.steps[kept], self.values[kept], self.rounding[kept])

    def along(self, width: float) -> "Samples":
        """The same from left to right, with one for all that are no distance apart on this width."""
        order = np.argsort(self.steps)
        order = order[np.diff(self.steps[order], prepend=-np.inf) > SAME * width]
        return Samples(self.steps[order], self.values[order], self.rounding[order])


@dataclass(frozen=True)
class Equations:
    """What the polynomials over a window should meet, each with noise of one size and independent of the others."""

    powers: Floats  # one column for each coefficient
    values: Floats
    slope: int  # the column of the first power
    noise: float
    floor: float  # the least noise that is possible
    near: NDArray[np.bool_]  # those close to the point, and how far they may stray
    strays: Floats


def fits(samples: Samples, noise: float) -> list[Fit]:
    """All polynomials that are not refused, beneath noise that is independent, or else wanders."""
    found = _of_windows(samples, lambda inside, width: _of_values(inside, width, noise))
    winner = best(found)
    speed = 0.0 if winner is None else wandering(samples.within(winner.width), winner)
    if not speed:
        return found
    return _of_windows(samples, lambda inside, width: _of_changes(inside, width, speed)) or found


def _of_windows(samples: Samples, equations: Callable[[Samples, float], Equations]) -> list[Fit]:
    """From the smallest window to the largest one that is none."""
    found: list[Fit] = []
    for width in widths_of(samples):
        inside = samples.within(width)
        if len(inside.steps) >= MIN_POINTS:
            wanted = equations(inside, width)
            found += [fit for fit in _of_window(inside, width, wanted) if agrees(fit, found)]
    return found


def widths_of(samples: Samples) -> list[float]:
    """Every distance at which there are values; the two sides may differ in the last digits."""
    sizes = np.unique(abs(samples.steps))[1:]
    last = np.append(sizes[1:] > (1 + SAME) * sizes[:-1], True)
    return [float(size) for size in sizes[last]]


def best(found: list[Fit]) -> Fit | None:
    """The fit with the smallest bar, widened until it reaches what its near rivals say."""
    if not found:
        return None
    winner = min(found, key=lambda fit: fit.error)
    apart = max(abs(fit.slope - winner.slope) for fit in found if fit.error <= RIVALS * winner.error)
    bias = max(winner.bias, apart - winner.noise_error)
    return replace(winner, bias=bias)


def agrees(fit: Fit, smaller: list[Fit]) -> bool:
    return all(abs(fit.slope - other.slope) <= fit.error + other.error for other in smaller)


def wandering(inside: Samples, fit: Fit) -> float:
    """How much values change by noise over a step of one, where it is not shown to be alike at all steps; else 0."""
    inside = inside.along(fit.width)
    floor = _floor(inside)
    if not fit.noise > ROUNDED * floor / GRID_NOISE:
        return 0.0
    t = inside.steps / fit.width
    powers = np.vander(t, fit.degree + 1)
    rest = inside.values - powers @ np.linalg.lstsq(powers, inside.values, rcond=None)[0]
    # In units of the noise, since squares of what is very small are zero.
    changes, gaps = (np.diff(rest) / fit.noise) ** 2 + 2 * (floor / fit.noise) ** 2, np.diff(t)
    alike, growing = np.mean(changes), np.mean(changes / gaps)
    shown = (len(gaps) * np.log(growing / alike) + np.sum(np.log(gaps))) / 2
    return 0.0 if shown > SHOWN else fit.noise * float(np.sqrt(growing / fit.width))


def _of_values(inside: Samples, width: float, noise: float) -> Equations:
    """Independent noise: every value is one of the polynomial."""
    t = inside.steps / width
    near = abs(t) < NEAREST
    values = inside.values - inside.values[int(np.argmin(abs(t)))]
    powers = np.vander(t, _highest_degree(t) + 1, increasing=True)
    strays = STRAY * np.maximum(noise, inside.rounding[near])
    return Equations(powers, values, 1, noise, _floor(inside), near, strays)


def _of_changes(inside: Samples, width: float, speed: float) -> Equations:
    """Noise that wanders: every change is one of the polynomial, with a noise that grows with the root of its gap."""
    inside = inside.along(width)
    t = inside.steps / width
    noise = speed * float(np.sqrt(width))
    deviation = np.sqrt(np.diff(t) + 2 * (_floor(inside) / noise) ** 2)
    powers = np.diff(np.vander(t, _highest_degree(t) + 1, increasing=True)[:, 1:], axis=0)
    near = np.zeros(len(deviation), bool)
    changes = np.diff(inside.values)
    return Equations(powers / deviation[:, None], changes / deviation, 0, noise, 0.0, near, changes[near])


def _floor(inside: Samples) -> float:
    """The noise of single values that rounding alone makes."""
    return GRID_NOISE * float(np.sqrt(np.mean(inside.rounding**2)))


def _highest_degree(t: Floats) -> int:
    """Values around the point itself tell of noise; only those further out carry a degree."""
    return min(MAX_DEGREE, len(t) - 2, int(np.sum(abs(t) >= NEAREST)))


def _of_window(inside: Samples, width: float, wanted: Equations) -> list[Fit]:
    if len(wanted.values) < MIN_POINTS - 1 or not wanted.powers.any():
        return []  # too few once those that are one were taken for one, or a value beyond all measure
    q, r = np.linalg.qr(wanted.powers)
    share = np.linalg.inv(r)[wanted.slope]  # what each orthogonal part adds to the slope
    parts = q.T @ wanted.values
    slopes = np.cumsum(share * parts)
    gains = np.sqrt(np.cumsum(share**2))
    rests = wanted.values[:, None] - np.cumsum(q * parts, axis=1)
    near, noise = wanted.near, wanted.noise
    origin = inside.values[int(np.argmin(abs(inside.steps)))]
    scale = float(abs(inside.values - origin).max()) / width
    found = []
    for column in range(wanted.slope, len(slopes) - 2):
        degree = column - wanted.slope + 1
        free = len(wanted.values) - column - 1
        left = float(np.sqrt(np.sum(rests[:, column] ** 2) / free))
        if left > LEFT_OVER * max(noise, wanted.floor):
            continue
        sigma, spread = max(left, wanted.floor, LEAST_NOISE * noise), float(gains[column]) / width
        if (abs(rests[near, column]) > np.maximum(wanted.strays, STRAY * sigma)).any():
            continue
        bias = BIAS_SAFETY * abs(float(slopes[column + 2] - slopes[column])) / width
        wider = float(np.hypot(gains[column], gains[column + 2]) / np.sqrt(2)) / width
        bar = confidence(free) * sigma * wider
        found.append(
            Fit(float(slopes[column]) / width, sigma * spread, bar, bias, width, degree, sigma, scale)
        )
    return found


def left_over(samples: Samples, width: float) -> tuple[float, int]:
    """What the polynomial of the highest degree leaves of the values of a window, and that degree."""
    inside = samples.within(width)
    t = inside.steps / width
    degree = _highest_degree(t)
    if degree < 1:
        return 0.0, 1
    powers = np.vander(t, degree + 1)
    rest = inside.values - powers @ np.linalg.lstsq(powers, inside.values, rcond=None)[0]
    return float(np.sqrt(np.sum(rest**2) / (len(t) - degree - 1))), degree


def confidence(free: int) -> float:
    """How many deviations a bar needs when the deviation itself comes from so few values."""
    return next((CONFIDENCE[k] for k in CONFIDENCE if free <= k), LEAST_CONFIDENCE)
