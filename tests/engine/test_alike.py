"""Rivals that are the same function of the inputs are no rivals: the windows of an even background."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.margins import margins
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program

BACKGROUND = 0.1  # no ball holds its products exactly, so that equal sums look as if one might be larger
POOL = {"window": (2,), "strides": (2,), "padding": ((0, 0),)}


def _program(data: Any, function: Any) -> Program:
    """Of two weights, an input each; the data are constant."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    weights = np.asarray([0.3, 0.7])
    w = Traced(m, builder.input(weights), weights)
    return builder.build([m.sum(m.square(function(m, w, m.literal(np.asarray(data)))), axes=(0,)).id])


def _pooled(m: Any, w: Any, data: Any) -> Any:
    y = m.convolution(m.reshape(data, shape=(1, 1, 5)), m.reshape(w, shape=(2, 1, 1)))
    y = m.exp(m.reshape(y, shape=(1, 4)))
    places = m.window_argmax(y, **POOL)
    return m.reshape(m.take_along(y, places, axis=1), shape=(2,))


def _largest(m: Any, w: Any, data: Any) -> Any:
    y = m.matmul(m.reshape(data, shape=(3, 2)), m.reshape(w, shape=(2, 1)))
    place = m.argmax(m.reshape(y, shape=(3,)), axis=0)
    return m.take_along(m.reshape(y, shape=(3,)), m.reshape(place, shape=(1,)), axis=0)


def _agrees(program: Program) -> bool:
    (found,) = margins(run(BallDomain64(), program))
    return bool(found.agrees.all())


@pytest.mark.parametrize("rest", [0.1, 0.2])
def test_windows_of_one_background_are_one_function(rest: float) -> None:
    assert _agrees(_program([*[BACKGROUND] * 4, rest], _pooled))


def test_rows_that_are_equal_are_one_function() -> None:
    assert _agrees(_program([0.1, 0.2, 0.1, 0.2, 0.0, 0.0], _largest))


def test_equal_numbers_that_are_two_functions_stay_a_tie() -> None:
    """0.3 * 0.7 and 0.7 * 0.3: equal here, and parting as soon as a weight moves."""
    assert not _agrees(_program([0.7, 0.0, 0.0, 0.3, 0.0, 0.0], _largest))
    assert not _agrees(_program([0.7, 0.0, 0.3, 0.0, 0.0], _pooled))


def test_what_was_chosen_in_a_tie_is_not_known_to_be_the_same() -> None:
    def function(m: Any, w: Any, data: Any) -> Any:
        del data
        first = m.take(w, np.asarray([0, 0]), axis=0)
        chosen = m.select(m.greater(m.exp(first), m.exp(0.3)), m.exp(first), m.square(first))
        place = m.argmax(chosen, axis=0)
        return m.take_along(chosen, m.reshape(place, shape=(1,)), axis=0)

    found = margins(run(BallDomain64(), _program([0.0], function)))
    assert not bool(found[-1].agrees.all())


def test_a_number_that_is_held_is_another_function() -> None:
    def function(m: Any, w: Any, data: Any) -> Any:
        del data
        both = m.exp(m.concat(w, m.stop_gradient(w), axis=0))
        place = m.argmax(both, axis=0)
        return m.take_along(both, m.reshape(place, shape=(1,)), axis=0)

    assert not _agrees(_program([0.0], function))
