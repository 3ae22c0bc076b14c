"""Ties among numbers that stand still, and those that only look like them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.margins import margins
from gradproof.engine.run import run
from gradproof.ops.pooling import max_pool

from ..ops.entries import program, total
from .test_decisions import relu

POOL = {"window": (2,), "strides": (2,), "padding": ((0, 0),)}


def ties_of(function: Any, x: list[Any]) -> list[list[bool]]:
    """Of every decision, the entries that tie."""
    source = program(lambda m, x: total(m, function(m, x)), np.asarray(x))
    return [decision.ties.tolist() for decision in margins(run(BallDomain64(), source))]


def test_what_relu_has_cut_off_is_no_tie_for_the_next_relu() -> None:
    assert ties_of(lambda m, x: relu(m, relu(m, x)), [-1.0, 2.0]) == [[False, False], [False, False]]


def test_a_number_on_the_corner_ties_in_both() -> None:
    assert ties_of(lambda m, x: relu(m, relu(m, x)), [0.0, 2.0]) == [[True, False], [True, False]]


def test_it_stands_still_through_what_only_moves_numbers_and_through_elementwise_ops() -> None:
    def function(m: Any, x: Any) -> Any:
        return relu(m, m.mul(m.reshape(relu(m, x), shape=(2, 1)), 3.0))

    assert ties_of(function, [-1.0, 2.0])[1] == [[False], [False]]


def test_a_window_of_cut_off_numbers_is_no_tie() -> None:
    pooled = ties_of(lambda m, x: max_pool(m, relu(m, x), **POOL), [-1.0, -2.0, 3.0, -4.0])
    assert pooled == [[False] * 4, [False, False]]


def test_a_cut_off_number_beside_one_that_moves_is_a_tie() -> None:
    """The second is zero as well, but it goes on."""

    def function(m: Any, x: Any) -> Any:
        first, second = (m.take(x, np.asarray([k]), axis=0) for k in (0, 1))
        return max_pool(m, m.concat(relu(m, first), second, axis=0), **POOL)

    assert ties_of(function, [-1.0, 0.0])[-1] == [True]


def largest(m: Any, x: Any) -> Any:
    return m.take_along(x, m.reshape(m.argmax(x, axis=0), shape=(1,)), axis=0)


def test_the_largest_of_numbers_that_are_all_cut_off_is_no_tie() -> None:
    assert ties_of(lambda m, x: largest(m, relu(m, x)), [-1.0, -2.0, -3.0])[-1] is False


def test_the_largest_of_cut_off_numbers_and_one_on_the_corner_is_a_tie() -> None:
    assert ties_of(lambda m, x: largest(m, relu(m, x)), [-1.0, 0.0, -3.0])[-1] is True
    assert ties_of(largest, [1.0, 1.0, 0.5])[-1] is True


def test_two_equal_numbers_that_move_are_a_tie() -> None:
    assert ties_of(lambda m, x: max_pool(m, x, **POOL), [1.0, 1.0]) == [[True]]


def open_of(function: Any, x: list[Any]) -> list[list[Any]]:
    """Of every decision, the entries that may be decided otherwise beside the point."""
    source = program(lambda m, x: total(m, function(m, x)), np.asarray(x))
    found = margins(run(BallDomain64(), source))
    return [(decision.ties | decision.is_unclear).ravel().tolist() for decision in found]


def test_a_padded_row_stands_still_however_its_weights_move() -> None:
    rows = np.array([[1.0, 2.0], [0.0, 0.0]])

    def matrix(m: Any, x: Any) -> Any:
        return relu(m, m.matmul(m.literal(rows), m.reshape(x, shape=(2, 1))))

    def summed(m: Any, x: Any) -> Any:
        return relu(m, m.einsum(m.literal(rows), x, equation="ba,a->b"))

    def convolved(m: Any, x: Any) -> Any:
        image = m.literal(np.array([[[1.0, 2.0, 0.0, 0.0]]]))
        return relu(m, m.convolution(image, m.reshape(x, shape=(2, 1, 1)), strides=(2,)))

    assert open_of(convolved, [0.5, 0.3]) == [[False, False]]
    assert open_of(matrix, [0.5, 0.3]) == [[False, False]]
    assert open_of(summed, [0.5, 0.3]) == [[False, False]]
    assert open_of(lambda m, x: relu(m, m.mul(m.literal(rows[1]), x)), [0.5, 0.3]) == [[False, False]]


def test_a_row_that_only_comes_out_as_zero_is_a_tie() -> None:
    def function(m: Any, x: Any) -> Any:
        return relu(m, m.matmul(m.literal(np.array([[1.0, -1.0]])), m.reshape(x, shape=(2, 1))))

    assert open_of(function, [0.5, 0.5]) == [[True]]
    assert open_of(lambda m, x: relu(m, m.mul(x, x)), [0.0, 1.0]) == [[True, False]]


def test_a_padded_row_of_whole_numbers_stands_still_too() -> None:
    rows = np.array([[1, 2], [0, 0]], np.uint8)

    def summed(m: Any, x: Any) -> Any:
        return relu(m, m.einsum(m.constant(rows), x, equation="ba,a->b"))

    assert open_of(summed, [0.5, 0.3]) == [[False, False]]
    assert open_of(lambda m, x: relu(m, m.mul(m.constant(rows[1]), x)), [0.5, 0.3]) == [[False, False]]
