"""Finding the steps at which a function is worth sampling, from no knowledge of its scale."""

from dataclasses import dataclass, replace

import numpy as np

from gradproof.blackbox.grid import Floats, Grid
from gradproof.blackbox.hidden_dtype import hidden_eps
from gradproof.blackbox.ladder import Ladder, LadderLine, ladder, least_exponent
from gradproof.blackbox.staircase import (
    ends_in_a_step,
    learn_grid,
    learn_grid_again,
    learn_grid_of_all,
    repeats,
)

# Scouts stand at these fractions of the bits of the dtype: for float64 at steps 2**-6, -18, -30 and -42 of x.
# The lowest is near the spacing of the numbers, where only noise is left to see.
SCOUTS = (0.115, 0.346, 0.577, 0.808)
STRIDE = 24  # exponents per stride when the scouts see no slope, or nothing but change
STRIDES_INTO_NOISE = 3  # below it the function may have a scale, or may not
FIRST_STRIDE = 4  # around the size of x, where most functions have their scale
PUSH = 6  # exponents per stride when noise hides the slope at the largest step
MAX_PUSHES = 3  # eighteen octaves above the size of x there is nothing left to learn about x
LOWEST, HIGHEST = -190, 170  # beyond 1e-57 and 1e51 no function of a user has its scale
SIGNAL = 64.0  # a change is seen when it exceeds rounding by this factor
AGREEMENT = 0.2  # quotients that agree to one digit are in the region where extrapolation works
BLURRED = 1e-11  # noise of a quotient, relative, from which larger steps promise more digits
BENT = 8.0  # times the noise of two quotients: a difference so large is no noise
NOISE_RANGE_ON_A_GRID = 4.0
NOISE_RANGE = 30.0  # truncation grows a thousandfold from scout to scout, noise does not
LEAST_NOISE_RANGE = 4.0  # however many steps have shown what noise is
NOISE_POWER = 0.2  # of the step: what grows faster from step to step is structure
WIDE = 2.0**-10  # of x: rounding that coarse would leave three digits of the function
FLOAT32_TINY = float(np.finfo(np.float32).tiny)  # below it float32 has fewer and fewer digits
FLOAT32_ROUNDING = 2.0**-19  # of the value: sixteen units in the last place of a float32
MAX_PAIRS = 26  # a function that needs more is not going to be understood by more


@dataclass(frozen=True)
class Region:
    """Where the difference quotients settle: the largest step that agrees with all smaller ones."""

    exponents: tuple[int, ...]
    base: int
    ceiling: int | None  # the smallest step known to disagree
    noise: float
    settled: bool  # whether two steps agree at all
    flat: float = (
        0.0  # up to this step the function does not change at all, and no known rounding explains it
    )
    surely_flat: bool = False  # no unknown rounding can explain it either


def explore(line: LadderLine) -> Region:
    """Scouts first; then up where nothing changes, down where nothing but change is seen."""
    exponents = scouts(line)
    if learn_hidden_dtype(line, exponents):
        exponents |= scouts(line)
    if not _sees_signal(ladder(line, [max(exponents)])):
        exponents = _upwards(line, exponents)
    flat, surely = _flat_step(line, exponents)
    if surely:
        return Region(tuple(sorted(exponents)), min(exponents), None, 0.0, True, flat, surely)
    _downwards(line, exponents)
    region = _bracket(line, exponents)
    for _ in range(MAX_PUSHES):
        if _wants_larger(line, region):
            region = _bracket(line, {*region.exponents, region.base + PUSH})
    return replace(region, flat=flat)


def learn_hidden_dtype(line: LadderLine, exponents: set[int]) -> bool:
    """Whether the values turn out to be float32 although they came as float64."""
    pairs = ladder(line, exponents)
    coarse = hidden_eps(np.concatenate([pairs.plus, pairs.minus]))
    if coarse <= line.calls.eps:
        return False
    line.calls.eps = coarse
    return True


def informative(line: LadderLine, exponents: set[int]) -> Ladder:
    """The pairs that exist on both sides, without those small steps that change nothing."""
    pairs = ladder(line, exponents).both()
    return pairs if pairs.flat.all() else pairs.where(~pairs.flat)


def scouts(line: LadderLine) -> set[int]:
    bits = -np.log2(line.calls.eps)
    lowest = max(least_exponent(line), LOWEST)
    return {max(round(-bits * share), lowest) for share in SCOUTS}


def _sees_signal(pairs: Ladder) -> bool:
    change = np.maximum(abs(pairs.plus - pairs.centre), abs(pairs.minus - pairs.centre))
    return bool((~(change <= SIGNAL * pairs.rounding)).any())


def _upwards(line: LadderLine, exponents: set[int]) -> set[int]:
    """Strides up until the function changes, then back by halves to the scale of the change."""
    exponents = set(exponents)
    top = max(exponents)
    strides = [FIRST_STRIDE] * 3 + [STRIDE] * ((HIGHEST - top) // STRIDE)
    for stride in strides:
        top += stride
        exponents.add(top)
        if _sees_signal(ladder(line, [top])):
            return exponents | _back_to_the_change(line, top - stride, top)
    return exponents


def _back_to_the_change(line: LadderLine, quiet: int, loud: int) -> set[int]:
    """Halve the way between a step that changes nothing and one that changes much, or leaves the domain."""
    tried = set()
    while loud - quiet > 3:
        middle = (quiet + loud) // 2
        tried.add(middle)
        pair = ladder(line, [middle])
        if not _sees_signal(pair):
            quiet = middle
        elif len(pair.both().steps):
            break
        else:
            loud = middle
    return tried


def _flat_step(line: LadderLine, exponents: set[int]) -> tuple[float, bool]:
    """The largest step that changes nothing, 0 where rounding explains it; and if that is sure."""
    while True:
        pairs = ladder(line, exponents).both()
        if not len(pairs.steps) or not (pairs.flat[0] or repeats(pairs)):
            return 0.0, False
        lower = min(exponents) - STRIDE
        if pairs.flat[0] and not line.size and lower >= LOWEST:
            # At zero nothing tells how small a feature may be.
            exponents.add(lower)
            continue
        if pairs.flat.all():
            return float(pairs.steps[-1]), True
        if learn_grid(line, pairs):
            return float(pairs.steps[pairs.flat].max(initial=0.0)), False
        if not pairs.flat[0]:
            return 0.0, False
        first = int(np.argmin(pairs.flat))
        flat, step = float(pairs.steps[first - 1]), float(pairs.steps[first])
        change = float(max(abs(pairs.plus[first] - pairs.centre), abs(pairs.minus[first] - pairs.centre)))
        if change * flat / step <= 4 * pairs.rounding[first]:
            return 0.0, False
        gap = pairs.exponents[first] - pairs.exponents[first - 1]
        if gap <= 1 or len(exponents) >= MAX_PAIRS:
            break
        exponents.add(pairs.exponents[first - 1] + gap // 2)
    if change <= SIGNAL * max(line.calls.eps * abs(pairs.centre), FLOAT32_TINY):
        return 0.0, False
    if not line.calls.whole and ends_in_a_step(line, step):
        line.grid = Grid(change)
        return flat, False
    if learn_grid_of_all(line):
        return flat, False
    if flat > WIDE * line.size and change > FLOAT32_ROUNDING * abs(pairs.centre):
        return flat, True
    exponents.update(range(pairs.exponents[first], pairs.exponents[first] + 6))
    if learn_hidden_dtype(line, exponents):
        return 0.0, False
    # Flat, or values on a grid that nothing declares. Then the first change bounds the spacing of the grid.
    line.grid = Grid(change)
    return flat, False


def _downwards(line: LadderLine, exponents: set[int]) -> None:
    """Strides down while the two smallest steps disagree: the scale of the function may be far below."""
    lowest = max(least_exponent(line), LOWEST)
    if line.grid is not None:
        _above_the_flat(line, exponents)
    if not _settles(informative(line, exponents)) and line.grain > 0 and lowest < min(exponents) - 2:
        exponents.add(lowest)
    for stride in range((min(exponents) - lowest) // STRIDE):
        pairs = informative(line, exponents)
        if _settles(pairs) or (stride >= STRIDES_INTO_NOISE and is_noise(pairs)):
            break
        exponents.add(min(exponents) - STRIDE)


def _above_the_flat(line: LadderLine, exponents: set[int]) -> None:
    """Halve the way from the last step that changes nothing to the first that does, while that one stands alone."""
    while len(exponents) < MAX_PAIRS and not _settles(informative(line, exponents)):
        pairs = ladder(line, exponents).both()
        first = int(np.argmin(pairs.flat)) if len(pairs.steps) else 0
        if first == 0 or pairs.exponents[first] - pairs.exponents[first - 1] <= 1:
            return
        exponents.add((pairs.exponents[first] + pairs.exponents[first - 1]) // 2)


def _settles(pairs: Ladder) -> bool:
    """Whether the two smallest steps agree as far as rounding lets them."""
    return len(pairs.steps) > 1 and _agree(pairs, 1, 0.0)


def deviations(pairs: Ladder) -> Floats:
    """What there is at each step, but the largest, beside the slope and curvature of the next larger one."""
    h, d = pairs.steps, pairs.central
    slope_part = abs(pairs.odd[:-1] - d[1:] * h[:-1])
    curved_part = abs(pairs.even[:-1] - pairs.even[1:] * (h[:-1] / h[1:]) ** 2)
    return np.maximum(slope_part, curved_part)


def noise_of(pairs: Ladder) -> float:
    """The noise of single values, from the smallest steps: what there is beside slope and curvature."""
    if len(pairs.steps) < 2:
        return float(pairs.rounding.max(initial=0.0))
    seen = deviations(pairs)
    noise = max(float(seen[0]), float(pairs.rounding[0]))
    # On a grid the noise is known from its spacing; a first deviation that is small by luck does not count.
    growth = NOISE_RANGE if pairs.grid is None else NOISE_RANGE_ON_A_GRID
    for n_seen, sample in enumerate(seen[1:], start=1):
        # Many steps that show the same noise leave little room for more of it at the next.
        if sample > max(growth / n_seen, LEAST_NOISE_RANGE) * noise:
            break
        noise = max(noise, float(sample))
    return noise


def is_noise(pairs: Ladder) -> bool:
    """Whether what is left at the smallest steps is the same at two of them; structure would fall with the step."""
    seen = deviations(pairs)[:4]
    growth = (pairs.steps[1 : len(seen)] / pairs.steps[: len(seen) - 1]) ** NOISE_POWER
    clear = seen[:-1] > pairs.rounding[: len(seen) - 1]
    return bool((clear & (seen[1:] <= growth * seen[:-1])).any())


def _bracket(line: LadderLine, exponents: set[int]) -> Region:
    """Halve the gap between the largest step that agrees and the smallest that does not, to three octaves."""
    exponents = set(exponents)
    while True:
        pairs = informative(line, exponents)
        if learn_grid_again(line):
            pairs = informative(line, exponents)
        if not len(pairs.steps):
            return Region(tuple(sorted(exponents)), max(exponents), None, 0.0, False)
        noise = noise_of(pairs)
        top = _largest_agreeing(pairs, noise)
        base = pairs.exponents[top]
        above = [e for e in exponents if e > base]
        if not above or min(above) - base <= 3 or len(exponents) >= MAX_PAIRS:
            return Region(tuple(sorted(exponents)), base, min(above, default=None), noise, top > 0)
        exponents.add((base + min(above)) // 2)


def _largest_agreeing(pairs: Ladder, noise: float) -> int:
    return next(
        (k - 1 for k in range(1, len(pairs.steps)) if not _agree(pairs, k, noise)), len(pairs.steps) - 1
    )


def _agree(pairs: Ladder, k: int, noise: float) -> bool:
    """Whether step k shows the slope that the next smaller step shows, and the curvature where it matters."""
    h, d, even = pairs.steps, pairs.central, pairs.even
    coarse = float(np.sum(pairs.rounding[k - 1 : k + 1] / h[k - 1 : k + 1]))
    blur = max(noise / h[k - 1], pairs.eps * float(pairs.largest[k]) / h[k - 1], coarse)
    allowed = 4 * blur + AGREEMENT * max(abs(d[k]), abs(d[k - 1]))
    # Second differences, in the units of a slope: at a rounded corner they betray the scale, slopes do not.
    bent = even[k] * (h[k - 1] / h[k]) ** 2
    bend_allowed = allowed * h[k - 1] + max(abs(even[k - 1]), abs(bent)) / 2
    return bool(abs(d[k] - d[k - 1]) <= allowed and abs(even[k - 1] - bent) <= bend_allowed)


def _wants_larger(line: LadderLine, region: Region) -> bool:
    if region.ceiling is not None or len(region.exponents) >= MAX_PAIRS or region.base + PUSH > HIGHEST:
        return False
    pairs = informative(line, {e for e in region.exponents if e <= region.base})
    if not len(pairs.steps):
        return False
    blur = np.maximum(region.noise, pairs.rounding) / pairs.steps
    if len(blur) > 1 and abs(pairs.central[-1] - pairs.central[-2]) > BENT * (blur[-1] + blur[-2]):
        return False  # the function bends within this step, so a larger one bends it more
    return bool(blur[-1] > BLURRED * max(abs(pairs.right[-1]), abs(pairs.left[-1])))
