"""Matrix functions of float64 balls: proven in float64 where that suffices, else by way of arbitrary precision."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import flint
import numpy as np
from flint import arb

from gradproof.domains import equations64, matrix
from gradproof.domains.ball import float_ball
from gradproof.domains.ball64 import Ball64, as_ball
from gradproof.domains.flint_matrix import UNKNOWN
from gradproof.ir.types import Array

# The first suffices unless a matrix is nearly singular; the second then may, if the input is known that well.
BITS = (128, 640)
WORST = 2.0**-36  # of the largest entry: a radius beyond it is worth another attempt
MANY = 100  # entries of a matrix, or a stack of them: below, arbitrary precision is as quick and sharper


def through_arb(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel for arrays of `arb` as one for float64 balls; integer arrays are passed on as they are."""

    def enclosed(*xs: Any, **params: Any) -> Any:
        entered = [x if _is_discrete(x) else _enter(as_ball(x)) for x in xs]
        results: Any = ()
        before = flint.ctx.prec
        try:
            for flint.ctx.prec in BITS:
                results = kernel(*entered, **params)
                if _is_known(results):
                    break
        finally:
            flint.ctx.prec = before
        return tuple(map(_leave, results)) if isinstance(results, tuple) else _leave(results)

    return enclosed


def _is_discrete(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "biu"


def _enter(x: Ball64) -> Array:
    def one(mid: float, rad: float) -> arb:
        return arb(mid, rad) if math.isfinite(rad) else UNKNOWN

    return np.asarray(np.frompyfunc(one, 2, 1)(x.mid, x.radius()), dtype=object)


def _leave(x: Array) -> Ball64:
    mid, rad = np.frompyfunc(float_ball, 1, 2)(np.asarray(x, dtype=object))
    return Ball64(np.asarray(mid, np.float64), np.asarray(rad, np.float64))


def _is_known(results: Any) -> bool:
    parts = results if isinstance(results, tuple) else (results,)
    return all(entry.is_finite() for part in parts for entry in np.asarray(part, dtype=object).reshape(-1))


def quickly(prove: Callable[..., Ball64 | None], kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Float64 products where there is much to do and they prove enough, else arbitrary precision."""

    def enclosed(*xs: Any) -> Any:
        balls = [as_ball(x) for x in xs]
        y = prove(*balls) if balls[0].size >= MANY else None
        return kernel(*xs) if y is None or (_are_exact(balls) and not _is_sharp(y)) else y

    return enclosed


def _are_exact(balls: list[Ball64]) -> bool:
    return not any(x.radius().any() for x in balls)


def _is_sharp(y: Ball64) -> bool:
    """Of exact numbers arbitrary precision knows everything; of others it knows no more than float64."""
    return bool((y.radius() <= WORST * np.maximum(np.max(np.abs(y.mid), initial=0.0), 1.0)).all())


# A Fourier transform is complex, and these balls are real: the engine climbs to arbitrary precision for it.
KERNELS: dict[str, Callable[..., Any]] = {
    name: through_arb(kernel) for name, kernel in matrix.KERNELS.items() if name != "fft"
}
for _prove in (equations64.solve, equations64.inverse, equations64.cholesky, equations64.log_abs_det):
    KERNELS[_prove.__name__] = quickly(_prove, KERNELS[_prove.__name__])
