"""Custom rules tested alone: right ones agree, and every planted mistake is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradproof.tape import GradientTape, custom_gradient
from gradproof.tape.custom import CustomUse
from gradproof.tape.rules import check_rule, custom_uses

X = np.array([0.3, 1.2, -0.7])
A = np.array([[1.0, 2.0], [3.0, 5.0]])
B = np.array([[1.0, 2.0], [0.0, 1.0]])

Rule = Callable[..., Any]


def _use(forward: Rule, rule: Rule, *points: Any) -> CustomUse:
    @custom_gradient
    def function(*xs: Any) -> Any:
        y = forward(*xs)
        return y, lambda *upstream: rule(*upstream, y, *xs)

    with GradientTape() as tape:
        y = function(*tape.watch(points))
    use = y._record.call
    assert isinstance(use, CustomUse)
    return use


MISTAKES: list[tuple[str, Rule, Rule, tuple[Any, ...]]] = [
    ("sign", np.sin, lambda u, y, x: -u * np.cos(x), (X,)),
    ("factor", np.sin, lambda u, y, x: 3 * u * np.cos(x), (X,)),
    ("factor", lambda x: x**2, lambda u, y, x: u * x, (np.array(1.5),)),
    ("missing-term", lambda x: x * np.sin(x), lambda u, y, x: u * x * np.cos(x), (X,)),
    ("missing-term", lambda x: x * np.sin(x), lambda u, y, x: u * np.sin(x), (X,)),
    ("ignores-upstream", np.sin, lambda u, y, x: np.cos(x), (X,)),
    ("not-linear", np.sin, lambda u, y, x: u**2 * np.cos(x), (X,)),
    ("transposed", lambda a: a @ B, lambda u, y, a: (u @ B.T).T, (A,)),
    ("unreduced-broadcast", lambda b: np.ones((4, 3)) * b, lambda u, y, b: u * 1.0, (X,)),
    ("wrong-entries", lambda x: x**2, lambda u, y, x: u * np.where(x > 0, 2 * x, x), (X,)),
    ("identity", np.round, lambda u, y, x: u, (X,)),
    ("wrong", np.sin, lambda u, y, x: u * (np.cos(x) + x), (X,)),
    ("nothing-returned", np.sin, lambda u, y, x: None, (X,)),
]


@pytest.mark.parametrize(
    ("finding", "forward", "rule", "points"),
    [pytest.param(*case, id=f"{case[0]}-{k}") for k, case in enumerate(MISTAKES)],
)
def test_mistake_is_named(finding: str, forward: Rule, rule: Rule, points: tuple[Any, ...]) -> None:
    (fact,) = check_rule(_use(forward, rule, *points))
    assert fact.finding == finding
    assert not fact.agrees


RIGHT: list[tuple[Rule, Rule, tuple[Any, ...]]] = [
    (np.sin, lambda u, y, x: u * np.cos(x), (X,)),
    (np.exp, lambda u, y, x: u * y, (X,)),
    (lambda x: x * np.sin(x), lambda u, y, x: u * (np.sin(x) + x * np.cos(x)), (X,)),
    (lambda a: a @ B, lambda u, y, a: u @ B.T, (A,)),
    (lambda x, b: x + b, lambda u, y, x, b: (u, u.sum(axis=0)), (np.ones((4, 3)), X)),
    (lambda x: x**2, lambda u, y, x: u * 2 * x, (np.array(1.5),)),
    (np.round, lambda u, y, x: None, (X,)),
    (lambda x: np.maximum(x, 0), lambda u, y, x: u * (x > 0), (X,)),
    (np.sin, lambda u, y, x: u * np.cos(x), (X.astype(np.float32),)),
]


@pytest.mark.parametrize(("forward", "rule", "points"), RIGHT)
def test_silent_when_the_rule_is_right(forward: Rule, rule: Rule, points: tuple[Any, ...]) -> None:
    assert all(fact.agrees for fact in check_rule(_use(forward, rule, *points)))


def test_the_factor_and_the_wrong_entries_are_told() -> None:
    (fact,) = check_rule(_use(np.sin, lambda u, y, x: 3 * u * np.cos(x), X))
    assert fact.factor == pytest.approx(3.0)
    (fact,) = check_rule(_use(lambda x: x**2, lambda u, y, x: u * np.where(x > 0, 2 * x, x), X))
    assert fact.wrong_entries == ((2,),)


def test_a_dtype_other_than_the_arguments_is_told() -> None:
    rule = lambda u, y, x: (u * np.cos(x)).astype(np.float64)
    (fact,) = check_rule(_use(np.sin, rule, X.astype(np.float32)))
    assert fact.agrees
    assert fact.dtype == "float64"


def test_undecided_when_the_forward_cannot_be_followed() -> None:
    (fact,) = check_rule(_use(lambda x: np.unwrap(x), lambda u, y, x: u, X))
    assert fact.finding == "undecided"
    assert fact.reason


def test_the_rules_of_a_gradient_are_found() -> None:
    @custom_gradient
    def cube(x: Any) -> Any:
        return x**3, lambda upstream: upstream * 3 * x**2

    with GradientTape() as tape:
        x = tape.watch(X)
        y = np.sum(cube(cube(x)))
    uses = custom_uses(tape.gradient(y, x))
    assert [use.name for use in uses] == ["cube", "cube"]
    assert all(fact.agrees for use in uses for fact in check_rule(use))
