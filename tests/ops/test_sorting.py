"""Decisions about order: against NumPy, with their margins, and just ahead of ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb

from gradproof.domains.ball import BallDomain
from gradproof.ops import TABLE, Arithmetic

from .entries import decided, draw
from .test_decide import margin, near


@pytest.mark.parametrize("axis", [0, 1])
def test_largest_smallest_and_order_are_those_of_numpy(axis: int) -> None:
    x = draw(5, 6)
    np.testing.assert_array_equal(decided("argmax", x, axis=axis), np.argmax(x, axis))
    np.testing.assert_array_equal(decided("argmin", x, axis=axis), np.argmin(x, axis))
    np.testing.assert_array_equal(decided("argsort", x, axis=axis), np.argsort(x, axis, kind="stable"))
    backwards = np.argsort(-x, axis, kind="stable")
    np.testing.assert_array_equal(decided("argsort", x, axis=axis, descending=True), backwards)
    np.testing.assert_array_equal(decided("top_k", x, k=2, axis=axis), np.take(backwards, [0, 1], axis))


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_between_edges_are_those_of_numpy(side: Any) -> None:
    edges, x = np.asarray([-1.0, 0.5, 0.5, 2.0]), np.asarray([[0.5, 3.0], [-1.0, 0.0]])
    np.testing.assert_array_equal(
        decided("searchsorted", edges, x, side=side), np.searchsorted(edges, x, side)
    )
    rows = np.stack([edges, edges + 1.0])
    expected = np.stack([np.searchsorted(row, part, side) for row, part in zip(rows, x)])
    np.testing.assert_array_equal(decided("searchsorted", rows, x, side=side), expected)


def test_margins_of_extremes_are_the_lead_over_the_second() -> None:
    x = np.asarray([[1.0, 5.0, 4.0], [2.0, 2.0, 0.0]])
    assert margin("argmax", [1, 0], x, axis=1).tolist() == [1.0, 0.0]
    assert margin("argmin", [0, 2], x, axis=1).tolist() == [3.0, 2.0]
    assert margin("argmax", [2, 2], x, axis=1).tolist() == [-1.0, -2.0]
    assert margin("argmax", [0], np.asarray([[3.0]]), axis=1)[0] > 1e100  # nothing to choose from


def test_margins_of_an_order_are_the_gaps_between_neighbours() -> None:
    x = np.asarray([4.0, 1.0, 1.0, 9.0])
    assert margin("argsort", [1, 2, 0, 3], x, axis=0).tolist() == [0.0, 0.0, 3.0, 5.0]
    assert margin("argsort", [1, 2, 3, 0], x, axis=0).min() < 0.0
    assert margin("argsort", [3, 0, 1, 2], x, axis=0, descending=True).tolist() == [5.0, 3.0, 0.0, 0.0]


def test_the_last_of_the_top_is_measured_against_the_rest() -> None:
    x = np.asarray([4.0, 1.0, 3.5, 9.0])
    assert margin("top_k", [3, 0], x, k=2, axis=0).tolist() == [5.0, 0.5]
    assert margin("top_k", [3, 2], x, k=2, axis=0).tolist() == [5.5, -0.5]
    assert margin("top_k", [3, 0, 2, 1], x, k=4, axis=0).tolist() == [5.0, 0.5, 0.5, 2.5]


def test_the_margin_between_edges_is_the_distance_to_the_nearest() -> None:
    edges = np.asarray([0.0, 1.0, 4.0])
    x = np.asarray([0.25, 3.5, 4.0, 0.5])
    assert margin("searchsorted", [1, 2, 3, 2], edges, x).tolist() == [0.25, 0.5, 0.0, -0.5]


def test_a_wide_rival_decides_the_margin_though_its_midpoint_is_far() -> None:
    """Not the nearest midpoint counts but the ball that reaches furthest."""
    m = Arithmetic(BallDomain(128))
    with m.domain.active():
        x = np.asarray([arb(1), arb("0.99"), arb(0, 2)], dtype=object)
        rule = TABLE["argmax"].margin
        assert rule is not None
        mid, rad = m.domain.leave(rule(m, np.asarray(0), x, axis=0))
    assert mid - rad < 0.0


def test_just_ahead_of_a_tie_the_fastest_leads() -> None:
    x, x_dot = [3.0, 3.0, 1.0, 3.0], [1.0, 2.0, 9.0, 2.0]
    assert near("argmax", 0, [x], [x_dot], axis=0) == 1
    assert near("argmax", 3, [x], [x_dot], axis=0) == 3  # equally fast: it stays
    assert near("argmin", 2, [x], [x_dot], axis=0) == 2
    assert near("argmin", 0, [[3.0, 3.0]], [[1.0, -2.0]], axis=0) == 1


def test_just_ahead_of_a_tie_the_order_is_by_tangents() -> None:
    x, x_dot = [3.0, 3.0, 1.0, 3.0], [1.0, -2.0, 9.0, 0.5]
    assert near("argsort", [2, 0, 1, 3], [x], [x_dot], axis=0).tolist() == [2, 1, 3, 0]
    assert near("argsort", [0, 1, 3, 2], [x], [x_dot], axis=0, descending=True).tolist() == [0, 3, 1, 2]
    assert near("argsort", [2, 3, 0, 1], [x], [[0.0] * 4], axis=0).tolist() == [2, 3, 0, 1]
    assert near("top_k", [0, 1], [x], [x_dot], k=2, axis=0).tolist() == [0, 3]
    assert near("top_k", [3, 1], [x], [[0.0] * 4], k=2, axis=0).tolist() == [3, 1]


def test_just_ahead_of_an_edge_the_number_has_passed_it_or_not() -> None:
    edges = [0.0, 1.0]
    assert near("searchsorted", [1, 1], [edges, [1.0, 1.0]], [[0.0, 0.0], [1.0, -1.0]]).tolist() == [2, 1]
    assert near("searchsorted", [1], [edges, [1.0]], [[0.0, 2.0], [1.0]], side="left").tolist() == [1]
