"""From a line through a point to a derivative: explore, check for trouble, extrapolate, conclude."""

import math
from dataclasses import replace

import numpy as np

from gradproof.blackbox.complex_step import ComplexSlope, complex_step
from gradproof.blackbox.explore import Region, explore, informative, is_noise, scouts
from gradproof.blackbox.extrapolate import Estimate
from gradproof.blackbox.fit import Fit
from gradproof.blackbox.kinks import (
    OneSided,
    is_kink,
    jump_of,
    missing_side,
    rises_infinitely,
    sides_of,
)
from gradproof.blackbox.ladder import Ladder, LadderLine, ladder
from gradproof.blackbox.noisy import noisy_slope
from gradproof.blackbox.refine import refine
from gradproof.blackbox.result import NO_VALUE, Curve, Derivative, Status

NOISY = 64.0  # units in the last place: noise beyond what rounding makes
FAINT = 1e-8  # of the change of the function: extrapolation copes with so little noise
FLOAT32 = np.finfo(np.float32)
STEPPED = 0.125  # of x and of the value: a function of such wide and high steps may be meant to have them
USELESS = 0.1  # of the slopes seen: an error bar that wide is not an answer
NARROW = 2.0**-18  # of x: a flat place narrower than this is as likely a quirk of the function's arithmetic
# Units in the last place: rounding that is the same at all steps, because the steps are powers of two.
COMMON_ROUNDING = 8.0


def slope(line: LadderLine) -> Derivative:
    """The derivative along a line at its origin, or the reason why there is none."""
    started = line.calls.n_points
    with np.errstate(all="ignore"):
        found = _slope(line)
    # The value at the point itself was computed before the line was drawn.
    return replace(found, evaluations=line.calls.n_points - started + 1)


def _slope(line: LadderLine) -> Derivative:
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
    noisy = _is_noisy(line, region, pairs)
    analytic = not side and (line.grid is None or line.grid.bits > 0)
    sharp = complex_step(line, region) if analytic else None
    if sharp is not None:
        return _by_complex_step(line, region, pairs, sharp)
    found = _by_fit(line, region) if noisy else _by_differences(line, region)
    if analytic and found.status == "ok":
        sharp = complex_step(line, region, ComplexSlope(found.value, found.error))
        if sharp is not None:
            found = replace(
                found, value=sharp.value, error=sharp.error, reason=f"by complex step; {found.reason}"
            )
    if found.status not in ("ok", "one-sided") and region.flat > NARROW * line.size and line.grid is None:
        return _flat(line, region, pairs)
    return found


def _by_complex_step(line: LadderLine, region: Region, pairs: Ladder, sharp: ComplexSlope) -> Derivative:
    value, error = sharp.value, sharp.error
    curve = _curve(pairs.both(), value, error, region.noise)
    reason = "by complex step; real differences and the Cauchy-Riemann equations agree with it"
    return Derivative(value, error, "ok", reason, value, value, error, error, curve.noise, 0, curve)


def _is_noisy(line: LadderLine, region: Region, pairs: Ladder) -> bool:
    """Whether the values carry much more than the rounding of their dtype, and so much that it costs digits."""
    if line.grid is not None:
        return True
    rounding = line.calls.eps * float(np.nanmedian(np.maximum(abs(pairs.plus), abs(pairs.centre))))
    base = ladder(line, [region.base])
    change = max(abs(float(base.plus[0]) - base.centre), abs(float(base.minus[0]) - base.centre))
    return region.noise > max(NOISY * rounding, FAINT * change) and is_noise(
        informative(line, set(region.exponents))
    )


def _by_fit(line: LadderLine, region: Region) -> Derivative:
    fit = noisy_slope(line, region)
    pairs = ladder(line, region.exponents).both()
    if fit is None:
        return _unfitted(line, pairs, "no range of steps gives slopes that agree with those of smaller steps")
    value, error = fit.slope, fit.error + COMMON_ROUNDING * line.calls.eps * abs(fit.slope)
    if not error <= USELESS * fit.scale:
        why = f"noise or structure of size {fit.noise:.1e} in the values hides the slope at every step tried"
        return _unfitted(line, pairs, why)
    if _is_staircase(line, fit):
        why = "the value goes up or down in steps as wide as x and as high as the value: steps, or coarse rounding"
        return _none(line, pairs, "cannot tell", why)
    curve = _curve(pairs, value, error, fit.noise)
    reason = f"fitted with degree {fit.degree} to values within {fit.width:.1e} of the point"
    reason += f", which carry noise of {fit.noise:.1e}"
    if line.side:
        return _of_one_side(line, value, error, reason, curve)
    return Derivative(value, error, "ok", reason, value, value, error, error, curve.noise, 0, curve)


def _is_staircase(line: LadderLine, fit: Fit) -> bool:
    """Whether the steps of a grid leave so little of x and of the value that they may be what the function is."""
    if line.grid is None or not line.size:
        return False
    height = float(line.grid.at(np.array([line.value(0.0)]))[0])
    return height > STEPPED * abs(line.value(0.0)) and height > STEPPED * line.size * fit.scale


def _unfitted(line: LadderLine, pairs: Ladder, why: str) -> Derivative:
    """What looked like noise may have been a jump beside a slope."""
    slopes = np.diff(pairs.plus) / np.diff(pairs.steps)
    height = max((jump_of(pairs, slope) for slope in slopes[-3:].tolist()), default=0.0)
    return _jump(line, pairs, height) if height else _none(line, pairs, "cannot tell", why)


def _by_differences(line: LadderLine, region: Region) -> Derivative:
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


def _extrapolated(
    line: LadderLine, pairs: Ladder, estimate: Estimate, sides: OneSided, noise: float
) -> Derivative:
    value = estimate.value
    error = estimate.error + COMMON_ROUNDING * line.calls.eps * abs(value)
    curve = _curve(pairs, value, error, noise)
    steps = estimate.high - estimate.low + 1
    low, high = pairs.steps[estimate.low], pairs.steps[estimate.high]
    kind = "one-sided" if line.side else "central"
    reason = f"extrapolated from {steps} {kind} differences with steps {low:.1e} to {high:.1e}"
    if line.side:
        return _of_one_side(line, value, error, reason, curve)
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


def _of_one_side(line: LadderLine, value: float, error: float, reason: str, curve: Curve) -> Derivative:
    where = "left" if line.side > 0 else "right"
    reason += f"; to the {where} of the point the function is not defined"
    left, right = (NO_VALUE, value) if line.side > 0 else (value, NO_VALUE)
    left_error, right_error = (math.inf, error) if line.side > 0 else (error, math.inf)
    return Derivative(
        value, error, "one-sided", reason, left, right, left_error, right_error, curve.noise, 0, curve
    )


def _both(sides: OneSided, value: float, error: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """The slopes of the sides as measured; the two-sided one where a side alone gave nothing."""
    left, right = ((e.value, e.error) if e is not None else (value, error) for e in (sides.left, sides.right))
    return left, right


def _kink(pairs: Ladder, sides: OneSided, noise: float) -> Derivative:
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


def _flat(line: LadderLine, region: Region, pairs: Ladder) -> Derivative:
    """Zero where the function does not change at all around the point."""
    # Float32 may hide inside, and with no change to look at nothing would show it.
    error = float(FLOAT32.eps * abs(pairs.centre) + FLOAT32.tiny) / region.flat
    reason = f"the value does not change at all within {region.flat:.1e} of the point"
    status: Status = "one-sided" if line.side else "ok"
    curve = _curve(pairs.both(), 0.0, error, float(pairs.rounding.max(initial=0.0)))
    return Derivative(0.0, error, status, reason, 0.0, 0.0, error, error, curve.noise, 0, curve)


def _jump(line: LadderLine, pairs: Ladder, height: float) -> Derivative:
    return _none(line, pairs, "jump", f"the value jumps by {height:.3g} at the point, however small the step")


def _none(line: LadderLine, pairs: Ladder | None, status: Status, reason: str) -> Derivative:
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
