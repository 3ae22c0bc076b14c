"""Equations proven with float64 products hold the exact solution, sharply, or say nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb, ctx

from gradproof.domains import equations64, matrix
from gradproof.domains.ball64 import Ball64

EXACT_BITS = 600
Array = np.ndarray[Any, Any]

PROOFS = {
    "solve": equations64.solve,
    "inverse": equations64.inverse,
    "cholesky": equations64.cholesky,
    "log_abs_det": equations64.log_abs_det,
}
CONDITIONS = {"easy": 1.0, "hard": 1e5}  # of the matrix
WIDTHS = {"exact": 0.0, "rounded": 2.0**-53, "wide": 2.0**-36}  # of the balls, relative


@pytest.fixture(autouse=True)
def _exactly() -> Any:
    before, ctx.prec = ctx.prec, EXACT_BITS
    yield
    ctx.prec = before


def _arguments(name: str, n: int, condition: float, lead: tuple[int, ...] = ()) -> list[Array]:
    rng = np.random.default_rng(n)
    q = np.linalg.qr(rng.normal(size=(*lead, n, n)))[0]
    a = q * np.geomspace(1.0, condition, n) @ (np.swapaxes(q, -1, -2) if name == "cholesky" else q)
    a = (a + np.swapaxes(a, -1, -2)) / 2 if name == "cholesky" else a
    return [a, rng.normal(size=(*lead, n, 3))] if name == "solve" else [a]


def _exact(x: Array) -> Array:
    return np.asarray(np.frompyfunc(arb, 1, 1)(x), dtype=object)


def _truth(name: str, xs: list[Array]) -> Array:
    return np.asarray(matrix.KERNELS[name](*xs), dtype=object)


def _contains(y: Ball64, truth: Array) -> bool:
    off = np.abs(truth - _exact(y.mid)) - _exact(y.radius())
    return all(bool(entry <= 0) or entry.contains(0) for entry in np.asarray(off, dtype=object).flat)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("name", PROOFS)
def test_the_ball_holds_the_solution_for_matrices_inside(name: str, condition: str, width: str) -> None:
    xs = _arguments(name, 12, CONDITIONS[condition])
    balls = [Ball64(x, np.abs(x) * WIDTHS[width] if WIDTHS[width] else None) for x in xs]
    y = PROOFS[name](*balls)
    assert y is not None
    rng = np.random.default_rng(1)
    for _ in range(4):
        shifts = [rng.choice([-1.0, 0.0, 1.0], x.shape) for x in xs]
        shifts = [np.tril(s) + np.tril(s, -1).T if name == "cholesky" else s for s in shifts]
        inside = [_exact(x.mid) + _exact(x.radius() * s) for x, s in zip(balls, shifts)]
        assert _contains(y, _truth(name, inside))


@pytest.mark.parametrize("name", PROOFS)
def test_the_ball_of_an_exact_matrix_is_sharp(name: str) -> None:
    (y, sharp) = (PROOFS[name](*map(Ball64, _arguments(name, 40, 1e3))), 2.0**-38)
    assert y is not None
    assert y.radius().max() <= sharp * np.abs(y.mid).max()


@pytest.mark.parametrize("name", PROOFS)
def test_a_radius_that_is_a_thousand_times_smaller_would_be_caught(name: str) -> None:
    """The bounds are not so loose that the tests above could not see a mistake in them."""
    xs = _arguments(name, 12, 1e5)
    y = PROOFS[name](*(Ball64(x, np.abs(x) * 2.0**-36) for x in xs))
    assert y is not None
    moved = [_exact(x) + _exact(np.abs(x) * 2.0**-36) for x in xs]
    assert not _contains(Ball64(y.mid, y.radius() / 1000.0), _truth(name, moved))


@pytest.mark.parametrize("name", PROOFS)
def test_stacks_are_solved_matrix_by_matrix(name: str) -> None:
    xs = _arguments(name, 4, 10.0, lead=(2, 3))
    y = PROOFS[name](*map(Ball64, xs))
    assert y is not None
    assert _contains(y, _truth(name, list(map(_exact, xs))))


@pytest.mark.parametrize("name", PROOFS)
def test_nothing_is_claimed_of_a_matrix_that_may_be_singular(name: str) -> None:
    xs = _arguments(name, 12, 1e5)
    too_wide = [Ball64(x, np.full(x.shape, 2.0 * np.abs(x).max())) for x in xs]
    assert PROOFS[name](*too_wide) is None
    singular = np.ones((12, 12))
    assert PROOFS[name](Ball64(singular), *map(Ball64, xs[1:])) is None
    unknown = Ball64(xs[0], np.full(xs[0].shape, np.inf))
    assert PROOFS[name](unknown, *map(Ball64, xs[1:])) is None
