"""Functions that were traced before the hooks went in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradproof

tf = pytest.importorskip("tensorflow")


def make_step() -> tuple[Any, Any, list[str]]:
    w = tf.Variable([0.5, 2.0])
    traces: list[str] = []

    @tf.function
    def step(x: Any) -> Any:
        traces.append("traced")
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sin(w * x))
        w.assign_sub(0.1 * tape.gradient(loss, w))
        return loss

    return step, w, traces


def verdicts(report: gradproof.Report) -> list[tuple[str, str]]:
    return [(gradient.source, str(gradient.verdict)) for gradient in report.gradients]


def test_a_function_traced_before_is_seen() -> None:
    step, _, _ = make_step()
    step(tf.constant(2.0))
    with gradproof.watch() as report:
        step(tf.constant(2.0))
    assert verdicts(report) == [("w", "correct")]


def test_it_is_traced_once_more_for_all_watching_and_the_old_trace_serves_again_afterwards() -> None:
    step, _, traces = make_step()
    step(tf.constant(2.0))
    for _ in range(2):
        with gradproof.watch() as report:
            step(tf.constant(2.0))
        assert verdicts(report) == [("w", "correct")]
    step(tf.constant(2.0))
    assert len(traces) == 2


def test_a_function_first_traced_while_watched_is_not_traced_again() -> None:
    step, _, traces = make_step()
    with gradproof.watch():
        step(tf.constant(2.0))
    step(tf.constant(2.0))
    assert len(traces) == 1


def test_a_function_without_gradients_is_not_traced_again() -> None:
    traces: list[str] = []

    @tf.function
    def square(x: Any) -> Any:
        traces.append("traced")
        return x * x

    square(tf.constant(2.0))
    with gradproof.watch():
        square(tf.constant(2.0))
    assert len(traces) == 1


def test_a_rule_in_a_function_traced_before_is_named_at_its_line() -> None:
    rule = lambda up: up * 2.0
    triple = tf.custom_gradient(lambda x: (x * 3.0, rule))

    x = tf.constant([0.5, 2.0])
    through = [tf.function(triple), tf.function(lambda x: tf.reduce_sum(tf.function(triple)(x)))]
    for function in through:
        function(x)
        [found] = gradproof.check(lambda x, f=function: tf.reduce_sum(f(x)), x).gradients
        assert [one.kind for one in found.diagnostics] == ["custom-gradient"]
        assert found.diagnostics[0].primary.span.line == rule.__code__.co_firstlineno


def test_a_rule_of_a_library_is_no_reason_to_trace_again() -> None:
    traces: list[str] = []

    @tf.function
    def smooth(x: Any) -> Any:
        traces.append("traced")
        return tf.nn.silu(x)

    x = tf.constant([0.5, 2.0])
    smooth(x)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(smooth(x))
        tape.gradient(y, x)
    assert verdicts(report) == [("x", "correct")]
    assert len(traces) == 1


def test_the_function_computes_what_it_would_have_computed() -> None:
    watched, plain = make_step(), make_step()
    for step, w, _ in (watched, plain):
        step(tf.constant(2.0))
        if w is watched[1]:
            with gradproof.watch():
                step(tf.constant(2.0))
        else:
            step(tf.constant(2.0))
    np.testing.assert_array_equal(watched[1].numpy(), plain[1].numpy())


def test_a_gradient_in_a_function_that_an_older_function_calls_is_seen() -> None:
    step, _, _ = make_step()
    outer = tf.function(lambda x: step(2.0 * x))
    outer(tf.constant(2.0))
    with gradproof.watch() as report:
        outer(tf.constant(2.0))
    assert verdicts(report) == [("w", "correct")]


def test_an_older_concrete_function_is_said_to_be_out_of_sight_at_its_line() -> None:
    step, _, _ = make_step()
    concrete = step.get_concrete_function(tf.TensorSpec((), tf.float32))
    with gradproof.watch() as report:
        concrete(tf.constant(2.0))
    (gradient,) = report.gradients
    assert str(gradient.verdict) == "unverified"
    assert gradient.reason is not None and "traced before gradproof began" in gradient.reason
    assert gradient.call.line == make_step.__code__.co_firstlineno + 9


def test_a_keras_model_that_was_fitted_before_is_seen() -> None:
    net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    net.compile("sgd", "mse")
    x, y = np.ones((8, 3), "f"), np.zeros((8, 1), "f")
    net.fit(x, y, verbose=0)
    with gradproof.watch() as report:
        net.fit(x, y, verbose=0)
    assert {verdict for _, verdict in verdicts(report)} == {"correct"}
    assert len(report.gradients) == 2


def test_a_tape_around_an_older_function_is_judged_without_a_second_trace() -> None:
    traces: list[str] = []

    @tf.function
    def square(x: Any) -> Any:
        traces.append("traced")
        return x * x

    x = tf.Variable(3.0)
    square(x)
    n_before = len(traces)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = square(x)
        tape.gradient(y, x)
    assert verdicts(report) == [("x", "correct")]
    assert len(traces) == n_before
