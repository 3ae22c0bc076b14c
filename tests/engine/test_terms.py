"""The sizes of the terms of a gradient, which nothing cancels."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.run import run
from gradproof.engine.terms import term_sizes

from ..small import program_of, total


def _sizes(function: Any, *values: Any) -> list[Any]:
    program = program_of(function, *values)
    return term_sizes(run(BallDomain(128), program), program.inputs)


def test_terms_that_cancel_are_added_by_size() -> None:
    (size,) = _sizes(lambda m, x: m.sub(m.mul(x, 3.0), m.mul(x, 5.0)), 2.0)
    assert float(size) == 8.0


def test_sizes_survive_a_zero_further_back() -> None:
    """The gradient is already zero where the bias is added: its terms are those before they cancelled."""

    def function(m: Any, x: Any, b: Any) -> Any:
        h = m.mul(m.add(x, b), 3.0)
        centred = m.sub(h, m.broadcast(m.mean(h, axes=(0,)), shape=(4,)))
        return total(m, m.mul(centred, m.literal(np.array([1.0, 2.0, 3.0, 4.0]))))

    _, size = _sizes(function, np.arange(4.0), 0.5)
    assert float(size) >= 3.0 * 10.0


def test_softmax_shift_has_terms_though_its_gradient_is_zero() -> None:
    def function(m: Any, x: Any, b: Any) -> Any:
        return total(m, m.mul(m.softmax(m.add(x, b), axes=(0,)), m.literal(np.array([1.0, 2.0, 4.0]))))

    _, size = _sizes(function, np.array([0.1, 0.5, -0.3]), 0.25)
    assert float(size) > 0.05


def test_equal_terms_do_not_cancel_in_a_rule_that_subtracts() -> None:
    """The sum of a softmax is one: every gradient is zero, and every term is not."""
    (size,) = _sizes(lambda m, x: total(m, m.softmax(x, axes=(0,))), np.array([0.1, 0.5, -0.3]))
    assert (size > 0.05).all()


def test_a_factor_that_cancelled_counts_by_what_varies_in_it() -> None:
    """Rounding leaves something of a zero, and a product hands it on."""

    def function(m: Any, x: Any) -> Any:
        y = m.softmax(x, axes=(0,))
        rest = m.mul(y, m.sub(1.0, m.broadcast(m.sum(y, axes=(0,)), shape=(4,))))
        return total(m, m.mul(rest, m.literal(np.array([1.0, 0.0, 0.0, 0.0]))))

    (size,) = _sizes(function, np.array([-2.0, -1.0, 1.0, 3.0]))
    assert (size[0], size[3]) > (0.005, 0.004)  # d y[0] / d x[0] and d y[0] / d x[3], times 1


def test_constants_that_are_added_and_taken_away_count_for_nothing() -> None:
    def function(m: Any, x: Any) -> Any:
        rest = m.sub(m.sub(m.add(x, 1e8), 1e8), 0.5)
        return m.add(m.mul(rest, rest), m.square(rest))

    (size,) = _sizes(function, 0.5)
    assert 0.0 < float(size) <= 4.0


def test_products_of_matrices_count_every_term() -> None:
    a, b = np.array([[1.0, -2.0]]), np.array([[3.0], [4.0]])
    by_a, by_b = _sizes(lambda m, x, y: total(m, m.matmul(x, y)), a, b)
    assert by_a.tolist() == [[3.0, 4.0]]
    assert by_b.tolist() == [[1.0], [2.0]]


def test_a_source_that_is_not_reached_has_no_terms() -> None:
    _, size = _sizes(lambda m, x, y: m.exp(x), 1.0, np.ones(2))
    assert size.tolist() == [0.0, 0.0]


def test_sizes_that_are_not_known_count_as_none() -> None:
    """An infinite size would excuse any error."""
    program = program_of(lambda m, x: m.log(x), 0.0)
    (size,) = term_sizes(run(BallDomain64(), program), program.inputs)
    assert np.isfinite(size).all()


def test_the_rounding_of_a_zero_goes_on_through_functions_and_products() -> None:
    """A batch of equal rows behind a normalisation, a slope and a matrix: all that is left of them is rounding."""

    def function(m: Any, x: Any, w: Any) -> Any:
        centred = m.sub(x, m.broadcast(m.mean(x, axes=(0,)), shape=(4, 2)))
        h = m.tanh(m.mul(centred, 300.0))
        return total(m, m.einsum(h, w, equation="ij,j->i"))

    _, size = _sizes(function, np.full((4, 2), 0.7), np.array([1.0, 2.0]))
    assert (size > 100.0).all()


def test_what_has_not_cancelled_is_no_rounding_however_often_it_is_multiplied() -> None:
    def function(m: Any, x: Any) -> Any:
        y = m.sub(x, 0.25)
        for _ in range(60):
            y = m.mul(y, m.sub(x, 0.25))
        return y

    (size,) = _sizes(function, 1.25)
    assert float(size) < 1e3
