"""The slice: the target and its slope along a line through the point, proven against computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.diagnosis.drawing.line import (
    Line,
    obstacle,
    proven,
    seconds_of,
    sharpest_domain,
    slopes,
    values,
)
from gradproof.diagnosis.drawing.shorten import shortened
from gradproof.diagnosis.drawing.window import N_BETWEEN, Look, half_width
from gradproof.diagnosis.figures import Slice
from gradproof.ir import types
from gradproof.ir.types import Array

MOST_POINTS, FEWEST_POINTS = 121, 21  # a smooth curve on a screen, and the least from which a kink is seen
MOST_PROBES, FEWEST_PROBES = 76, 12  # to choose the window
SHARP = 1e-2  # of the height of its curve: what is known less well is not drawn


def draw_slice(line: Line, name: str, seeks_noise: bool, seconds: float) -> Slice | str:
    """The picture, or the reason why there is none; it takes about `seconds`."""
    stopped = obstacle(line)
    if stopped:
        return stopped
    look = _looker(line, sharpest_domain(line))
    each = seconds_of(lambda: look(np.array([line.x])))
    affordable = int(seconds / each) - 2 * N_BETWEEN
    if affordable < FEWEST_POINTS + FEWEST_PROBES:
        return f"one point of it takes {each:.2g} s, and {max(seconds, 0.0):.2g} s are left for all of them"
    n_probes = max(FEWEST_PROBES, min(MOST_PROBES, affordable // 3))
    n_points = max(FEWEST_POINTS, min(MOST_POINTS, affordable - n_probes))
    half = half_width(line, look, n_probes, seeks_noise)
    xs = line.nearest(line.x + half * np.linspace(-1.0, 1.0, n_points | 1))
    seen = look(xs)
    if not (np.isfinite(seen.value).any() or np.isfinite(seen.slope).any()):
        return "nothing is known of the function near this point"
    return Slice(
        direction=f"along `{name}`",
        computed_by=_computed_by(line),
        t=shortened(xs - line.x),
        proven_value=shortened(seen.value),
        proven_slope=shortened(seen.slope),
        computed_value=shortened(seen.computed_value),
        computed_slope=shortened(seen.computed_slope),
    )


def _looker(line: Line, domain: Any) -> Callable[[Array], Look]:
    def look(xs: Array) -> Look:
        bounds = proven(line, xs, domain)
        known = _known(bounds.value, bounds.value_radius), _known(bounds.slope, bounds.slope_radius)
        return Look(*known, values(line, xs), slopes(line, xs))

    return look


def _known(mid: Array, radius: Array) -> Array:
    """The midpoints; NaN where the radius would be seen in a picture of them."""
    finite = np.isfinite(mid) & np.isfinite(radius)
    if not finite.any():
        return np.full(mid.shape, np.nan)
    height = max(float(np.ptp(mid[finite])), float(np.median(np.abs(mid[finite]))))
    return np.where(finite & (radius <= SHARP * height), mid, np.nan)


def _computed_by(line: Line) -> str:
    dtype = types.dtype_name(line.point)
    if line.gradient_program is None:
        return f"the recorded forward ops, run again by NumPy in {dtype}; no gradient was recorded"
    return f"the recorded ops, forward and backward, run again by NumPy in {dtype}"
