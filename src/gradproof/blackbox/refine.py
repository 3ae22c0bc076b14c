"""Adding steps around a region until the extrapolated slope stops improving."""

import numpy as np

from gradproof.blackbox.explore import LOWEST, MAX_PAIRS, Region, informative, learn_hidden_dtype
from gradproof.blackbox.extrapolate import Estimate, Quotients, extrapolated, steady
from gradproof.blackbox.grid import Floats
from gradproof.blackbox.ladder import Ladder, LadderLine, ladder, least_exponent

RUNGS_IN_THE_OPEN = (
    -1,
    1,
    2,
    3,
)  # octaves around the base sampled at once where no larger step is known to fail
RUNGS_BELOW_A_CEILING = (-3, -2, -1, 1, 2)
NEARLY_LINEAR = 1e-2
ENOUGH = 128.0  # units in the last place: nothing worth a call is left to gain
STALE = 2  # additions without gain after which more will not help ...
GOOD = 1e-6  # ... and one is enough where so many digits are right already
GAIN = 0.7
MAX_DESCENTS = 3
CONTRADICTS = 4.0  # times the noise of a difference
TINY = 1e-300  # in place of a slope of zero


def refine(line: LadderLine, region: Region) -> tuple[Ladder, Estimate | None]:
    """The pairs sampled in the end, and the best estimate of the slope they give."""
    exponents = set(region.exponents)
    lowest = max(least_exponent(line), LOWEST)
    exponents |= _first_rungs(line, region, lowest)
    pairs, estimate = _look(line, exponents)
    if estimate is None or estimate.misfit > estimate.error / 2:
        exponents |= _finer(pairs, lowest)
        pairs, estimate = _look(line, exponents)
    for _ in range(MAX_DESCENTS):
        lower = _below_a_contradiction(line, pairs, estimate, region.noise)
        if not lower:
            break
        exponents |= lower
        pairs, estimate = _look(line, exponents)
    stale = 0
    while estimate is not None and len(exponents) < MAX_PAIRS:
        relative = estimate.error / (abs(estimate.value) or TINY)
        if relative <= ENOUGH * pairs.eps or stale >= (1 if relative < GOOD else STALE):
            break
        wanted = _next_exponent(pairs, estimate, exponents, lowest)
        if wanted is None:
            break
        exponents.add(wanted)
        before = estimate.error
        pairs, estimate = _look(line, exponents)
        stale = 0 if estimate is not None and estimate.error < GAIN * before else stale + 1
    if learn_hidden_dtype(line, exponents):
        pairs, estimate = _look(line, exponents)
    return pairs, estimate


def _below_a_contradiction(
    line: LadderLine, pairs: Ladder, estimate: Estimate | None, noise: float
) -> set[int]:
    """Steps for a window of their own, where smaller steps contradict this one by more than noise explains.

    Between the largest step that contradicts and the window the way is halved: a step belongs to the side whose
    slope is closer to its own.
    """
    if estimate is None:
        return set()
    clear = CONTRADICTS * np.maximum(noise, pairs.rounding) / pairs.steps
    off = abs(pairs.central - estimate.value) - estimate.truncation - estimate.noise_error > clear
    witnesses = np.flatnonzero((off & ~pairs.flat)[: estimate.low])
    if not len(witnesses):
        return set()
    witness = int(witnesses[-1])
    below, above = pairs.exponents[witness], pairs.exponents[estimate.low]
    slope = float(pairs.central[witness])
    tried = set()
    while above - below > 1:
        middle = (below + above) // 2
        tried.add(middle)
        seen = float(ladder(line, [middle]).central[0])
        if abs(seen - slope) < abs(seen - estimate.value):
            below = middle
        else:
            above = middle
    return tried | {below - k for k in range(3) if below - k >= least_exponent(line)}


def _finer(pairs: Ladder, lowest: int) -> set[int]:
    """Steps around the largest one that agrees with those below it, for when no larger window fits these."""
    if len(pairs.steps) < 2:
        return set()
    agreeing = np.flatnonzero(steady(central_quotients(pairs)))
    if not len(agreeing):
        return set()
    base = pairs.exponents[int(agreeing[-1])]
    return {base + k for k in RUNGS_BELOW_A_CEILING if base + k >= lowest}


def _first_rungs(line: LadderLine, region: Region, lowest: int) -> set[int]:
    """Upwards from a base that looks almost linear, downwards from one that does not."""
    pairs = informative(line, set(region.exponents))
    k = pairs.exponents.index(region.base) if region.base in pairs.exponents else 0
    curved = k > 0 and abs(pairs.central[k] - pairs.central[k - 1]) > NEARLY_LINEAR * abs(pairs.central[k])
    open_above = region.ceiling is None and not curved
    rungs = {region.base + e for e in (RUNGS_IN_THE_OPEN if open_above else RUNGS_BELOW_A_CEILING)}
    return {e for e in rungs if lowest <= e and (region.ceiling is None or e < region.ceiling)}


def _look(line: LadderLine, exponents: set[int]) -> tuple[Ladder, Estimate | None]:
    pairs = ladder(line, exponents).both()
    return pairs, extrapolated(sided_quotients(pairs, pairs.right) if line.side else central_quotients(pairs))


def central_quotients(pairs: Ladder) -> Quotients:
    """Symmetric differences: a power series in h squared, each with noise 1/h."""
    h = pairs.steps
    return Quotients(h, pairs.central, 1 / h, _least_noise(pairs, pairs.central), 2, pairs.flat, pairs.even)


def sided_quotients(pairs: Ladder, y: Floats) -> Quotients:
    """Differences of one side against the centre: a power series in h, each with noise 2/h."""
    return Quotients(pairs.steps, y, 2 / pairs.steps, _least_noise(pairs, y), 1, pairs.flat)


def _least_noise(pairs: Ladder, slopes: Floats) -> Floats:
    """Rounding of the value, and of the argument wherever the function starts by scaling it."""
    return np.maximum(pairs.rounding, 0.5 * pairs.eps * pairs.size * abs(slopes))


def _next_exponent(pairs: Ladder, estimate: Estimate, taken: set[int], lowest: int) -> int | None:
    """Noise asks for larger steps, truncation for smaller ones; gaps inside the window come first."""
    low, high = pairs.exponents[estimate.low], pairs.exponents[estimate.high]
    reach = high + 1
    while reach in taken and reach <= high + 3:
        reach += 1
    upward = list(range(low + 1, reach + 1))
    downward = list(range(high - 1, low - 3, -1))
    order = upward if estimate.noise_error > estimate.truncation else downward
    return next((e for e in order if e not in taken and e >= lowest), None)
