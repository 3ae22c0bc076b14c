"""Decisions entry by entry: what is decided, how far from a switch, and what comes just ahead of a tie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.errors import NotSupported
from gradproof.ops import TABLE, Arithmetic

from .entries import assert_moves, decided, draw

COMPARISONS: dict[str, Any] = {
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "equal": np.equal,
    "not_equal": np.not_equal,
}
STAIRS: dict[str, Any] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "truncate": np.trunc,
    "sign": np.sign,
}


def margin(name: str, y: Any, *xs: Any, domain: Any = None, **params: Any) -> Any:
    m = Arithmetic(domain or BallDomain(128))
    rule = TABLE[name].margin
    assert rule is not None
    with m.domain.active():
        return m.domain.leave(rule(m, np.asarray(y), *(m.literal(np.asarray(x)) for x in xs), **params))[0]


def near(name: str, y: Any, xs: list[Any], xs_dot: list[Any], **params: Any) -> Any:
    rule = TABLE[name].decide_near
    assert rule is not None
    return rule(
        np.asarray(y), [np.asarray(x, float) for x in xs], [np.asarray(x, float) for x in xs_dot], **params
    )


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons_decide_as_numpy_does(name: str) -> None:
    a, b = draw(20), np.sort(draw(20, seed=1))
    a[3] = b[3]
    np.testing.assert_array_equal(decided(name, a, b), COMPARISONS[name](a, b))


@pytest.mark.parametrize("name", COMPARISONS)
def test_the_margin_is_positive_if_and_only_if_the_decision_is_right(name: str) -> None:
    a, b = np.asarray([1.0, 2.0]), np.asarray([2.0, 1.0])
    right = COMPARISONS[name](a, b)
    np.testing.assert_array_equal(margin(name, right, a, b), [1.0, 1.0])
    np.testing.assert_array_equal(margin(name, ~right, a, b), [-1.0, -1.0])
    np.testing.assert_array_equal(margin(name, right, a, a), [0.0, 0.0])


@pytest.mark.parametrize("name", COMPARISONS)
def test_just_ahead_of_equality_the_tangents_are_compared(name: str) -> None:
    a, b = np.asarray([1.0, 1.0, 1.0, 5.0]), np.asarray([1.0, 1.0, 1.0, 1.0])
    a_dot, b_dot = np.asarray([2.0, -1.0, 3.0, -9.0]), np.asarray([1.0, 1.0, 3.0, 9.0])
    recorded = np.asarray([True, True, True, True])
    ahead = a + 1e-3 * a_dot, b + 1e-3 * b_dot
    expected = COMPARISONS[name](*ahead)
    found = near(name, recorded, [a, b], [a_dot, b_dot])
    np.testing.assert_array_equal(found[:2], expected[:2])
    assert found[2:].all()  # equally fast, or no tie: as it was


@pytest.mark.parametrize("name", STAIRS)
def test_stairs_step_where_those_of_numpy_do(name: str) -> None:
    x = np.arange(-40, 41) / 8.0
    found = decided(name, x)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, STAIRS[name](x))


def _to_the_nearer_end(name: str, x: float) -> float:
    size, step = abs(x), abs(float(np.trunc(x)))
    return {
        "floor": min(x - np.floor(x), np.floor(x) + 1.0 - x),
        "ceil": min(np.ceil(x) - x, x - np.ceil(x) + 1.0),
        "round": 0.5 - abs(x - np.rint(x)),
        "truncate": 1.0 - size if step == 0.0 else min(size - step, step + 1.0 - size),
        "sign": size,
    }[name]


@pytest.mark.parametrize("domain", [BallDomain64(), BallDomain(128)], ids=lambda domain: domain.name)
@pytest.mark.parametrize("name", STAIRS)
def test_the_margin_of_a_step_is_the_distance_to_its_nearer_end(name: str, domain: Any) -> None:
    x = np.arange(-40, 41) / 8.0
    found = margin(name, STAIRS[name](x).astype(np.int64), x, domain=domain)
    np.testing.assert_array_equal(found, [_to_the_nearer_end(name, entry) for entry in x.tolist()])


@pytest.mark.parametrize("name", STAIRS)
def test_a_wrong_step_has_a_negative_margin(name: str) -> None:
    assert margin(name, np.asarray([3]), np.asarray([0.75]))[0] < 0.0 or name == "sign"
    assert margin("sign", np.asarray([-1, 0]), np.asarray([0.75, 0.75])).tolist() == [-0.75, -0.75]


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", STAIRS)
def test_just_ahead_of_an_edge_the_step_is_that_of_the_point_ahead(name: str, sign: float) -> None:
    x = np.arange(-8, 9) / 2.0
    y = STAIRS[name](x).astype(np.int64)
    found = near(name, y, [x], [np.full(x.shape, sign)])
    np.testing.assert_array_equal(found, STAIRS[name](x + sign * 1e-9))
    np.testing.assert_array_equal(near(name, y, [x], [np.zeros(x.shape)]), y)


def test_steps_too_large_for_an_integer_are_refused() -> None:
    for value in (1e20, np.nan):
        with pytest.raises(NotSupported, match="floor"):
            Arithmetic(Ieee()).floor(np.asarray([value]))


def test_a_step_of_an_infinite_number_is_the_largest_there_is() -> None:
    found = Arithmetic(Ieee()).floor(np.asarray([np.inf, -np.inf, 2.5]))
    np.testing.assert_array_equal(found, [2**61, -(2**61), 2])


def test_logic_works_on_booleans_in_every_domain() -> None:
    a, b = np.asarray([True, True, False, False]), np.asarray([True, False, True, False])
    np.testing.assert_array_equal(decided("logical_and", a, b), a & b)
    np.testing.assert_array_equal(decided("logical_or", a, b), a | b)
    np.testing.assert_array_equal(decided("logical_xor", a, b), a ^ b)
    np.testing.assert_array_equal(decided("logical_not", a), ~a)
    hot = decided("one_hot", np.asarray([2, 0, 5]), depth=3)
    np.testing.assert_array_equal(hot, [[False, False, True], [True, False, False], [False] * 3])


def test_what_is_not_finite_is_recognised() -> None:
    x = np.asarray([1.0, np.inf, np.nan])
    np.testing.assert_array_equal(decided("is_finite", x), [True, False, False])
    np.testing.assert_array_equal(Arithmetic(Ieee()).is_nan(x), [False, False, True])


def test_select_chooses_entry_by_entry() -> None:
    condition, a, b = np.asarray([[True], [False]]), draw(3), draw(2, 3, seed=1)
    assert_moves("select", np.where(condition, a, b), condition, a, b)
