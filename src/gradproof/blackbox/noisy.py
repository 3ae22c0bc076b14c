"""Where to ask a function with noise: outward while that sharpens its slope, then evenly within the best window."""

import numpy as np

from gradproof.blackbox.explore import Region
from gradproof.blackbox.fit import Fit, Samples, best, fits, left_over
from gradproof.blackbox.ladder import Ladder, LadderLine, ladder, unit_of
from gradproof.blackbox.staircase import learn_grid_again

BUDGET = 30  # evaluations in all, the point itself included
LEAST = 8  # that a fit is given, however many were spent to find where
MAX_DESCENTS = 4
CONTRADICTS = 4.0  # times the noise of a difference
OUTWARD = 1.6180339887  # from one window to the next; no power of it is a power of two
FIRST_SHARES = (0.7861513777, 0.3819660113)
SHARP = 1e-10  # relative: nothing worth a call is left to gain
VAGUE = 0.3  # of the slopes seen: with such a bar a window tells nothing
SHRINKING = (0.1, 0.7)
NEAR = 4.0  # times the best window: a step beyond it that was tried and did not help


def noisy_slope(line: LadderLine, region: Region) -> Fit | None:
    """The slope of the smooth function beneath the noise, None where no window tells it."""
    top = _trusted_top(line, region)
    budget = max(BUDGET, len(line.known) + LEAST)
    _ask(line, [share * top for share in (1.0, *FIRST_SHARES)])
    found = fits(samples_of(line), region.noise)
    for _ in range(BUDGET):
        winner = best(found)
        if len(line.known) + 2 > budget or (winner is not None and winner.error <= SHARP * winner.scale):
            break
        if winner is None or winner.error > VAGUE * winner.scale:
            top *= _shrinking(samples_of(line), top, region.noise)
            if top <= 8 * line.grain:
                break
            _ask(line, [top])
        else:
            _ask(line, [_next_step(line, winner)])
        found = fits(samples_of(line), region.noise)
    return best(found)


def _shrinking(samples: Samples, top: float, noise: float) -> float:
    """The share of a window that no polynomial fits at which what it leaves over would fall to the noise."""
    left, degree = left_over(samples, top)
    noise = max(noise, float(samples.rounding[0]))
    share = (noise / left) ** (1 / (degree + 1)) if left > noise else 1.0
    return float(np.clip(share, *SHRINKING))


def samples_of(line: LadderLine) -> Samples:
    """Every finite value that was asked for, by distance from the point."""
    learn_grid_again(line)
    steps = np.array(sorted(line.known, key=abs))
    values = np.array([line.value(step) for step in steps.tolist()])
    steps, values = steps[np.isfinite(values)], values[np.isfinite(values)]
    rounding = line.calls.eps * abs(values)
    return Samples(
        steps, values, rounding if line.grid is None else np.maximum(rounding, line.grid.at(values))
    )


def _ask(line: LadderLine, steps: list[float]) -> None:
    sides = (line.side,) if line.side else (1, -1)
    wanted = [line.snapped(side * step) for step in steps for side in sides]
    line.fetch(wanted)
    for step in wanted:
        line.value(step)


def _trusted_top(line: LadderLine, region: Region) -> float:
    """The region's step, or a smaller one where smaller steps contradict it by more than noise explains."""
    pairs = ladder(line, region.exponents).both()
    pairs = pairs if pairs.flat.all() else pairs.where(~pairs.flat)
    exponent = region.base
    for _ in range(MAX_DESCENTS):
        lower = _without_contradiction(line, pairs, exponent, region.noise)
        if lower == exponent:
            break
        exponent = lower
    return unit_of(line) * 2.0**exponent


def _without_contradiction(line: LadderLine, pairs: Ladder, exponent: int, noise: float) -> int:
    """An exponent on the same side of the change as the largest step that contradicts this one.

    Truncation falls to a quarter from a step to its half. Where the half is as far from smaller steps as the
    whole, both stand on another part of the function.
    """
    window = ladder(line, [exponent - 1, exponent])
    half, whole = (float(slope) for slope in window.central)
    if not np.isfinite(half + whole):
        return exponent
    below = np.array([e < exponent - 1 for e in pairs.exponents], dtype=bool)
    blur = CONTRADICTS * np.maximum(noise, pairs.rounding) / pairs.steps
    allowed = blur + abs(whole - half) + CONTRADICTS * max(noise, float(window.rounding[0])) / window.steps[0]
    witnesses = np.flatnonzero(below & (abs(pairs.central - half) > allowed))
    if not len(witnesses):
        return exponent
    last = int(witnesses[-1])
    low, high, slope = pairs.exponents[last], exponent - 1, float(pairs.central[last])
    while high - low > 1:
        middle = (low + high) // 2
        seen = float(ladder(line, [middle]).central[0])
        low, high = (middle, high) if abs(seen - slope) < abs(seen - half) else (low, middle)
    return low


def _next_step(line: LadderLine, winner: Fit) -> float:
    """Outward where noise is the larger part of the error and nothing was tried there; else into the widest gap."""
    sizes = np.unique(np.abs(np.array(list(line.known))))
    beyond = sizes[(sizes > 1.01 * winner.width) & (sizes < NEAR * winner.width)]
    if winner.noise_error > winner.bias and not len(beyond):
        return OUTWARD * winner.width
    inside = np.concatenate([[0.0], sizes[(sizes > 0) & (sizes <= winner.width)] / winner.width])
    # By angle, because a slope is told best by values near both ends of the window.
    angles = np.arcsin(np.minimum(inside, 1.0))
    gap = int(np.argmax(np.diff(angles)))
    return winner.width * float(np.sin((angles[gap] + angles[gap + 1]) / 2))
