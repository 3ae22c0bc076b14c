"""Ties of a number with itself have no sides; ties of two numbers keep theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.decisions import sides
from gradproof.engine.limits import limit_gradient
from gradproof.engine.margins import margins
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program


def _magnitude(m: Tracer, x: Traced) -> Any:
    return m.select(m.greater_equal(x, 0.0), x, m.neg(x))


def _largest(values: Any, through: str | None = None) -> Program:
    """As the derivative of a maximum is computed: shares of those entries that are equal to it, times themselves."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    array = np.asarray(values, np.float64)
    x = Traced(m, builder.input(array), array)
    y = x if through is None else _magnitude(m, x) if through == "abs" else getattr(m, through)(x)
    place = m.reshape(m.argmax(y, axis=0), shape=(1,))
    top = m.reshape(m.take_along(y, place, axis=0), shape=())
    is_top = m.equal(m.broadcast(top, shape=array.shape), m.identity(y))
    shares = m.select(is_top, 1.0, 0.0)
    count = m.sum(shares, axes=(0,))
    return builder.build([m.sum(m.mul(m.div(shares, count), m.square(y)), axes=(0,)).id])


@pytest.mark.parametrize("through", [None, "exp", "sin"])
def test_the_largest_entry_is_equal_to_the_maximum_on_all_sides(through: str | None) -> None:
    program = _largest([0.25, 1.5, 0.75], through)
    found = {program[one.node].op: one for one in margins(run(BallDomain64(), program))}
    assert bool(found["equal"].agrees.all())
    assert sides(program, BallDomain64()).fact == "agree"
    assert not sides(program, BallDomain64()).ties


def test_the_tie_of_another_entry_does_not_part_the_largest_one_from_the_maximum() -> None:
    """As norm(x, ord=inf) computes its derivative: |x| has a corner at 0, and the largest entry is elsewhere."""
    program = _largest([0.0, 1.5, -0.75], "abs")
    assert sides(program, BallDomain64()).fact == "agree"
    assert limit_gradient(program, at_tie=True).kind == "limit"


def test_two_largest_entries_are_a_tie() -> None:
    """Which of them is the largest is open, so that it cannot be said which one the maximum is."""
    program = _largest([0.25, 1.5, 1.5])
    found = {program[one.node].op: one for one in margins(run(BallDomain64(), program))}
    assert not bool(found["argmax"].agrees.all())
    assert not bool(found["equal"].agrees.all())
    assert sides(program, BallDomain64()).fact != "agree"


def test_equal_numbers_from_two_places_are_a_tie() -> None:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    x, y = (Traced(m, builder.input(np.asarray(2.0)), np.asarray(2.0)) for _ in range(2))
    program = builder.build([m.select(m.equal(m.identity(x), y), m.square(x), m.neg(x)).id])
    (found,) = margins(run(BallDomain64(), program))
    assert bool(found.ties.all())


def test_a_number_that_is_held_is_not_the_one_that_moves() -> None:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    x = Traced(m, builder.input(np.asarray(2.0)), np.asarray(2.0))
    program = builder.build([m.select(m.greater_equal(x, m.stop_gradient(x)), m.square(x), m.neg(x)).id])
    (found,) = margins(run(BallDomain64(), program))
    assert bool(found.ties.all())


def test_a_number_that_may_have_been_chosen_otherwise_is_not_the_same() -> None:
    """`x` and `y` tie, so that the larger one is not known to be `x` beside this point."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    x, y = (Traced(m, builder.input(np.asarray(2.0)), np.asarray(2.0)) for _ in range(2))
    larger = m.select(m.greater_equal(x, y), x, y)
    program = builder.build([m.select(m.equal(larger, x), m.square(x), m.neg(x)).id])
    found = {program[one.node].op: one for one in margins(run(BallDomain64(), program))}
    assert not bool(found["equal"].agrees.all())
