"""What a function does at the point itself: smooth, kink, jump, infinite slope, or one side only."""

from dataclasses import dataclass

import numpy as np

from gradproof.blackbox.extrapolate import Estimate, extrapolated
from gradproof.blackbox.grid import Floats
from gradproof.blackbox.ladder import Ladder
from gradproof.blackbox.refine import sided_quotients

JUMP = 20.0  # how far a jump stands above the changes around it
RESOLVED = 10.0  # a change this far above noise has a size that means something
SEPARATE = 2.0  # times both error bars: the slopes of two sides that differ by more are two slopes
LARGEST_EXPONENT = -10  # a thousandth of x: at larger steps a power below one is a bend like any other
UNSETTLED = 0.1  # of the slope: an error bar that wide means that the quotients of a side do not settle
INFINITE_SLOPE = (0.03, 0.9)  # powers of the step at which a continuous function rises infinitely fast


@dataclass(frozen=True)
class OneSided:
    """The slopes of both sides, each with its own error bar; None where a side has none."""

    left: Estimate | None
    right: Estimate | None

    @property
    def differ(self) -> bool:
        if self.left is None or self.right is None:
            return False
        return abs(self.left.value - self.right.value) > SEPARATE * (self.left.error + self.right.error)


def sides_of(pairs: Ladder) -> OneSided:
    """One-sided extrapolation from both sides."""
    left = pairs.where(np.isfinite(pairs.minus))
    right = pairs.where(np.isfinite(pairs.plus))
    return OneSided(
        extrapolated(sided_quotients(left, left.left)), extrapolated(sided_quotients(right, right.right))
    )


def missing_side(pairs: Ladder) -> int:
    """-1 or +1 for a side on which even the smallest steps leave the domain, 0 for none, 2 for both."""
    smallest = slice(0, 2)
    left = not np.isfinite(pairs.minus[smallest]).any()
    right = not np.isfinite(pairs.plus[smallest]).any()
    return 2 if left and right else -1 if left else 1 if right else 0


def jump_of(pairs: Ladder, slope: float = 0.0) -> float:
    """The height of a jump at the point beside a known slope, 0 without one.

    At the three smallest steps of a side the value then stays put, away from the value on the other
    side or at the point. Noise does not stay put, and a slope makes the largest of three steps move most.
    """
    trend = slope * pairs.steps
    plus, minus = (side[np.isfinite(side)][:3] for side in (pairs.plus - trend, pairs.minus + trend))
    if len(plus) < 3 and len(minus) < 3:
        return 0.0
    limits = [side[0] for side in (plus, minus) if len(side) == 3]
    spread = max(float(np.ptp(side)) for side in (plus, minus) if len(side) == 3)
    heights = [abs(limit - pairs.centre) for limit in limits]
    height = max(float(np.ptp(limits)), *heights)
    return height if height > JUMP * max(spread, float(pairs.rounding[:3].max())) else 0.0


def rises_infinitely(pairs: Ladder, sides: OneSided, noise: float) -> bool:
    """Whether a side's smallest changes follow a power of the step below one and its slopes do not settle."""
    plus, minus = abs(pairs.plus - pairs.centre), abs(pairs.minus - pairs.centre)
    return any(
        not _settled(pairs, side, change) and _power_below_one(pairs, change, noise)
        for side, change in ((sides.right, plus), (sides.left, minus))
    )


def _settled(pairs: Ladder, side: Estimate | None, change: Floats) -> bool:
    if side is None:
        return False
    seen = np.nanmax((change / pairs.steps)[side.low : side.high + 1])
    return side.error <= UNSETTLED * max(abs(side.value), float(seen))


def _power_below_one(pairs: Ladder, change: Floats, noise: float) -> bool:
    resolved = np.isfinite(change) & (change > RESOLVED * np.maximum(noise, pairs.rounding))
    if pairs.exponents[int(np.argmax(resolved))] > LARGEST_EXPONENT or not resolved.any():
        return False
    powers = _powers(pairs.steps[resolved], change[resolved])[:2]
    low, high = INFINITE_SLOPE
    return (
        len(powers) == 2
        and bool(((low < powers) & (powers < high)).all())
        and abs(powers[1] - powers[0]) < 0.1
    )


def _powers(steps: Floats, change: Floats) -> Floats:
    if len(steps) < 2:
        return np.zeros(0)
    return np.asarray(np.diff(np.log(change)) / np.diff(np.log(steps)))


def is_kink(pairs: Ladder, sides: OneSided, noise: float) -> bool:
    """Two slopes that differ, and a second difference that falls like the step wherever it can be seen."""
    if not sides.differ or sides.left is None or sides.right is None:
        return False
    strength = abs(sides.right.value - sides.left.value) / 2
    floor = RESOLVED * np.maximum(noise, pairs.rounding)
    visible = strength * pairs.steps > 2 * floor
    if visible.sum() < 2:
        return False
    smallest = np.flatnonzero(visible)[:2]
    ratio = abs(pairs.even[smallest]) / (strength * pairs.steps[smallest])
    return bool((abs(np.log(np.maximum(ratio, 1e-300))) < np.log(1.5)).all())
