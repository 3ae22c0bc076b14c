"""Functions applied entry by entry to float64 balls: vectorised where there is a proof, else in `arb`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
from flint import arb

from gradproof.clock import tick
from gradproof.domains.ball import ENTRYWISE, float_ball
from gradproof.domains.ball64 import Ball64, as_ball
from gradproof.domains.elementary64 import FUNCTIONS
from gradproof.domains.enclosure64 import Elementary, enclose
from gradproof.domains.whole_powers import with_products
from gradproof.ir.shapes import jointly
from gradproof.ir.types import Array

FEW = 64  # below this many entries calls of `arb` are cheaper than the passes over a vector
A_FEW = 64  # entries between two looks at the clock: the costliest functions take a millisecond each
ARB_BITS = 80  # enough for a float64 midpoint with a radius of a few ulp


def kernel_of(name: str) -> Callable[..., Ball64] | None:
    """The function of this name on balls; None if there is none."""
    fallback = _through_arb(ENTRYWISE[name]) if name in ENTRYWISE else None
    if name == "power" and fallback is not None:
        return with_products(fallback, _parts)
    if name == "ndtr" and fallback is not None:
        return _normal(fallback)
    return _vectorised(FUNCTIONS[name], fallback) if name in FUNCTIONS else fallback


def _normal(fallback: Callable[..., Ball64]) -> Callable[..., Ball64]:
    """The normal distribution: half of erfc(-x/sqrt(2))."""
    tail = _vectorised(FUNCTIONS["erfc"], _through_arb(ENTRYWISE["erfc"]))
    # IEEE 754 rounds the square root correctly: to within half of the last place of a number below 1.
    root = Ball64(-np.sqrt(np.asarray(0.5)), np.asarray(2.0**-54))

    def kernel(x: Any) -> Ball64:
        x = as_ball(x)
        return fallback(x) if x.size < FEW else tail(x * root) * 0.5

    return kernel


def _parts(x: Any) -> tuple[Array, Array]:
    ball = as_ball(x)
    return ball.mid, ball.radius()


def _vectorised(function: Elementary, fallback: Callable[..., Ball64] | None) -> Callable[..., Ball64]:
    """The proven float64 function; the few entries outside its range are done in `arb`."""

    def kernel(x: Any) -> Ball64:
        x = as_ball(x)
        if fallback is not None and x.size < FEW:
            return fallback(x)
        y = Ball64(*enclose(function, x.mid, x.rad))
        outside = ~np.isfinite(y.radius()) & np.isfinite(x.radius())
        if fallback is not None and outside.any():
            patch = fallback(Ball64(x.mid[outside], x.radius()[outside]))
            y.mid[outside], y.radius()[outside] = patch.mid, patch.radius()
        return y

    return kernel


def _through_arb(function: Callable[..., Any]) -> Callable[..., Ball64]:
    """An entrywise function done ball by ball in arbitrary precision: slow, and rigorous for every function."""

    def kernel(*xs: Any, **params: Any) -> Ball64:
        balls = jointly(*(part for x in xs for part in (as_ball(x).mid, as_ball(x).radius())))
        mid, rad = np.empty(balls[0].shape), np.empty(balls[0].shape)
        before, flint.ctx.prec = flint.ctx.prec, ARB_BITS
        try:
            for place, parts in enumerate(zip(*(part.reshape(-1).tolist() for part in balls))):
                if place % A_FEW == 0:
                    tick()
                entries = [
                    arb(m, r) if math.isfinite(r) else arb("nan") for m, r in zip(parts[::2], parts[1::2])
                ]
                mid.reshape(-1)[place], rad.reshape(-1)[place] = float_ball(function(*entries, **params))
        finally:
            flint.ctx.prec = before
        return Ball64(mid, rad)

    return kernel
