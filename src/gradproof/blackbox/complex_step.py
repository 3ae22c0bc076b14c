"""The complex step: a slope without cancellation, accepted only from a function shown to be analytic.

For an analytic function that is real on the real line, f(x + ih) = f(x) + ih f'(x) - ..., so the imaginary
part over h is the slope with no difference of nearly equal numbers. A function that takes `abs`, `real` or
a conjugate on its way returns something else without complaint. It is therefore believed only if the real
part is f(x), the conjugate input gives the conjugate value, real differences agree, and at a large step the
Cauchy-Riemann equations hold in slope and in curvature.
"""

from dataclasses import dataclass

import numpy as np

from gradproof.blackbox.calls import Numbers, as_numbers
from gradproof.blackbox.explore import Region, informative
from gradproof.blackbox.ladder import Ladder, LadderLine

TINY = 2.0**-70  # of the region's step: its square is far below rounding
NEIGHBOURS = 8  # spacings of the input between the slopes that are compared to see their rounding
SAFETY = 4.0
FLOAT32_EPS = float(np.finfo(np.float32).eps)
SHORT_NEIGHBOURS = (5.3, 12.7)  # the same for numbers of float32, which may be all there is inside
SHORT = 64.0  # units in the last place: noise of real values that tells of insides in float32
NEAR = 2.0**-6  # of the region's step, within which slopes change little
TIGHT = 1e-4  # real differences that know the slope less well than this prove nothing


@dataclass(frozen=True)
class ComplexSlope:
    """The slope by complex step and the bound of its rounding, seen from its neighbours."""

    value: float
    error: float


def complex_step(line: LadderLine, region: Region, known: ComplexSlope | None = None) -> ComplexSlope | None:
    """The slope, or None where the function does not take complex numbers or is not shown to be analytic.

    Where plain differences are too blurred to show it, a slope that is `known` with its bar may take their place;
    then that bar stays, because nothing sharper has agreed.
    """
    pairs = informative(line, set(region.exponents))
    if line.complex_place is None or not region.settled or region.base not in pairs.exponents:
        return None
    base = pairs.exponents.index(region.base)
    step = float(pairs.steps[base])
    tiny = step * TINY
    above = _at(line, 0.0, tiny)
    if above is None or abs(above[0].real - pairs.centre) > SAFETY * (
        pairs.rounding[base] + above[1] * abs(pairs.centre)
    ):
        return None
    slope, eps = above[0].imag / tiny, max(above[1], line.calls.eps)
    if known is None and not _agrees_with_differences(pairs, base, slope, region.noise):
        return None
    if known is not None and not abs(slope - known.value) <= known.error:
        return None
    below, far = _at(line, 0.0, -tiny), _at(line, 0.0, step)
    if below is None or abs(below[0] - above[0].conjugate()) > SAFETY * eps * abs(above[0]):
        return None
    if abs(below[0].imag + above[0].imag) > SAFETY * eps * abs(above[0].imag):
        return None
    if far is None or not _cauchy_riemann(pairs, base, slope, far[0], region.noise):
        return None
    if known is not None:
        return ComplexSlope(slope, known.error + abs(slope - known.value))
    found = _with_rounding(line, slope, tiny, max(line.size, step) * eps, eps)
    return None if found is None else _with_short_insides(line, pairs, base, tiny, found, region.noise)


def _at(line: LadderLine, real: float, imaginary: float) -> tuple[complex, float] | None:
    """The complex value and the spacing of its dtype; None where there is none."""
    step = complex(real, imaginary)
    if step not in line.known_complex:
        line.known_complex[step] = _called(line, step)
    value = line.known_complex[step]
    if value is None:
        return None
    number = complex(value.reshape(-1)[line.entry])
    return (number, float(np.finfo(value.dtype).eps)) if np.isfinite(number) else None


def _called(line: LadderLine, step: complex) -> Numbers | None:
    assert line.complex_place is not None
    try:
        value = as_numbers(line.calls.raw(*line.complex_place(step)), line.calls.name)
    except Exception:  # whatever a function does with an input it was not written for, it is a refusal
        return None
    return value if value.shape == line.calls.shape and value.dtype.kind == "c" else None


def _agrees_with_differences(pairs: Ladder, base: int, slope: float, noise: float) -> bool:
    """Every real difference up to the region's step allows this slope, and one of them pins it down."""
    h, d = pairs.steps[: base + 1], pairs.central[: base + 1]
    blur = 2 * SAFETY * np.maximum(noise, pairs.rounding[: base + 1]) / h
    # From one step to the next smaller one truncation falls with the square of the step.
    truncation = 2 * abs(d[base] - slope) * (h / h[base]) ** 2
    scale = max(abs(slope), abs(pairs.right[base]), abs(pairs.left[base]))
    allowed = blur + truncation
    return bool((abs(d - slope) <= allowed).all() and allowed.min() <= TIGHT * scale)


def _cauchy_riemann(pairs: Ladder, base: int, slope: float, far: complex, noise: float) -> bool:
    """Across and along the real line an analytic function has opposite cubic and quadratic terms."""
    h = float(pairs.steps[base])
    blur = 2 * SAFETY * max(noise, float(pairs.rounding[base]))
    d, even = float(pairs.central[base]), float(pairs.even[base])
    odd_rest = abs(d + far.imag / h - 2 * slope)
    even_rest = abs(far.real - pairs.centre + even)
    # What is left are terms two orders higher. Either of the two may be large where the other vanishes.
    odd_allowed = abs(d - slope) / 4 + abs(even) / (64 * h)
    even_allowed = abs(even) / 4 + abs(d - slope) * h / 16
    return odd_rest <= odd_allowed + blur / h and even_rest <= even_allowed + blur


def _with_rounding(
    line: LadderLine, slope: float, tiny: float, spacing: float, eps: float
) -> ComplexSlope | None:
    """Two slopes a few spacings of the input away show how far rounding moves this one."""
    moved = [_at(line, line.snapped(side * NEIGHBOURS * spacing), tiny) for side in (-1, 1)]
    if moved[0] is None or moved[1] is None:
        return None
    spread = max(abs(other[0].imag / tiny - slope) for other in moved if other is not None)
    return ComplexSlope(slope, SAFETY * (spread + eps * abs(slope)))


def _with_short_insides(
    line: LadderLine, pairs: Ladder, base: int, tiny: float, found: ComplexSlope, noise: float
) -> ComplexSlope | None:
    """The bar wide enough for insides in complex64, whose neighbours in float64 are all the same number.

    Slopes at equal distances to both sides have the mean of the point's own, but for the third derivative. What is
    left over is rounding.
    """
    step, slope = float(pairs.steps[base]), found.value
    left = noise / max(abs(pairs.centre), float(abs(pairs.even[base]))) * abs(slope) if noise else 0.0
    left = left if noise > SHORT * float(pairs.rounding[base]) else 0.0
    for distance in (share * FLOAT32_EPS * max(line.size, step) for share in SHORT_NEIGHBOURS):
        if distance > NEAR * step:
            continue
        moved = [_at(line, line.snapped(side * distance), tiny) for side in (-1, 1)]
        if moved[0] is None or moved[1] is None:
            return None
        mean = (moved[0][0].imag + moved[1][0].imag) / (2 * tiny)
        bent = 3 * abs(float(pairs.central[base]) - slope) * (distance / step) ** 2
        left = max(left, abs(mean - slope) - 2 * bent)
    return ComplexSlope(slope, found.error + SAFETY * left)
