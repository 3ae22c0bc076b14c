"""A stop in a forward that has a rule of its own is read as the rule reads it; a wrong rule stays wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")
jax = pytest.importorskip("jax")

import gradproof
from gradproof.judge.verdict import Verdict

X = np.array([0.3, 1.2], np.float32)


def in_tensorflow(forward: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    @tf.custom_gradient
    def function(x):
        y = forward(x)
        return y, lambda up: up * slope(x, y)

    return function


def in_a_function(forward: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    return tf.function(in_tensorflow(forward, slope))


def in_jax(forward: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    function = jax.custom_vjp(forward)

    def forward_rule(x):
        y = forward(x)
        return y, (x, y)

    function.defvjp(forward_rule, lambda kept, up: (up * slope(*kept),))
    return function


# By framework: its functions, how it stops gradients, how it takes a rule, a number out of an array, and an argument.
FRAMEWORKS = {
    "TensorFlow": (tf, tf.stop_gradient, in_tensorflow, tf.reduce_sum, tf.constant),
    "tf.function": (tf, tf.stop_gradient, in_a_function, tf.reduce_sum, tf.constant),
    "JAX": (jax.numpy, jax.lax.stop_gradient, in_jax, jax.numpy.sum, jax.numpy.asarray),
}


def solved(f: Any, stop: Any, sign: float) -> tuple[Any, Any]:
    """z = cos(z + x) / 2, and the rule of the implicit function theorem if the sign is right."""

    def forward(x):
        z = 0.0 * x
        for _ in range(20):
            z = 0.5 * f.cos(z + x)
        return stop(z)

    def slope(x, z):
        s = -0.5 * f.sin(z + x)
        return s / (1.0 - sign * s)

    return forward, slope


def error(f: Any, stop: Any) -> tuple[Any, Any]:
    """The square of what is apart from a target that is meant to stay."""
    return lambda x: (x - stop(f.tanh(x))) ** 2, lambda x, _: 2.0 * (x - f.tanh(x))


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize(
    ("signs", "with_target", "verdict"),
    [
        ([1.0], False, Verdict.CORRECT),
        ([-1.0], False, Verdict.WRONG),
        ([], True, Verdict.CORRECT),
        ([1.0], True, Verdict.CORRECT),  # each in its own reading
        ([-1.0], True, Verdict.WRONG),
    ],
)
def test_each_rule_is_held_against_both_readings(
    framework: str, signs: list[float], with_target: bool, verdict: Verdict
) -> None:
    f, stop, ruled, total, argument = FRAMEWORKS[framework]
    pairs = [solved(f, stop, sign) for sign in signs] + [error(f, stop)] * with_target
    functions = [ruled(*pair) for pair in pairs]
    [found] = gradproof.check(lambda x: sum(total(g(x)) for g in functions), argument(X)).gradients
    assert found.verdict is verdict
    z = np.zeros(2)
    for _ in range(60):
        z = 0.5 * np.cos(z + X)
    s = -0.5 * np.sin(z + X)
    true = bool(signs) * s / (1.0 - s) + with_target * 2.0 * (X - np.tanh(X))
    np.testing.assert_allclose(found.reference, true, rtol=1e-5)


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_rule_that_returns_nothing_for_what_it_stops_is_right(framework: str) -> None:
    f, stop, ruled, total, argument = FRAMEWORKS[framework]
    held = ruled(lambda x: stop(f.square(x)), lambda x, _: 0.0 * x)
    [found] = gradproof.check(lambda x: total(held(x) * x), argument(X)).gradients
    assert found.verdict is Verdict.CORRECT
    np.testing.assert_allclose(found.reference, X**2, rtol=1e-5)
