"""How a function of balls keeps its digits: more bits inside, and the mean value theorem on wide balls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flint import arb, ctx

Kernel = Callable[..., Any]

NAN = arb("nan")  # no information: outside the domain of a function, or on a pole

GUARD_BITS = 16  # the few bits that a well behaved function loses
ATTEMPTS = 6  # the last one works with 32 times the bits asked for
ATTEMPTS_WITHOUT_VALUE = 3  # a point outside the domain has no value, however many bits are spent


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Work with so many bits for a while."""
    before, ctx.prec = ctx.prec, bits
    try:
        yield
    finally:
        ctx.prec = before


def accurate(function: Kernel, *xs: Any) -> Any:
    """The value at exact arguments with all the digits asked for, whatever cancels on the way."""
    wanted = ctx.prec
    bits = wanted + GUARD_BITS
    y = NAN
    for attempt in range(1, ATTEMPTS + 1):
        with precision(bits):
            y = function(*xs)
        finite = y.is_finite()
        if (finite and y.rel_accuracy_bits() >= wanted) or (not finite and attempt == ATTEMPTS_WITHOUT_VALUE):
            break
        bits *= 2
    return y + 0  # rounds to the precision of the caller


def centred(function: Kernel, *slopes: Kernel) -> Kernel:
    """A kernel that is tight on wide balls: the value at the midpoint, and the slopes times the radii.

    The slopes may be any bounds of the true ones over the whole ball, as far as they need be known:
    they only say how far the value spreads.
    """

    def kernel(*xs: Any) -> Any:
        if not all(x.is_finite() for x in xs):
            return NAN
        y = accurate(function, *(x.mid() for x in xs))
        if all(x.is_exact() for x in xs):
            return y
        for x, slope in zip(xs, slopes, strict=True):
            if not x.is_exact():
                y = y + slope(*xs) * (x - x.mid())
        return tighter(function(*xs), y)

    return kernel


def monotone(function: Kernel) -> Kernel:
    """A kernel that is tight on wide balls: all values of a monotone function lie between those at the ends.

    Where the function has poles it is monotone between them; on a ball that holds one it has no value.
    """

    def kernel(x: arb) -> arb:
        if not x.is_finite():
            return NAN
        if x.is_exact():
            return accurate(function, x)
        whole = function(x)
        low, high = (accurate(function, end) for end in (x.mid() - x.rad(), x.mid() + x.rad()))
        if not (whole.is_finite() and low.is_finite() and high.is_finite()):
            return whole
        return tighter(whole, low.union(high))

    return kernel


def tighter(a: arb, b: arb) -> arb:
    """What two enclosures of the same number have in common; one without information adds none."""
    if not a.is_finite():
        return b
    return a.intersection(b) if b.is_finite() else a
