"""Products of matrices of float64 balls hold the products of all their members."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import Ball64, BallDomain64
from gradproof.domains.product64 import matmul

from .rigor import BITS, encloses, hard_balls, members

SHAPES = (((3, 4), (4, 2)), ((2, 1, 3), (3, 3)), ((2, 2, 2), (2, 2, 5)), ((1, 30), (30, 1)))


@pytest.mark.parametrize("seed", range(80))
def test_product_encloses_the_product_of_any_members(seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = SHAPES[seed % len(SHAPES)]
    a, b = hard_balls(rng, left, unknown=0.05), hard_balls(rng, right, unknown=0.05)
    with BallDomain64().active():
        y = matmul(a, b)
    exact = BallDomain(BITS)
    with exact.active():
        for one, other in zip(members(rng, a), members(rng, b)):
            assert encloses(y, exact.matmul(one, other))


def test_a_product_that_underflows_is_not_exactly_zero() -> None:
    y = matmul(Ball64(np.full((1, 1), 1e-200)), Ball64(np.full((1, 1), 1e-200)))
    assert y.radius()[0, 0] > 0.0


def test_an_exactly_zero_row_gives_exactly_zero() -> None:
    a = Ball64(np.array([[0.0, 0.0], [1.0, 2.0]]))
    y = matmul(a, Ball64(np.ones((2, 2)), np.full((2, 2), 0.5)))
    assert (y.mid[0] == 0.0).all()
    assert (y.radius()[0] == 0.0).all()


def test_an_unknown_entry_spoils_only_the_sums_in_which_it_meets_a_number() -> None:
    a = Ball64(np.array([[0.0, 2.0], [3.0, 0.0]]), np.array([[np.inf, 0.0], [0.0, 0.0]]))
    b = Ball64(np.array([[0.0, 1.0], [5.0, 7.0]]))
    with BallDomain64().active():
        y = matmul(a, b)
    assert np.isinf(y.radius()).tolist() == [[False, True], [False, False]]
    assert abs(y.mid[0, 0] - 10.0) <= y.radius()[0, 0]


def test_unknown_times_unknown_is_unknown() -> None:
    lost = Ball64(np.zeros((1, 1)), np.full((1, 1), np.inf))
    assert np.isinf(matmul(lost, lost).radius()).all()


def test_huge_radii_whose_sum_overflows_are_still_radii() -> None:
    a = Ball64(np.zeros((1, 2)), np.full((1, 2), 1e308))
    y = matmul(a, Ball64(np.zeros((2, 1))))
    assert (y.radius() == 0.0).all()


def test_radius_of_ordinary_data_is_of_the_order_of_rounding() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(50, 60)), rng.normal(size=(60, 40))
    y = matmul(Ball64(a), Ball64(b))
    assert (
        y.radius() <= 2.0 * 62 * 2.0**-53 * np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=0)
    ).all()
