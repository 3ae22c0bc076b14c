"""Enclosures over float64 balls hold every value, are tight, and say so where nothing is proven."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import flint
import numpy as np
import pytest
from flint import arb

from gradproof.domains.elementary64 import FUNCTIONS
from gradproof.domains.enclosure64 import BLOCK, Elementary, enclose
from tests.domains.test_elementary64 import EXACT, interval

Array = np.ndarray[Any, Any]

WHERE_IN_THE_BALL = (-1.0, -0.4, 0.3, 1.0)
MONOTONE = [name for name, function in FUNCTIONS.items() if function.ends is not None]


@pytest.fixture(autouse=True)
def _precision() -> Any:
    with flint.ctx.workprec(256):
        yield


def balls(name: str, count: int = 1500) -> tuple[Array, Array]:
    """Midpoints of all sizes with radii from far below an ulp to far above the midpoint, and exact ones."""
    rng = np.random.default_rng(21)
    mid = rng.choice([-1.0, 1.0], count) * 10.0 ** rng.uniform(-12.0, 2.5, count)
    mid[: count // 2] = rng.uniform(-4.0, 4.0, count // 2)
    rad = 10.0 ** rng.uniform(-25.0, 2.0, count)
    rad[::5] = 10.0 ** rng.uniform(-1.5, 0.5, len(rad[::5]))
    rad[::7] = 0.0
    if FUNCTIONS[name].low >= 0.0:
        mid = FUNCTIONS[name].low + np.abs(mid)
    if FUNCTIONS[name].high <= 1.0:
        mid, rad = mid % 1.0, rad % 0.9  # else few balls would stay within -1 and 1
    return mid, rad


def escapes(name: str, function: Elementary, mid: Array, rad: Array) -> int:
    """How many of the tried points of the balls have their value outside the enclosure."""
    y, radius = enclose(function, mid, rad)
    count = 0
    for m, r, centre, width in zip(mid.tolist(), rad.tolist(), y.tolist(), radius.tolist(), strict=True):
        if width < np.inf:
            values = [EXACT[name](arb(m) + arb(r) * arb(t)) for t in WHERE_IN_THE_BALL]
            count += sum(not abs(value - centre) <= width for value in values)
    return count


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_value_over_the_ball_is_inside(name: str) -> None:
    assert escapes(name, FUNCTIONS[name], *balls(name)) == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_spread_that_is_a_tenth_too_small_is_noticed(name: str) -> None:
    true = FUNCTIONS[name].spread
    planted = replace(FUNCTIONS[name], spread=lambda *ball: 0.9 * true(*ball))
    assert escapes(name, planted, *balls(name)) > 0


@pytest.mark.parametrize("name", MONOTONE)
def test_ends_that_do_not_reach_the_ball_s_are_noticed(name: str) -> None:
    ends = FUNCTIONS[name].ends
    assert ends is not None
    planted = replace(FUNCTIONS[name], ends=lambda mid, rad: ends(mid, 0.9 * rad))
    assert escapes(name, planted, *balls(name)) > 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_narrow_balls_stay_within_a_tenth_of_the_best_radius_and_twice_the_rounding(name: str) -> None:
    rng = np.random.default_rng(22)
    mid = rng.uniform(*interval(name), 300)
    if FUNCTIONS[name].low < -2.0:
        mid *= rng.choice([-1.0, 1.0], 300)
    rad = 10.0 ** rng.uniform(-20.0, -3.0, 300)
    y, radius = enclose(FUNCTIONS[name], mid, rad)
    error = FUNCTIONS[name].error.error(mid, y)
    exact = EXACT[name]
    for m, r, width, rounding in zip(
        mid.tolist(), rad.tolist(), radius.tolist(), error.tolist(), strict=True
    ):
        centre = exact(arb(m))
        best = max(float(abs(exact(arb(m) + side * arb(r)) - centre)) for side in (-1, 1))
        assert width <= 1.1 * best + 2.0 * rounding


@pytest.mark.parametrize("name", [name for name in MONOTONE if FUNCTIONS[name].high > 1.0])
def test_wide_balls_are_as_narrow_as_the_values_at_their_ends_allow(name: str) -> None:
    mid, rad = np.linspace(3.0, 20.0, 50), np.linspace(0.6, 2.5, 50)
    y, radius = enclose(FUNCTIONS[name], mid, rad)
    error = FUNCTIONS[name].error.error(mid, y)
    exact = EXACT[name]
    for m, r, width, rounding in zip(
        mid.tolist(), rad.tolist(), radius.tolist(), error.tolist(), strict=True
    ):
        best = float(abs(exact(arb(m) + r) - exact(arb(m) - r))) / 2
        assert width <= 1.2 * best + 4.0 * rounding


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_information_in_means_no_information_out(name: str) -> None:
    known = interval(name)[0] + 0.4
    mid = np.array([known, np.nan, known, np.inf, known])
    rad = np.array([np.inf, 0.1, np.nan, 0.1, 0.01])
    y, radius = enclose(FUNCTIONS[name], mid, rad)
    assert (radius[:4] == np.inf).all()
    assert (y[:4] == 0.0).all()
    assert 0.0 < radius[4] < 1.0


@pytest.mark.parametrize(
    ("name", "mid", "rad"),
    [
        ("log", 1.0, 1.0),
        ("log", 1.0, 2.0),
        ("log1p", -0.5, 0.5),
        ("log1p", 0.0, 3.0),
        ("exp", 700.0, 10.0),
        ("tan", 1.5, 0.1),
        ("tan", 0.0, 2.0),
        ("sin", 1e6, 0.1),
        ("cosh", 0.0, 800.0),
        ("sqrt", 0.0, 1e-9),
        ("rsqrt", 1.0, 1.0),
        ("asin", 0.5, 0.5),
        ("acos", -0.5, 0.6),
        ("atanh", 0.9, 0.2),
        ("acosh", 1.5, 0.6),
    ],
)
def test_a_ball_that_leaves_the_range_or_meets_a_pole_is_left_open(name: str, mid: float, rad: float) -> None:
    y, radius = enclose(FUNCTIONS[name], np.array([mid]), np.array([rad]))
    assert (y[0], radius[0]) == (0.0, np.inf)


@pytest.mark.parametrize(("name", "edge"), [("sqrt", 0.0), ("acosh", 1.0), ("exp", 709.0)])
def test_an_exact_ball_at_the_edge_of_a_range_is_enclosed(name: str, edge: float) -> None:
    mids = np.array([edge, edge])
    y, radius = enclose(FUNCTIONS[name], mids, np.array([0.0, 1e-12]))
    assert abs(float(EXACT[name](arb(edge))) - y[0]) <= radius[0] <= 1e-14 * y[0] + 1e-300
    assert radius[1] == np.inf or name == "exp"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_exact_inputs_need_no_radius_and_radii_are_broadcast(name: str) -> None:
    mid = np.linspace(*interval(name), BLOCK + 5)
    exact = enclose(FUNCTIONS[name], mid, None)
    zero = enclose(FUNCTIONS[name], mid, np.zeros(()))
    assert (exact[0] == zero[0]).all()
    assert (exact[1] <= zero[1]).all()
    assert (zero[1] <= exact[1] * (1.0 + 2.0**-40) + 2.0**-1000).all()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_do_not_depend_on_neighbours_or_blocks(name: str) -> None:
    mid, rad = balls(name, BLOCK + 100)
    whole = enclose(FUNCTIONS[name], mid, rad)
    part = enclose(FUNCTIONS[name], mid[BLOCK - 10 : BLOCK + 10], rad[BLOCK - 10 : BLOCK + 10])
    assert (whole[0][BLOCK - 10 : BLOCK + 10] == part[0]).all()
    assert (whole[1][BLOCK - 10 : BLOCK + 10] == part[1]).all()
