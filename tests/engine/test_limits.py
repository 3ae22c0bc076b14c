"""Gradients that exist where every formula for them divides zero by zero, and those that do not exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.engine.limits import REASONS, Limit, limit_gradient
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder
from gradproof.ops.eigen import anchors_of

from ..small import program_of

WEIGHTS = np.array([[1.0, 2.0, -3.0], [0.5, 4.0, 1.0], [-2.0, 3.0, 0.25]])


def limit_of(function: Callable[..., Any], *inputs: Any) -> Limit:
    """The limit for a function of the tracing arithmetic and its inputs."""
    builder = Builder()
    tracer = Tracer(builder, phase="forward")
    with np.errstate(all="ignore"):
        xs = [Traced(tracer, builder.input(np.asarray(x)), np.asarray(x)) for x in inputs]
        y = function(tracer, *xs)
    return limit_gradient(builder.build([y.id]))


def weighted(m: Any, y: Any) -> Any:
    return m.einsum(y, WEIGHTS, equation="ij,ij->")


def by_eigenvectors(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function of a symmetric matrix, applied to its eigenvalues."""

    def of_matrix(m: Any, a: Any) -> Any:
        values, vectors = m.eigh(a, anchors_of(np.linalg.eigh(a.value)[1]))
        return weighted(m, m.einsum(vectors, function(m, values), vectors, equation="ij,j,kj->ik"))

    return of_matrix


def folded(gradient: Any) -> Any:
    """A gradient for symmetric matrices, on the lower triangle that is read."""
    whole = gradient + gradient.T
    return np.tril(whole, -1) + np.diag(np.diag(gradient))


def assert_limit(limit: Limit, *expected: Any) -> None:
    assert limit.exists, limit.reason
    for enclosure, value in zip(limit.enclosures, expected, strict=True):
        assert (np.abs(enclosure.mid - value) <= enclosure.rad + 1e-15 * np.abs(value)).all(), (
            enclosure,
            value,
        )
        assert (enclosure.rad <= 1e-15 * (1.0 + np.abs(enclosure.mid))).all()


def test_matrix_functions_by_eigenvectors_are_smooth_at_equal_eigenvalues() -> None:
    """At 4 times the identity the derivative of a function of a matrix is its slope at 4."""
    root = limit_of(by_eigenvectors(lambda m, w: m.sqrt(w)), 4.0 * np.eye(3))
    assert_limit(root, folded(WEIGHTS) / 4.0)
    exponential = limit_of(by_eigenvectors(lambda m, w: m.exp(w)), np.diag([2.0, 2.0, 2.0]))
    assert_limit(exponential, folded(WEIGHTS) * np.exp(2.0))


def test_the_nearest_rotation_is_smooth_at_equal_singular_values() -> None:
    def rotation(m: Any, a: Any) -> Any:
        _, u, v = m.svd(a, anchors_of(np.linalg.svd(a.value)[2].T))
        return weighted(m, m.einsum(u, v, equation="ij,kj->ik"))

    assert_limit(limit_of(rotation, 2.0 * np.eye(3)), (WEIGHTS - WEIGHTS.T) / 4.0)


def test_a_single_eigenvalue_of_equal_ones_has_no_derivative() -> None:
    def smallest(m: Any, a: Any) -> Any:
        values, _ = m.eigh(a, anchors_of(np.linalg.eigh(a.value)[1]))
        return m.einsum(values, np.array([1.0, 0.0, 0.0]), equation="i,i->")

    limit = limit_of(smallest, np.eye(3))
    assert limit.kind == "sides differ"


def length(m: Any, x: Any) -> Any:
    return m.sqrt(m.sum(m.mul(x, x), axes=(0,)))


SMOOTH: list[Any] = [
    pytest.param(lambda m, x: m.div(m.sin(x), x), 0.0, 0.0, id="sin(x)/x"),
    pytest.param(lambda m, x: m.div(m.expm1(x), x), 0.0, 0.5, id="expm1(x)/x"),
    pytest.param(lambda m, x: m.mul(m.div(x, m.mul(x, x)), m.mul(x, x)), 0.0, 1.0, id="x/x^2*x^2"),
    pytest.param(lambda m, x: m.mul(length(m, x), length(m, x)), np.zeros(3), np.zeros(3), id="norm^2"),
    pytest.param(lambda m, x: m.sin(x), 0.5, np.cos(0.5), id="sin away from any trouble"),
    pytest.param(lambda m, x: m.div(m.sin(m.mul(x, 2.0**60)), x), 0.0, 0.0, id="a fast sin"),
]
NOT_SMOOTH: list[Any] = [
    pytest.param(length, np.zeros(3), "sides differ", id="norm"),
    pytest.param(lambda m, x: m.sqrt(m.mul(x, x)), 0.0, "sides differ", id="|x|"),
    pytest.param(lambda m, x: m.div(x, m.sqrt(m.mul(x, x))), 0.0, "jump", id="sign"),
    pytest.param(lambda m, x: m.mul(x, m.log(m.mul(x, x))), 0.0, "unbounded", id="x log x^2"),
    pytest.param(
        lambda m, x: m.mul(m.add(x, m.sqrt(m.mul(x, x))), m.log(m.mul(x, x))),
        0.0,
        "unbounded",
        id="(x + |x|) log x^2, which is flat on one side",
    ),
    pytest.param(lambda m, x: m.sqrt(m.sqrt(m.mul(x, x))), 0.0, "unbounded", id="sqrt(|x|)"),
    pytest.param(lambda m, x: m.div(1.0, x), 0.0, "unbounded", id="1/x"),
    pytest.param(lambda m, x: m.sqrt(x), 0.0, "unbounded", id="sqrt, which has one side only"),
    pytest.param(
        lambda m, x: m.sum(m.mul(x, m.sqrt(x)), axes=(0,)),
        np.zeros(4),
        "one side",
        id="x^1.5 of positive numbers",
    ),
    pytest.param(
        lambda m, x: m.mul(m.mul(x, x), m.sin(m.div(1.0, x))),
        0.0,
        "undecided",
        id="x^2 sin(1/x), which sways",
    ),
    pytest.param(
        lambda m, x: m.div(x, m.log(m.mul(x, x))),
        0.0,
        "undecided",
        id="x / log x^2, whose slope vanishes too slowly",
    ),
    pytest.param(lambda m, x: m.power(-2.0, x), 2.0, "no value", id="(-2)^x, for whole x only"),
    pytest.param(
        # Nothing but zero, and yet its ball reaches below zero, where there is no root.
        lambda m, x: m.sqrt(m.sub(m.add(m.mul(m.sin(x), m.sin(x)), m.mul(m.cos(x), m.cos(x))), 1.0)),
        0.5,
        "undecided",
        id="the root of what is always zero",
    ),
]


@pytest.mark.parametrize(("function", "x", "expected"), SMOOTH)
def test_removable_singularities_have_their_derivative(function: Any, x: Any, expected: Any) -> None:
    assert_limit(limit_of(function, x), expected)


@pytest.mark.parametrize(("function", "x", "kind"), NOT_SMOOTH)
def test_what_is_not_differentiable_has_no_limit(function: Any, x: Any, kind: str) -> None:
    limit = limit_of(function, x)
    assert limit.kind == kind
    assert limit.reason == REASONS[limit.kind]
    assert np.isinf(limit.enclosures[0].rad).any()


def test_entries_that_have_a_limit_keep_it_beside_those_that_have_none() -> None:
    limit = limit_of(lambda m, x, y: m.add(m.sqrt(m.mul(x, x)), m.div(m.expm1(y), y)), 0.0, 0.0)
    assert not limit.exists
    assert np.isinf(limit.enclosures[0].rad)
    assert limit.enclosures[1].is_bounded
    assert limit.enclosures[1].mid == 0.5


def test_an_entry_without_bound_does_not_make_the_kink_of_another_look_small() -> None:
    def function(m: Any, x: Any, y: Any) -> Any:
        return m.add(m.sqrt(m.sqrt(m.mul(x, x))), m.sqrt(m.mul(y, y)))

    limit = limit_of(function, 0.0, 0.0)
    assert limit.kind == "sides differ"
    assert all(np.isinf(enclosure.rad) for enclosure in limit.enclosures)
    both = limit_of(
        lambda m, x: function(m, *(m.reshape(m.take(x, np.array([k]), axis=0), shape=()) for k in (0, 1))),
        np.zeros(2),
    )
    assert np.isinf(both.enclosures[0].rad).all()


def test_entries_that_cancel_to_nothing_are_zero() -> None:
    """sin^2 + cos^2 is constant: what is left of its gradient is the noise of the balls."""
    limit = limit_of(lambda m, x: m.add(m.mul(m.sin(x), m.sin(x)), m.mul(m.cos(x), m.cos(x))), 0.75)
    assert_limit(limit, 0.0)


def test_a_number_has_the_slopes_of_both_sides_where_they_differ() -> None:
    found = limit_gradient(program_of(lambda m, x: m.add(m.sqrt(m.square(x)), m.mul(x, 0.5)), 0.0))
    assert found.kind == "sides differ"
    assert found.one_sided == (-0.5, 1.5)


def test_what_a_stopped_gradient_holds_does_not_move_along():
    """The distance of x to what x is now is a corner, though it is zero wherever x is held to be."""
    limit = limit_of(lambda m, x: m.sqrt(m.sum(m.square(x - m.stop_gradient(x)), axes=(0,))), [1.0, 2.0])
    assert limit.kind == "sides differ"


def test_a_stopped_gradient_is_held_at_its_exact_value():
    """What it was rounded to is a little off, and the corner would be beside the point."""
    limit = limit_of(lambda m, x: m.sqrt(m.square(m.exp(x) - m.stop_gradient(m.exp(x)))), 0.3)
    assert limit.kind == "sides differ"
