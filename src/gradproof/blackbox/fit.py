"""The slope of a smooth function beneath noise: polynomials through many values, by least squares.

A window is the point and all values within some distance of it. Through each, polynomials of rising
degree are fitted. Their slopes at the point have an error made of noise, told by what the polynomial leaves
over, and of bias, told by what the next higher degrees would change. A window is refused where its rest is
larger than the noise that small steps show, and where its slope contradicts that of a smaller window.
"""

from dataclasses import dataclass, replace

import numpy as np

from gradproof.blackbox.grid import Floats

MAX_DEGREE = 9
NEAREST = 2.0**-4  # of a window's width: closer to the point equal values are one value
MIN_POINTS = 5
GRID_NOISE = 0.3  # of the spacing: the deviation of values that were rounded to a grid
LEFT_OVER = 3.0  # times the noise of small steps: a rest so large is structure
LEAST_NOISE = 0.5  # of the largest deviation among small steps
BIAS_SAFETY = 2.0
STRAY = 4.0  # times the noise: close to the point a single value so far off is no noise
SAME = 1e-3  # of a distance: steps so close are one
RIVALS = 2.0  # times the smallest bar: estimates that should agree with the best
# Of a bar in deviations, by degrees of freedom: Student's distribution at 0.5 %.
CONFIDENCE = {1: 63.7, 2: 9.9, 3: 5.8, 4: 4.6, 5: 4.0, 6: 3.7, 8: 3.4, 12: 3.1}
LEAST_CONFIDENCE = 3.0


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


def fits(samples: Samples, noise: float) -> list[Fit]:
    """All polynomials that are not refused, from the smallest window to the largest one that is none."""
    found: list[Fit] = []
    for width in widths_of(samples):
        inside = samples.within(width)
        if len(inside.steps) < MIN_POINTS:
            continue
        found += [fit for fit in _of_window(inside, width, noise) if agrees(fit, found)]
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


def _of_window(inside: Samples, width: float, noise: float) -> list[Fit]:
    n = len(inside.steps)
    t = inside.steps / width
    # Values around the point itself tell of noise; only those further out carry a degree.
    top = min(MAX_DEGREE, n - 2, int(np.sum(abs(t) >= NEAREST)))
    q, r = np.linalg.qr(np.vander(t, top + 1, increasing=True))
    share = np.linalg.inv(r)[1]  # what each orthogonal part adds to the slope
    origin = inside.values[int(np.argmin(abs(t)))]
    parts = q.T @ (inside.values - origin)
    slopes = np.cumsum(share * parts)
    gains = np.sqrt(np.cumsum(share**2))
    rests = (inside.values - origin)[:, None] - np.cumsum(q * parts, axis=1)
    near = abs(t) < NEAREST
    floor = GRID_NOISE * float(np.sqrt(np.mean(inside.rounding**2)))
    scale = float(abs(inside.values - origin).max()) / width
    found = []
    for degree in range(1, top - 1):
        free = n - degree - 1
        left = float(np.sqrt(np.sum(rests[:, degree] ** 2) / free))
        if left > LEFT_OVER * max(noise, floor):
            continue
        sigma, spread = max(left, floor, LEAST_NOISE * noise), float(gains[degree]) / width
        if (abs(rests[near, degree]) > STRAY * np.maximum(max(noise, sigma), inside.rounding[near])).any():
            continue
        bias = BIAS_SAFETY * abs(float(slopes[degree + 2] - slopes[degree])) / width
        wider = float(np.hypot(gains[degree], gains[degree + 2]) / np.sqrt(2)) / width
        bar = confidence(free) * sigma * wider
        found.append(
            Fit(float(slopes[degree]) / width, sigma * spread, bar, bias, width, degree, sigma, scale)
        )
    return found


def left_over(samples: Samples, width: float) -> tuple[float, int]:
    """What the polynomial of the highest degree leaves of the values of a window, and that degree."""
    inside = samples.within(width)
    t = inside.steps / width
    degree = min(MAX_DEGREE, len(t) - 2, int(np.sum(abs(t) >= NEAREST)))
    if degree < 1:
        return 0.0, 1
    powers = np.vander(t, degree + 1)
    rest = inside.values - powers @ np.linalg.lstsq(powers, inside.values, rcond=None)[0]
    return float(np.sqrt(np.sum(rest**2) / (len(t) - degree - 1))), degree


def confidence(free: int) -> float:
    """How many deviations a bar needs when the deviation itself comes from so few values."""
    return next((CONFIDENCE[k] for k in CONFIDENCE if free <= k), LEAST_CONFIDENCE)
