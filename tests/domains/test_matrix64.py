"""Matrix functions of float64 balls hold the exact result for matrices inside the balls of their input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import Ball64, BallDomain64
from gradproof.ops import Arithmetic
from gradproof.ops.eigen import anchors_of

EXACT_BITS = 900


def _matrix(rng: np.random.Generator, n: int, kind: str) -> np.ndarray[Any, Any]:
    a = rng.normal(size=(n, n))
    if kind == "tiny":
        return a * 2.0**-100
    if kind == "huge":
        return a * 2.0**100
    if kind == "graded":
        return a * 2.0 ** rng.integers(-30, 30, (n, n))
    if kind == "nearly singular":
        a[-1] = a[0] + 2.0**-45 * a[-1]
    return a


def _arguments(name: str, a: np.ndarray[Any, Any]) -> list[Any]:
    """The floating-point arguments, then the discrete ones."""
    if name in ("solve", "triangular_solve", "lstsq"):
        return [a, a[:, :1]]
    if name in ("cholesky", "matrix_sqrt"):
        return [a @ a.T]
    if name == "qr":
        return [a, np.ones((1, len(a)), np.int64)]
    if name == "eigh":
        return [a, anchors_of(np.linalg.eigh(a)[1])]
    if name == "svd":
        return [a, anchors_of(np.linalg.svd(a)[2].T)]
    return [a]


NAMES = [
    "solve",
    "triangular_solve",
    "inverse",
    "det",
    "log_abs_det",
    "adjugate",
    "cholesky",
    "qr",
    "eigh",
    "svd",
]


@pytest.mark.parametrize("kind", ["ordinary", "tiny", "huge", "graded", "nearly singular"])
@pytest.mark.parametrize("name", [*NAMES, "lstsq", "pinv", "matrix_sqrt"])
def test_balls_hold_the_exact_value_at_points_inside_their_input(name: str, kind: str) -> None:
    rng = np.random.default_rng(7)
    narrow, wide = Arithmetic(BallDomain64()), Arithmetic(BallDomain(EXACT_BITS))
    for n in (1, 2, 4):
        xs = _arguments(name, _matrix(rng, n, kind))
        reals = [x.dtype.kind == "f" for x in xs]
        rads = [np.abs(x) * 2.0**-60 if is_real else None for x, is_real in zip(xs, reals)]
        balls = [Ball64(x, rad) if rad is not None else x for x, rad in zip(xs, rads)]
        shift = [
            rng.choice([-1.0, 0.0, 1.0], x.shape) for x in xs
        ]  # the ends of the balls, and their middles
        with narrow.domain.active():
            found = getattr(narrow, name)(*balls)
        with wide.domain.active():
            inside = [
                wide.literal(x) + wide.literal(rad) * wide.literal(s) if rad is not None else x
                for x, rad, s in zip(xs, rads, shift)
            ]
            truth = getattr(wide, name)(*inside)
            pairs = zip(found, truth) if isinstance(found, tuple) else [(found, truth)]
            for ball, exact in pairs:
                _assert_holds(ball, exact, name)


def _assert_holds(ball: Ball64, exact: Any, name: str) -> None:
    mid, rad = ball.mid.reshape(-1), ball.radius().reshape(-1)
    for m, r, t in zip(mid, rad, np.asarray(exact, dtype=object).reshape(-1), strict=True):
        assert np.isinf(r) or abs(arb(float(m)) - t).abs_lower() <= arb(float(r)), (name, m, r, t)
