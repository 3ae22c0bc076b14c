"""Margins of decisions and one-sided slopes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.engine.decisions import directional, margins, sides
from gradproof.engine.run import run

from ..ops.entries import program, total
from .test_decisions import number, relu


def test_margins_tell_agreement_tie_and_flip_apart() -> None:
    """In float32, 1 + 1e-9 is 1: the recorded comparison says no, exact arithmetic says yes."""

    def function(m: Any, x: Any) -> Any:
        shifted = m.sub(
            m.add(x, m.literal(np.asarray([1e-9, 0.0, 1.0], np.float32))), m.literal(np.ones(3, np.float32))
        )
        return total(m, m.select(m.greater(shifted, m.literal(np.zeros(3, np.float32))), x, m.mul(x, 2.0)))

    source = program(function, np.ones(3, np.float32))
    (decision,) = margins(run(BallDomain(128), source))
    assert decision.flips.tolist() == [True, False, False]
    assert decision.ties.tolist() == [False, True, False]
    assert decision.agrees.tolist() == [False, False, True]
    assert decision.moves
    assert np.abs(decision.margin).min() == 0.0


def test_the_relative_margin_is_a_share_of_the_numbers_compared() -> None:
    source = program(
        lambda m, x: m.select(m.greater(x, number(m, 99.0)), x, m.mul(x, 2.0)), np.asarray(100.0)
    )
    (decision,) = margins(run(BallDomain(128), source))
    assert np.abs(decision.margin / decision.size) == pytest.approx(0.01)


def test_decisions_about_integers_constants_and_side_results_do_not_count() -> None:
    def function(m: Any, x: Any) -> Any:
        m.greater(x, number(m, 0.0))  # leads nowhere
        of_constants = m.greater(m.sub(number(m, 1.0), number(m, 1.0)), number(m, 0.0))
        of_integers = m.less(np.asarray([3]), np.asarray(3))
        return m.select(m.reshape(of_integers, shape=()), x, m.select(of_constants, x, m.mul(x, 3.0)))

    source = program(function, np.asarray(0.0))
    assert [decision.moves for decision in margins(run(BallDomain(128), source))] == [False]
    assert sides(source, BallDomain(128)).ties == ()


def test_a_directional_slope_follows_the_direction() -> None:
    source = program(lambda m, x: total(m, relu(m, x)), np.asarray([0.0, 0.0, 2.0]))
    x = source.inputs[0]
    along = directional(source, {x: np.asarray([3.0, -5.0, 7.0])}, BallDomain(128))
    assert along.slope(source.outputs[0]) == 10
    assert along.value(source.outputs[0]) == 2


def test_a_number_compared_with_itself_is_no_decision() -> None:
    source = program(lambda m, x: m.select(m.equal(x, x), x, m.mul(x, 2.0)), np.asarray(1.0))
    assert margins(run(BallDomain(128), source)) == []


def test_an_order_stays_an_order_if_a_third_number_is_very_near_a_tie() -> None:
    def function(m: Any, x: Any) -> Any:
        nearly = m.add(x, m.literal(np.asarray([0.0, 0.0, 1e-30])))
        return total(m, m.take_along(x, m.argsort(nearly, axis=0), axis=0))

    source = program(function, np.ones(3))
    along = directional(source, {source.inputs[0]: np.asarray([5.0, 1.0, 3.0])}, BallDomain(128))
    (order,) = along.decisions.values()
    assert sorted(order) == [0, 1, 2]
    assert list(order).index(1) < list(order).index(0)
