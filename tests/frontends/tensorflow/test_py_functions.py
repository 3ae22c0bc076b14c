"""Python functions inside a program: proven where their ops are seen, named where they are not, never called again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.audit.examine import examine
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.assemble.capture import to_capture
from gradproof.frontends.record.sites import always
from gradproof.frontends.tensorflow.hooks import observe
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

pytestmark = pytest.mark.tensorflow

X = np.array([1.0, 2.0, 3.0])


def judged(program: Any) -> list[GradientReport]:
    """`program` is given a tensor and a scalar variable and computes one gradient."""
    with observe(always) as seen:
        program(tf.constant(X), tf.Variable(2.0, dtype=tf.float64))
    assert seen.failures == []
    (call,) = seen.calls
    return examine(to_capture(call), Options())


def test_a_python_function_in_eager_code_is_proven_and_called_once() -> None:
    calls = []

    def product(a: Any, b: Any) -> Any:
        calls.append(1)
        return tf.sin(a) * b, a * a if tf.reduce_sum(a) > 0 else a

    def program(x: Any, w: Any) -> None:
        with tf.GradientTape() as tape:
            tape.watch(x)
            first, second = tf.py_function(product, [x, w], [tf.float64, tf.float64])
            loss = tf.reduce_sum(first * second)
        tape.gradient(loss, [x, w])

    found = judged(program)
    assert [(one.verdict, one.oracle) for one in found] == [(Verdict.CORRECT, "ball")] * 2
    assert found[0].reference == pytest.approx(2 * (np.cos(X) * X**2 + 2 * np.sin(X) * X))
    assert calls == [1]


def test_a_python_function_inside_another_is_proven() -> None:
    def outer(a: Any) -> Any:
        return tf.py_function(lambda b: tf.exp(b), [a * 0.5], tf.float64) * a

    def program(x: Any, w: Any) -> None:
        with tf.GradientTape() as tape:
            loss = w * tf.reduce_sum(tf.py_function(outer, [x * w], tf.float64))
        tape.gradient(loss, w)

    (found,) = judged(program)
    assert (found.verdict, found.oracle) == (Verdict.CORRECT, "ball")


def test_a_wrong_custom_gradient_in_a_python_function_is_the_only_cause() -> None:
    @tf.custom_gradient
    def square(a: Any) -> Any:
        return a * a, lambda gy: 3.0 * gy * a

    def program(x: Any, w: Any) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.py_function(square, [x * w], tf.float64))
        tape.gradient(loss, w)

    (found,) = judged(program)
    assert found.verdict is Verdict.WRONG
    assert [one.kind for one in found.diagnostics if one.severity == "error"] == ["custom-gradient"]


def test_in_a_function_the_reason_names_it_and_its_line() -> None:
    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(tf.py_function(lambda a: a * a, [x], tf.float64))
        return tape.gradient(loss, x)

    (found,) = judged(lambda x, w: step(x))
    assert found.verdict is Verdict.UNVERIFIED
    line = step.python_function.__code__.co_firstlineno + 4
    assert found.reason is not None
    assert "`tf.py_function`" in found.reason and f"test_py_functions.py:{line})" in found.reason


@pytest.mark.parametrize("mode", ["eager", "function"])
def test_a_numpy_function_is_where_a_gradient_is_lost(mode: str) -> None:
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.numpy_function(np.sin, [x], tf.float64)
            loss = tf.reduce_sum(y**2)
        return tape.gradient(loss, x)

    (found,) = judged(lambda x, w: (step if mode == "eager" else tf.function(step))(x))
    assert found.verdict is Verdict.MISSING
    (cause,) = found.diagnostics
    assert cause.kind == "left-framework"
    assert cause.primary is not None and cause.primary.span.line == step.__code__.co_firstlineno + 3


@pytest.mark.parametrize("traced", [False, True])
def test_the_lone_zero_that_makes_a_sum_of_gradients_fail_is_explained(traced: bool) -> None:
    def value(x: Any) -> Any:
        return tf.reduce_sum(tf.py_function(np.square, [x], tf.float64)) + tf.reduce_sum(x * x)

    def program(x: Any, w: Any) -> None:
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.function(value)(x) if traced else value(x)
        with pytest.raises(tf.errors.InvalidArgumentError, match="AddN"):
            tape.gradient(loss, x)

    (found,) = judged(program)
    assert (found.verdict, found.reference) == (
        Verdict.MISSING,
        None,
    )  # what goes through Python is not known
    assert found.reason is not None and found.reason.startswith("InvalidArgumentError: ")
    (cause,) = found.diagnostics
    assert (cause.kind, cause.severity) == ("left-framework", "error")
    assert "single zero" in cause.headline
