"""Mistakes planted in gradients written by hand, and their innocent twins: functions, rules, and ways to spoil them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Rule = Callable[..., Any]  # (dy, y, *xs) -> one gradient per argument


@dataclass(frozen=True)
class Function:
    """A forward and its right rule, as a sum of terms so that one can be left out; `inner` lacks a slope."""

    name: str
    forward: Callable[..., Any]
    rule: Rule
    args: tuple[Array, ...]
    fewer_terms: tuple[Rule, ...] = ()
    inner: Rule | None = None
    other_branch: Rule | None = None
    one_copy: Rule | None = None


@dataclass(frozen=True)
class Planted:
    """A wrong rule for a function; `words` are those by which the report has to name it."""

    kind: str
    function: Function
    rule: Rule
    words: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} in {self.function.name}"


_RNG = np.random.default_rng(20)
_V = np.array([0.3, -1.2, 2.0, 0.7])
_P = np.array([0.4, 1.7, 0.9, 2.6])
_A, _B = _RNG.normal(size=(3, 3)), _RNG.normal(size=(3, 3))
_S = np.array(0.8)


def _softmax(x: Any) -> Any:
    e = np.exp(x)
    return e / np.sum(e)


FUNCTIONS: tuple[Function, ...] = (
    Function("sin", np.sin, lambda dy, y, x: dy * np.cos(x), (_V,)),
    Function("tanh", np.tanh, lambda dy, y, x: dy * (1 - y * y), (_V,)),
    Function("sin of a number", np.sin, lambda dy, y, x: dy * np.cos(x), (_S,)),
    Function("log", np.log, lambda dy, y, x: dy / x, (_P,)),
    Function("root", np.sqrt, lambda dy, y, x: dy / (2 * y), (_P,)),
    Function("cube", lambda x: x**3, lambda dy, y, x: dy * 3 * x**2, (_V,)),
    Function(
        "product with a sine",
        lambda x: x * np.sin(x),
        lambda dy, y, x: dy * (np.sin(x) + x * np.cos(x)),
        (_V,),
        (lambda dy, y, x: dy * np.sin(x), lambda dy, y, x: dy * x * np.cos(x)),
    ),
    Function(
        "product of a number",
        lambda x: x * np.exp(x),
        lambda dy, y, x: dy * (np.exp(x) + x * np.exp(x)),
        (_S,),
        (lambda dy, y, x: dy * np.exp(x), lambda dy, y, x: dy * x * np.exp(x)),
    ),
    Function(
        "softmax",
        _softmax,
        lambda dy, y, x: y * (dy - np.sum(dy * y)),
        (_V,),
        (lambda dy, y, x: y * dy,),
    ),
    Function(
        "sine of a square",
        lambda x: np.sin(x**2),
        lambda dy, y, x: dy * np.cos(x**2) * 2 * x,
        (_V,),
        inner=lambda dy, y, x: dy * np.cos(x**2),
    ),
    Function(
        "exponential of a sine",
        lambda x: np.exp(np.sin(x)),
        lambda dy, y, x: dy * y * np.cos(x),
        (_V,),
        inner=lambda dy, y, x: dy * y,
    ),
    Function("matrix product", lambda a: a @ _B, lambda dy, y, a: dy @ _B.T, (_A,)),
    Function(
        "square of a matrix",
        lambda a: a @ a,
        lambda dy, y, a: dy @ a.T + a.T @ dy,
        (_A,),
        (lambda dy, y, a: dy @ a.T, lambda dy, y, a: a.T @ dy),
    ),
    Function("inverse", np.linalg.inv, lambda dy, y, a: -y.T @ dy @ y.T, (_A + 3 * np.eye(3),)),
    Function(
        "broadcast",
        lambda x: np.sin(x) * np.arange(1.0, 6.0)[:, None],
        lambda dy, y, x: np.sum(dy * np.arange(1.0, 6.0)[:, None], 0) * np.cos(x),
        (_V,),
        one_copy=lambda dy, y, x: dy[0] * np.cos(x),
    ),
    Function(
        "bias",
        lambda x: x + np.outer(np.arange(3.0), np.ones(4)),
        lambda dy, y, x: np.sum(dy, 0),
        (_V,),
        one_copy=lambda dy, y, x: dy[0],
    ),
    Function(
        "pieces",
        lambda x: np.where(x > 0.5, x**2, np.sin(x)),
        lambda dy, y, x: dy * np.where(x > 0.5, 2 * x, np.cos(x)),
        (_V,),
        other_branch=lambda dy, y, x: dy * np.where(x > 0.5, 2 * x, np.cosh(x)),
    ),
    Function(
        "pieces of a number",
        lambda x: np.where(x > 0, x**2, np.sin(x)),
        lambda dy, y, x: dy * np.where(x > 0, 2 * x, np.cos(x)),
        (-_S,),
        other_branch=lambda dy, y, x: dy * 2 * x,
    ),
    Function(
        "two arguments",
        lambda a, b: a**2 * b,
        lambda dy, y, a, b: (dy * 2 * a * b, dy * a**2),
        (_V, _P),
    ),
)


# Right rules of functions that are hard on finite differences: noise, oscillation, scales, a kink nearby.
HARD: tuple[Function, ...] = (
    Function("offset", lambda x: 1e8 + np.sin(x), lambda dy, y, x: dy * np.cos(x), (_V,)),
    Function("oscillation", lambda x: np.sin(1e4 * x), lambda dy, y, x: dy * 1e4 * np.cos(1e4 * x), (_V,)),
    Function("tiny inputs", lambda x: np.exp(x * 1e9), lambda dy, y, x: dy * y * 1e9, (_V * 1e-9,)),
    Function(
        "huge inputs",
        lambda x: np.sin(x * 1e-12),
        lambda dy, y, x: dy * 1e-12 * np.cos(x * 1e-12),
        (_V * 1e12,),
    ),
    Function("steep", lambda x: np.exp(30.0 * x), lambda dy, y, x: dy * 30.0 * y, (_P,)),
    Function("kink nearby", np.abs, lambda dy, y, x: dy * np.sign(x), (_V * 1e-9,)),
    Function("edge of the domain", np.sqrt, lambda dy, y, x: dy / (2 * y), (_P * 1e-9,)),
    Function("saturated", np.tanh, lambda dy, y, x: dy / np.cosh(x) ** 2, (_V * 8.0,)),
    Function("high power", lambda x: x**20, lambda dy, y, x: dy * 20 * x**19, (_P,)),
    Function("sum of scales", lambda x: x * 1e6 + x**2, lambda dy, y, x: dy * (1e6 + 2 * x), (_V,)),
)


def each(rule: Rule, change: Callable[[Any], Any]) -> Rule:
    """The rule with its first gradient changed."""

    def changed(dy: Any, y: Any, *xs: Any) -> Any:
        found = rule(dy, y, *xs)
        return (change(found[0]), *found[1:]) if isinstance(found, tuple) else change(found)

    return changed


def _with_upstream(rule: Rule, change: Callable[[Any], Any]) -> Rule:
    return lambda dy, y, *xs: rule(change(dy), y, *xs)


def _at_last_entry(gradient: Any) -> Any:
    factors = np.ones(np.shape(gradient))
    factors.reshape(-1)[-1] = 1.5
    return gradient * factors


def _quotient(function: Function, step: float, scheme: str) -> Rule:
    """An entrywise function differentiated by a quotient, as people do who do not know its derivative."""

    def rule(dy: Any, y: Any, x: Any) -> Any:
        f = function.forward
        if scheme == "forward":
            return dy * (f(x + step) - f(x)) / step
        if scheme == "backward":
            return dy * (f(x) - f(x - step)) / step
        return dy * (f(x + step) - f(x - step)) / (2 * step)

    return rule


_ENTRYWISE = (
    "sin",
    "tanh",
    "sin of a number",
    "log",
    "root",
    "cube",
    "product with a sine",
    "sine of a square",
)
_FACTORS = (2.0, 0.5, -3.0, 1.001, 1.000001, 0.9999999, 1e-3, 10.0)


def planted() -> Iterator[Planted]:
    """Every kind of mistake in every function in which it can be made."""
    for function in FUNCTIONS:
        yield from _in_any(function)
        for rule in function.fewer_terms:
            yield Planted("missing term", function, rule, ("leaves out a term",))
        if function.inner is not None:
            yield Planted("missing factor", function, function.inner, ("leaves out a factor",))
        if function.one_copy is not None:
            yield Planted(
                "un-reduced broadcast", function, function.one_copy, ("copies that broadcasting made",)
            )
        if function.other_branch is not None:
            yield Planted("branch", function, function.other_branch, ("is wrong where the condition",))
        if function.args[0].ndim == 2:
            yield Planted("transposed", function, each(function.rule, np.transpose), ("is transposed",))
        if function.name in _ENTRYWISE:
            yield from _quotients(function)


def _in_any(function: Function) -> Iterator[Planted]:
    rule = function.rule
    yield Planted("sign", function, each(rule, lambda g: -g), ("has the wrong sign",))
    for factor in _FACTORS:
        scaled = each(rule, lambda g, factor=factor: factor * g)  # type: ignore[misc]
        yield Planted(f"factor {factor:.8g}", function, scaled, ("times too", "of its size"))
    yield Planted("zero", function, each(rule, lambda g: 0 * g), ("is zero, but",))
    yield Planted("extra term", function, _with_extra(rule), ("has a term too many", "is not linear"))
    ones = _with_upstream(rule, lambda dy: np.ones(np.shape(dy)))
    yield Planted("ignores upstream", function, ones, ("ignores the gradient that comes in",))
    squared = _with_upstream(rule, lambda dy: dy * dy)
    yield Planted("not linear", function, squared, ("is not linear in the gradient",))
    if function.args[0].ndim:
        yield Planted("entries", function, each(rule, _at_last_entry), ("is wrong at 1 of",))
    narrow = each(rule, lambda g: g.astype(np.float16))
    yield Planted("dtype", function, narrow, ("computes in float16",))
    if len(function.args) == 2:
        yield Planted(
            "swapped", function, lambda *a: rule(*a)[::-1], ("belongs to another of its arguments",)
        )


def _with_extra(rule: Rule) -> Rule:
    def more(dy: Any, y: Any, *xs: Any) -> Any:
        found = rule(dy, y, *xs)
        first = found[0] if isinstance(found, tuple) else found
        first = first + 0.1 * xs[0]
        return (first, *found[1:]) if isinstance(found, tuple) else first

    return more


def _quotients(function: Function) -> Iterator[Planted]:
    for scheme, step in (
        ("forward", 1e-2),
        ("forward", 1e-4),
        ("forward", 1e-6),
        ("backward", 1e-3),
        ("central", 1e-2),
    ):
        rule = _quotient(function, step, scheme)
        yield Planted(f"{scheme} difference {step:g}", function, rule, ("is a finite difference",))


def weighted(values: Any) -> Any:
    """A loss whose gradient is different for every entry of the result."""
    weights = np.cos(np.arange(1.0, 1.0 + np.size(values))).reshape(np.shape(values))
    return np.sum(values * weights)


def as_operation(function: Function, rule: Rule, decorate: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a rule, as a custom gradient."""

    @decorate
    def operation(*xs: Any) -> Any:
        y = function.forward(*xs)
        return y, lambda dy: rule(dy, y, *xs)

    return lambda *xs: weighted(operation(*xs))  # type: ignore[no-any-return]


def as_gradient(function: Function, rule: Rule) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The function and its gradient as two functions, the way `check(f, gradient=...)` takes them."""

    def loss(*xs: Any) -> Any:
        return weighted(function.forward(*xs))

    def gradient(*xs: Any) -> Any:
        y = function.forward(*xs)
        weights = np.cos(np.arange(1.0, 1.0 + np.size(y))).reshape(np.shape(y))
        return rule(weights, y, *xs)

    return loss, gradient
