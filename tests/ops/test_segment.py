"""Reductions over groups of rows, against loops in NumPy."""

from __future__ import annotations

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.derive import gradient
from gradproof.ops import TABLE, Arithmetic

from .entries import assert_near, decided, draw, program, total

GROUPS = np.asarray([2, 0, 2, 4, 0, 2])


def test_the_product_of_each_group_is_that_of_its_rows() -> None:
    x = draw(6, 3)
    expected = np.stack([x[group == GROUPS].prod(axis=0) for group in range(5)])
    assert_near("segment_prod", expected, x, GROUPS, size=5)


def test_the_slope_of_a_group_product_is_right_at_zeros() -> None:
    x = np.asarray([0.0, 2.0, 3.0, 4.0, 0.0, 5.0])
    source = program(lambda m, a: total(m, m.segment_prod(a, GROUPS, size=5)), x)
    found = gradient(BallDomain64(), source)[0]
    np.testing.assert_array_equal(found.mid, [15.0, 0.0, 0.0, 1.0, 2.0, 0.0])


def test_the_extremes_of_each_group_are_found_by_column() -> None:
    x = draw(6, 2)
    largest, smallest = (decided(name, x, GROUPS, size=5) for name in ("segment_argmax", "segment_argmin"))
    for group in (0, 2, 4):
        rows = np.flatnonzero(group == GROUPS)
        np.testing.assert_array_equal(largest[group], rows[np.argmax(x[rows], axis=0)])
        np.testing.assert_array_equal(smallest[group], rows[np.argmin(x[rows], axis=0)])


def test_the_margin_of_a_group_is_the_lead_over_its_second() -> None:
    x = np.asarray([5.0, 1.0, 2.0, 9.0, 1.0, 4.5])
    m = Arithmetic(BallDomain(128))
    with m.domain.active():
        chosen = m.segment_argmax(m.literal(x), GROUPS, size=5)
        margin = m.domain.leave(TABLE["segment_argmax"].margin(m, chosen, m.literal(x), GROUPS, size=5))[0]  # type: ignore[misc]
    assert margin[0] == 0.0
    assert margin[2] == 0.5
    assert (margin[[1, 3, 4]] > 1e100).all()  # nothing to choose from


def test_just_ahead_of_a_tie_the_faster_row_leads() -> None:
    x, x_dot = np.asarray([5.0, 1.0, 5.0, 9.0, 1.0, 5.0]), np.asarray([1.0, 2.0, 3.0, 0.0, 2.0, 2.0])
    near = TABLE["segment_argmax"].decide_near
    assert near is not None
    chosen = np.asarray([1, 0, 0, 0, 3])
    found = near(chosen, [x, GROUPS.astype(float)], [x_dot, np.zeros(6)], size=5)
    assert found[2] == 2  # the fastest of three equal ones
    assert found[0] == 1  # equally fast: it stays
    assert found[4] == 3
