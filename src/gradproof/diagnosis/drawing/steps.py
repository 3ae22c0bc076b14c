"""The step curve: how far a central difference of the recorded ops is off, for steps of every size."""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis.drawing.line import Line, obstacle, seconds_of, values
from gradproof.diagnosis.drawing.shorten import significant
from gradproof.diagnosis.figures import StepCurve
from gradproof.ir import types
from gradproof.ir.types import Array

N_STEPS = (
    40  # more than two in a factor of ten for a float64: both branches of the curve and its bottom are seen
)
FEWEST_STEPS = 12  # the branches are still told apart
# What a check by differences is content with; the half of a dtype's digits that a difference can have.
USABLE_TO = {"float64": 1e-6, "float32": 1e-3, "float16": 1e-1, "bfloat16": 1e-1}
FEWEST_USABLE = 2  # a single step that happens to be good is luck


def draw_steps(
    line: Line, name: str, slope: float, seconds: float, used: float | None = None
) -> StepCurve | str:
    """The curve for one entry whose true slope is known, or the reason why there is none."""
    stopped = obstacle(line)
    if stopped:
        return stopped
    if not np.isfinite(slope):
        return "there is no proven slope that differences could be measured against"
    if slope == 0.0:
        return "the true slope is zero, and no error is relative to it"
    each = seconds_of(lambda: values(line, np.array([line.x])))
    n_steps = min(N_STEPS, int(seconds / (2.0 * each)))
    if n_steps < FEWEST_STEPS:
        return f"one call of the function takes {each:.2g} s"
    dtype = types.dtype_name(line.point)
    scale = max(abs(line.x), 1.0)
    steps = scale * np.logspace(np.log10(0.25 * types.unit_roundoff(dtype)), 0.0, n_steps)
    ahead, behind = values(line, line.x + steps), values(line, line.x - steps)
    with np.errstate(all="ignore"):
        errors = np.abs((ahead - behind) / (2.0 * steps) - slope) / abs(slope)
    if not np.isfinite(errors).any():
        return "the function has no values beside this point"
    steps, errors, allowed = significant(steps), significant(errors), USABLE_TO[dtype]
    return StepCurve(f"along `{name}`", steps, errors, usable_range(steps, errors, allowed), allowed, used)


def usable_range(steps: Array, errors: Array, allowed: float) -> tuple[float, float] | None:
    """The longest row of neighbouring steps whose errors are all small enough."""
    best: tuple[int, int] = (0, 0)
    first = 0
    for k, error in enumerate([*errors, np.inf]):
        if not error <= allowed:
            if k - first > best[1] - best[0]:
                best = (first, k)
            first = k + 1
    if best[1] - best[0] < FEWEST_USABLE:
        return None
    return float(steps[best[0]]), float(steps[best[1] - 1])
