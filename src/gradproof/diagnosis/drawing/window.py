"""How much of a line is drawn: wide enough to see the function, narrow enough to see what is wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.diagnosis.drawing.line import Line
from gradproof.ir.types import Array

LEVELS_OUT, LEVELS_IN = 7, 11  # windows of 4**7 to 4**-11 times the natural size are looked at
FEWEST_SPACINGS = 64  # a narrower window has fewer numbers in it than a curve has points
STEEPEST = 8.0  # slopes that differ by more would press the rest of the curve flat
VISIBLE = 0.15  # rounding noise is best seen where it is this share of the curve's height
LEAST_RISE = 0.2  # of what the slopes at both ends of a step promise; a smooth curve keeps to about the whole
N_BETWEEN = 13  # places at which a window is looked at more closely
GOLDEN = 0.6180339887498949  # its multiples modulo 1 are evenly spread, and no two steps are alike for long
LOUD = 0.3  # and a window in which it is more than this is too narrow


@dataclass(frozen=True, eq=False)
class Look:
    """What some points of a line show: proven values and slopes, and computed ones; NaN where there is none."""

    value: Array
    slope: Array
    computed_value: Array
    computed_slope: Array

    def at(self, places: Any) -> Look:
        return Look(
            self.value[places], self.slope[places], self.computed_value[places], self.computed_slope[places]
        )

    @property
    def value_noise(self) -> float:
        """The distance of the computed from the proven values as a share of the curve's height."""
        share = _share(self.value, self.computed_value)
        return share if np.isfinite(share) else 0.0

    @property
    def noise(self) -> float:
        """The same of values and slopes, whichever is more."""
        share = _share(self.slope, self.computed_slope)
        return max(self.value_noise, share) if np.isfinite(share) else self.value_noise


def _share(proven: Array, computed: Array) -> float:
    known = np.isfinite(proven) & np.isfinite(computed)
    if known.sum() < 2:
        return np.nan
    height = float(np.ptp(proven[known]))
    noise = float(np.max(np.abs(computed[known] - proven[known])))
    return noise / height if height else np.nan


def half_width(line: Line, look: Callable[[Array], Look], n_probes: int, seeks_noise: bool) -> float:
    """Half the width of the window, chosen among powers of four of the natural size of the point.

    With `seeks_noise` that in which rounding is seen best; else the widest in which the curve is not pressed flat.
    """
    widths = _candidates(line, n_probes)
    offsets = np.concatenate([-widths, -0.5 * widths, 0.5 * widths, widths])
    seen = look(np.append(line.x + offsets, line.x))
    n = len(widths)
    windows = [seen.at([k, k + n, -1, k + 2 * n, k + 3 * n]) for k in range(n)]
    if not seeks_noise:
        natural = [k for k in range(n) if widths[k] <= _natural(line) and _is_even(windows[k], widths[k])]
        k = next((k for k in natural if _is_followed(line, look, widths[k])), n - 1 if natural else 0)
        k = k if natural else int(np.argmin(abs(widths - min(_natural(line), 1.0))))
        # The computed slopes may be off for other reasons than rounding; the values are not.
        if windows[k].value_noise <= LOUD:
            return float(widths[k])
    beside = [window.at([0, 1, 3, 4]) for window in windows]  # the point itself may stick out
    shares = np.array([window.noise if seeks_noise else window.value_noise for window in beside])
    if not (shares > 0.0).any():
        return _natural(line)
    with np.errstate(divide="ignore"):
        return float(widths[int(np.argmin(abs(np.log(shares / VISIBLE))))])


def _natural(line: Line) -> float:
    return max(abs(line.x), 1.0)


def _candidates(line: Line, n_probes: int) -> Array:
    """From wide to narrow; with few probes the extremes are left out."""
    powers = np.arange(LEVELS_OUT, -LEVELS_IN - 1, -1)
    excess = max(0, len(powers) - n_probes // 4)
    powers = powers[excess // 2 : len(powers) - (excess + 1) // 2]
    widths = _natural(line) * 4.0**powers
    fit = widths[widths >= FEWEST_SPACINGS * line.spacing]
    return fit if len(fit) else widths[:1]


def _is_even(window: Look, width: float) -> bool:
    """Whether the slopes at five places from end to end are of similar size, and the values follow them."""
    sizes = np.abs(window.slope[np.isfinite(window.slope)])
    if len(sizes) < 2:
        return False
    sizes = sizes[sizes > 0]
    if len(sizes) and sizes.max() > STEEPEST * np.median(sizes):
        return False
    return _values_follow(window, 0.5 * width)


def _is_followed(line: Line, look: Callable[[Array], Look], width: float) -> bool:
    """The same asked of more places, at uneven distances so that no wave keeps in step with them."""
    offsets = np.sort(2.0 * (np.arange(1, N_BETWEEN + 1) * GOLDEN % 1.0) - 1.0) * width
    return _values_follow(look(line.x + offsets), np.diff(offsets))


def _values_follow(window: Look, steps: Any) -> bool:
    """False where slopes of one sign hardly move the value: a window that holds many waves of a sine is too wide."""
    rises, left, right = np.diff(window.value), window.slope[:-1], window.slope[1:]
    expected = 0.5 * steps * (left + right)
    with np.errstate(invalid="ignore", divide="ignore"):
        return not bool(np.any((left * right > 0) & (rises / expected < LEAST_RISE)))
