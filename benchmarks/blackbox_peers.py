"""The methods that are compared: gradproof, numdifftools, scipy, fixed steps, and a fit over a noise-chosen stencil."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numdifftools
import numpy as np
from blackbox_functions import Function
from scipy.optimize._numdiff import approx_derivative

from gradproof.blackbox import derivative

NOISE_POINTS = 7  # of the difference table from which the noise is read
NOISE_SPACINGS = (1e-9, 1e-6, 1e-12, 1e-3)  # of x, tried in turn until the table shows noise and nothing else
FIT_POINTS = 15
FIT_DEGREE = 3


@dataclass(frozen=True)
class Answer:
    """What a method said of one function; NaN where it gave no number."""

    value: float
    error: float | None  # its own error bar, None if it has none
    evaluations: int
    sides: tuple[float, float, float, float] | None = None  # at a kink: left, right and their error bars
    status: str = "ok"


@dataclass
class Counted:
    """A function for the peers: counts its points, and is NaN outside its domain where it would raise."""

    function: Function
    n_points: int = 0

    def __call__(self, x: Any) -> Any:
        points = np.asarray(x)
        values = [self._at(point) for point in points.reshape(-1)]
        return np.asarray(values).reshape(points.shape)

    def _at(self, point: Any) -> Any:
        self.n_points += 1
        argument = complex(point) if np.iscomplexobj(point) else type(self.function.x)(point)
        try:
            value = self.function.call(argument)
        except (ArithmeticError, ValueError):
            return np.nan
        return complex(value) if np.iscomplexobj(value) else float(value)


def by_gradproof(function: Function) -> Answer:
    found = derivative(function.call, function.x)
    sides = (found.left, found.right, found.left_error, found.right_error)
    return Answer(found.value, found.error, found.evaluations, sides, found.status)


def by_numdifftools(function: Function) -> Answer:
    counted = Counted(function)
    result = numdifftools.Derivative(counted, full_output=True)(float(function.x))
    # Up to 0.9 the details are the second of a pair, since then the fields of one result.
    details = result if hasattr(result, "error_estimate") else result[1]
    return Answer(float(result[0]), float(details.error_estimate), counted.n_points)


def by_scipy(method: str) -> Callable[[Function], Answer]:
    def ask(function: Function) -> Answer:
        counted = Counted(function)
        value = approx_derivative(lambda x: counted(x)[0], float(function.x), method=method)
        return Answer(float(np.squeeze(value)), None, counted.n_points)

    return ask


def by_fixed_step(step: float) -> Callable[[Function], Answer]:
    def ask(function: Function) -> Answer:
        counted, x = Counted(function), float(function.x)
        return Answer(float(counted(x + step) - counted(x - step)) / (2 * step), None, 2)

    return ask


def by_fit(function: Function) -> Answer:
    """A cubic through 15 points, as wide as noise and curvature ask for.

    The noise is read off the difference table of values at close, equal distances; the curvature off second
    differences whose step grows until they stand above the noise. Noise and curvature choose the width, and least
    squares the slope.
    """
    counted, x = Counted(function), float(function.x)
    scale = abs(x) or 1.0
    noise = _noise(counted, x, scale)
    curvature = _curvature(counted, x, scale, noise)
    # Of a function whose third derivative is to the second as the second is to its value: the width at which
    # noise and truncation of a cubic are alike.
    size = abs(float(counted(x))) or 1.0
    length = np.sqrt(size / curvature) if curvature else scale
    width = length * (noise / size) ** (1 / (FIT_DEGREE + 2))
    steps = width * np.linspace(-1, 1, FIT_POINTS)
    values = counted(x + steps)
    kept = np.isfinite(values)
    powers = np.vander(steps[kept] / width, FIT_DEGREE + 1, increasing=True)
    coefficients = np.linalg.lstsq(powers, values[kept], rcond=None)[0]
    rest = values[kept] - powers @ coefficients
    spread = np.sqrt((rest @ rest) / (kept.sum() - FIT_DEGREE - 1))
    bar = 3 * spread * np.sqrt(np.linalg.inv(powers.T @ powers)[1, 1]) / width
    return Answer(float(coefficients[1] / width), float(bar), counted.n_points)


def _noise(counted: Counted, x: float, scale: float) -> float:
    """The noise of single values, from the first column of the difference table where the next ones agree."""
    least = 2.0**-53 * abs(float(counted(x)))
    for spacing in NOISE_SPACINGS:
        table = counted(x + scale * spacing * np.arange(NOISE_POINTS))
        levels = []
        factor = 1.0
        for k in range(1, NOISE_POINTS - 1):
            table = np.diff(table)
            factor *= k / (2 * (2 * k - 1))  # k!**2 / (2k)!
            levels.append(float(np.sqrt(factor * np.mean(table**2))))
        for k in range(len(levels) - 2):
            some = levels[k : k + 3]
            if min(some) > 0 and max(some) <= 4 * min(some):
                return max(some[0], least)
    return least or 1e-300


def _curvature(counted: Counted, x: float, scale: float, noise: float) -> float:
    centre = float(counted(x))
    for exponent in (-4, -2, 0):
        h = scale * 10.0**exponent
        second = abs(float(counted(x + h) - 2 * centre + counted(x - h)))
        if second > 100 * noise:
            return second / h**2
    return second / h**2


METHODS: dict[str, Callable[[Function], Answer]] = {
    "gradproof": by_gradproof,
    "numdifftools": by_numdifftools,
    "scipy 2-point": by_scipy("2-point"),
    "scipy 3-point": by_scipy("3-point"),
    "scipy cs": by_scipy("cs"),
    "fixed step 1e-3": by_fixed_step(1e-3),
    "fixed step 1e-5": by_fixed_step(1e-5),
    "fixed step 1e-8": by_fixed_step(1e-8),
    "noise-chosen fit": by_fit,
}


def ask(method: Callable[[Function], Answer], function: Function) -> Answer:
    """The method's answer; an exception of a peer is no answer."""
    if method is by_gradproof:
        return method(function)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return method(function)
        except Exception:
            return Answer(np.nan, None, 0, status="cannot tell")


def relative_error(function: Function, answer: Answer) -> float:
    """At most 1, which stands for no right digit and for no answer; absolute where the slope is zero."""
    assert function.slope is not None
    off = abs(answer.value - function.slope) / (abs(function.slope) or 1.0)
    return min(off, 1.0) if np.isfinite(off) else 1.0


def covers(function: Function, answer: Answer) -> bool:
    """Whether the error bar reaches the true slope, or both true slopes of a kink."""
    if answer.status == "kink" and function.left is not None and function.right is not None and answer.sides:
        left, right, left_error, right_error = answer.sides
        return abs(left - function.left) <= left_error and abs(right - function.right) <= right_error
    if function.slope is None or answer.error is None:
        return False
    return abs(answer.value - function.slope) <= answer.error
