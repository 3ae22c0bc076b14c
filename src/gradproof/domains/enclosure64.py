"""How a float64 function with a proven error becomes values with a mask, and enclosures over balls.

A function is described once, as an `Elementary`; everything here works on blocks that fit the processor's
cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gradproof.domains.fused64 import each_block
from gradproof.domains.rounding64 import TINY, Bound, up
from gradproof.ir.types import Array

# Entries per block, measured best: with fewer NumPy's call overhead shows, with more the cache overflows.
BLOCK = 16384
LARGEST = float(np.finfo(np.float64).max)

_HARMLESS = 0.5  # stands in for entries outside a function's range; what comes of it is dropped
_SLACK = 64  # roundings allowed in a slope and in the sum that makes a radius; 2^-46 of a radius is no loss
_BENT = 0.25  # up to this bend times radius the slope at the midpoint decides, beyond it the ends of the ball

Kernel = Callable[[Array], tuple[Array, Array]]
Spread = Callable[[Array, Array, Array, Array], Array]
Ends = Callable[[Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Elementary:
    """A function of one variable in float64, with what is proven about it.

    `kernel` gives f(x) within `error` and an upper bound of |f'(x)|, a relative 2^-48 aside, for
    low <= x <= high; NaN says that it makes no claim. `spread(mid, rad, y, slope)` bounds |f(x) - f(mid)|
    over the ball, rounding aside, and is infinite where it cannot. `ends` gives the ends of a wide ball,
    between which the function is monotone.
    """

    kernel: Kernel
    error: Bound
    spread: Spread
    low: float = -LARGEST
    high: float = LARGEST
    ends: Ends | None = None


def evaluate(f: Elementary, x: Array) -> tuple[Array, Array]:
    """Values of f within `f.error`, and a mask of the entries for which that is claimed; others are NaN."""
    flat = np.ascontiguousarray(x, np.float64).reshape(-1)
    y = np.empty_like(flat)
    with np.errstate(all="ignore"):
        for part in _blocks(flat.size):
            y[part] = _inside(f, flat[part])[0]
    values = y.reshape(np.shape(x))
    return values, ~np.isnan(values)


def enclose(f: Elementary, mid: Array, rad: Array | None) -> tuple[Array, Array]:
    """Balls that hold f(x) for every x within `rad` of `mid`; None means exact inputs.

    Where nothing is proven (outside the range of f, or a ball too wide) the midpoint is 0 and the radius
    infinite.
    """
    shape = np.shape(mid)
    mids = np.ascontiguousarray(mid, np.float64).reshape(-1)
    rads = None if rad is None else np.ascontiguousarray(np.broadcast_to(rad, shape), np.float64).reshape(-1)
    y, radius = np.empty_like(mids), np.empty_like(mids)
    with np.errstate(all="ignore"):

        def fill(part: slice) -> None:
            y[part], radius[part] = _enclose_block(f, mids[part], None if rads is None else rads[part])

        each_block(fill, _blocks(mids.size))
    return y.reshape(shape), radius.reshape(shape)


def straight_ends(mid: Array, rad: Array) -> tuple[Array, Array]:
    """Numbers at or outside both ends of a ball; an exact ball at the edge of a range stays within it."""
    low, high = np.nextafter(mid - rad, -np.inf), np.nextafter(mid + rad, np.inf)
    return np.where(rad == 0.0, mid, low), np.where(rad == 0.0, mid, high)


def folded_ends(mid: Array, rad: Array) -> tuple[Array, Array]:
    """The same for |x|, for an even function that grows with |x|."""
    low, high = straight_ends(np.abs(mid), rad)
    return np.maximum(low, 0.0), high


def bending(bend: Callable[[Array, Array], Array | float]) -> Spread:
    """The spread of a function with |f''| <= L |f'| over the ball, where L = bend(mid, rad).

    Then |f'(x)| <= |f'(mid)| exp(L |x - mid|), so that f moves by at most |f'(mid)| (exp(L rad) - 1) / L.
    With s = L rad <= 1/4 this is |f'(mid)| rad (1 + s/2 + s^2/6 + ...) <= |f'(mid)| rad (1 + s/2 + s^2/5).
    """

    def spread(mid: Array, rad: Array, y: Array, slope: Array) -> Array:
        del y
        s = rad * bend(mid, rad)
        growth = s * 0.2
        growth += 0.5
        growth *= s
        growth += 1.0
        growth *= rad
        growth *= slope
        if not (s.min() >= 0.0 and s.max() <= _BENT):
            growth[~((s >= 0.0) & (s <= _BENT))] = np.inf
        return growth

    return spread


def steady(bend: float) -> Spread:
    """The spread of a function whose |f''| is at most `bend` times |f'| everywhere."""
    return bending(lambda mid, rad: bend)


def _blocks(size: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, size, BLOCK))


def _inside(f: Elementary, x: Array) -> tuple[Array, Array]:
    """The kernel, with NaN where x is outside the range in which it may be asked."""
    if x.min() >= f.low and x.max() <= f.high:
        return f.kernel(x)
    inside = (x >= f.low) & (x <= f.high)
    y, slope = f.kernel(np.where(inside, x, _HARMLESS))
    return np.where(inside, y, np.nan), slope


def _enclose_block(f: Elementary, mid: Array, rad: Array | None) -> tuple[Array, Array]:
    y, slope = _inside(f, mid)
    radius = f.error.error(mid, y)
    if rad is not None:
        radius += f.spread(mid, rad, y, slope)
        radius += TINY  # the product of slope and radius may have underflowed
    radius = up(radius, _SLACK)
    open_ = ~(radius < np.inf)
    if open_.any():
        y, radius = np.where(open_, 0.0, y), np.where(open_, np.inf, radius)
        if f.ends is not None and rad is not None:
            y[open_], radius[open_] = _enclose_by_ends(f, *f.ends(mid[open_], rad[open_]))
    return y, radius


def _enclose_by_ends(f: Elementary, low: Array, high: Array) -> tuple[Array, Array]:
    """A monotone function lies between its values at the two ends, widened by their errors."""
    at_low, at_high = _inside(f, low)[0], _inside(f, high)[0]
    error = up(np.maximum(f.error.error(low, at_low), f.error.error(high, at_high)), _SLACK)
    y = 0.5 * at_low + 0.5 * at_high
    # Distances of the ends, not half their difference: so the rounding of y is counted as well.
    radius = up(np.maximum(np.abs(at_low - y), np.abs(at_high - y)) + error, _SLACK)
    known = radius < np.inf
    return np.where(known, y, 0.0), np.where(known, radius, np.inf)
