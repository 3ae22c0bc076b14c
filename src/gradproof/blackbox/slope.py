"""From a line through a point to a derivative: explore, check for trouble, extrapolate, conclude."""

import math
from dataclasses import replace

import numpy as np

from gradproof.blackbox.complex_step import ComplexSlope, complex_step
from gradproof.blackbox.explore import Region, explore, scouts
from gradproof.blackbox.extrapolate import Estimate
from gradproof.blackbox.kinks import (
    Sides,
    is_kink,
    jump_of,
    missing_side,
    rises_infinitely,
    sides_of,
)
from gradproof.blackbox.ladder import Ladder, Line, ladder
from gradproof.blackbox.refine import refine
from gradproof.blackbox.result import NO_VALUE, Curve, Derivative, Status

FLOAT32 = np.finfo(np.float32)
USELESS = 0.1  # of the slopes seen: an error bar that wide is not an answer
NARROW = 2.0**-18  # of x: a flat place narrower than this is as likely a quirk of the function's arithmetic
# Units in the last place: rounding that is the same at all steps, because the steps are powers of two.
COMMON_ROUNDING = 8.0


def slope(line: Line) -> Derivative:
    """The derivative along a line at its origin, or the reason why there is none."""
    started = line.calls.n_points
    with np.errstate(all="ignore"):
        found = _slope(line)
    # The value at the point itself was computed before the line was drawn.
    return replace(found, evaluations=line.calls.n_points - started + 1)


def _slope(line: Line) -> Derivative:
    centre = line.value(0.0)
    if not math.isfinite(centre):
        return _none(
            line, None, "cannot tell", f"the value at the point is {centre}, so there is no slope to speak of"
        )
    side = missing_side(ladder(line, scouts(line)))
    if side == 2:
        return _none(
            line, None, "cannot tell", "the function is not finite on either side, however small the step"
        )
    line = replace(line, side=-side)
    region = explore(line)
    if side and not missing_side(ladder(replace(line, side=0), region.exponents[:2])):
        # The other side exists after all, at the smaller scale that this side has led to.
        side, line = 0, replace(line, side=0)
        region = explore(line)
    pairs = ladder(line, region.exponents)
    if region.surely_flat:
        return _flat(line, region, pairs)
    height = jump_of(pairs)
    if height:
        return _jump(line, pairs, height)
    if not side:
        sharp = complex_step(line, region)
        if sharp is not None:
            return _by_complex_step(line, region, pairs, sharp)
    found = _by_differences(line, region)
    if found.status not in ("ok", "one-sided") and region.flat > NARROW * line.size:
        return _flat(line, region, pairs)
    return found


def _by_complex_step(line: Line, region: Region, pairs: Ladder, sharp: ComplexSlope) -> Derivative:
    value, error = sharp.value, sharp.error
    curve = _curve(pairs.both(), value, error, region.noise)
    reason = "by complex step; real differences and the Cauchy-Riemann equations agree with it"
    return Derivative(value, error, "ok", reason, value, value, error, error, curve.noise, 0, curve)


def _by_differences(line: Line, region: Region) -> Derivative:
    pairs, estimate = refine(line, region)
    if estimate is None:
        return _none(
            line,
            pairs,
            "cannot tell",
            "no range of steps gives slopes that agree with those of smaller steps",
        )
    everything = ladder(line, pairs.exponents)
    sides = sides_of(everything)
    if rises_infinitely(everything, sides, region.noise):
        why = "the difference quotients grow without limit as the step shrinks, but the value does not jump"
        return _none(line, pairs, "infinite slope", why)
    height = jump_of(pairs, estimate.value)
    if height:
        return _jump(line, pairs, height)
    if is_kink(pairs, sides, region.noise):
        return _kink(pairs, sides, region.noise)
    larger = slice(estimate.low, None)
    seen = max(abs(estimate.value), *abs(pairs.right[larger]), *abs(pairs.left[larger]))
    if not estimate.error <= USELESS * seen:
        size = max(estimate.noise, region.noise)
        why = f"noise or structure of size {size:.1e} in the values hides the slope at every step tried"
        return _none(line, pairs, "cannot tell", why)
    if sides.differ and not line.side:
        why = "the slopes of the two sides do not settle on one number, nor clearly on two"
        return _none(line, pairs, "cannot tell", why)
    return _extrapolated(line, pairs, estimate, sides, region.noise)


def _extrapolated(line: Line, pairs: Ladder, estimate: Estimate, sides: Sides, noise: float) -> Derivative:
    value = estimate.value
    error = estimate.error + COMMON_ROUNDING * line.calls.eps * abs(value)
    curve = _curve(pairs, value, error, noise)
    steps = estimate.high - estimate.low + 1
    low, high = pairs.steps[estimate.low], pairs.steps[estimate.high]
    kind = "one-sided" if line.side else "central"
    reason = f"extrapolated from {steps} {kind} differences with steps {low:.1e} to {high:.1e}"
    if line.side:
        where = "left" if line.side > 0 else "right"
        reason += f"; to the {where} of the point the function is not defined"
        left, right = (NO_VALUE, value) if line.side > 0 else (value, NO_VALUE)
        left_error, right_error = (math.inf, error) if line.side > 0 else (error, math.inf)
        return Derivative(
            value, error, "one-sided", reason, left, right, left_error, right_error, noise, 0, curve
        )
    left_slope, right_slope = _both(sides, value, error)
    return Derivative(
        value,
        error,
        "ok",
        reason,
        left_slope[0],
        right_slope[0],
        left_slope[1],
        right_slope[1],
        curve.noise,
        0,
        curve,
    )


def _both(sides: Sides, value: float, error: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The slopes of the sides as measured; the two-sided one where a side alone gave nothing."""
    left, right = ((e.value, e.error) if e is not None else (value, error) for e in (sides.left, sides.right))
    return left, right


def _kink(pairs: Ladder, sides: Sides, noise: float) -> Derivative:
    assert sides.left is not None
    assert sides.right is not None
    left, right = sides.left, sides.right
    apart = abs(right.value - left.value)
    reason = f"the slopes of the two sides differ by {apart:.3g}, down to a step of {pairs.steps[0]:.0e}"
    floor = COMMON_ROUNDING * pairs.eps
    return Derivative(
        NO_VALUE,
        math.inf,
        "kink",
        reason,
        left.value,
        right.value,
        left.error + floor * abs(left.value),
        right.error + floor * abs(right.value),
        noise,
        0,
        _curve(pairs, NO_VALUE, math.inf, noise),
    )


def _flat(line: Line, region: Region, pairs: Ladder) -> Derivative:
    """Zero where the function does not change at all around the point."""
    # Float32 may hide inside, and with no change to look at nothing would show it.
    error = float(FLOAT32.eps * abs(pairs.centre) + FLOAT32.tiny) / region.flat
    reason = f"the value does not change at all within {region.flat:.1e} of the point"
    status: Status = "one-sided" if line.side else "ok"
    curve = _curve(pairs.both(), 0.0, error, float(pairs.rounding.max(initial=0.0)))
    return Derivative(0.0, error, status, reason, 0.0, 0.0, error, error, curve.noise, 0, curve)


def _jump(line: Line, pairs: Ladder, height: float) -> Derivative:
    return _none(line, pairs, "jump", f"the value jumps by {height:.3g} at the point, however small the step")


def _none(line: Line, pairs: Ladder | None, status: Status, reason: str) -> Derivative:
    if pairs is None:
        pairs = ladder(line, ())
    curve = _curve(pairs.both(), NO_VALUE, math.inf, 0.0)
    return Derivative(
        NO_VALUE, math.inf, status, reason, NO_VALUE, NO_VALUE, math.inf, math.inf, 0.0, 0, curve
    )


def _curve(pairs: Ladder, value: float, error: float, noise: float) -> Curve:
    differences = pairs.central
    least = float(np.median(pairs.rounding)) / 2 if len(pairs.steps) else 0.0
    return Curve(pairs.steps, differences, abs(differences - value) + error, max(noise, least))
