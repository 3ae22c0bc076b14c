"""What a tape inside a function has heard: only that is differentiated, as TensorFlow does."""

from __future__ import annotations

from typing import Any

import pytest

import gradproof

tf = pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow


def judged(function: Any, *args: Any) -> list[tuple[str, str, list[str]]]:
    """Source, verdict and causes of the gradients that a function computes, under `tf.function` and without."""
    found = []
    for run in (tf.function(function), function):
        with gradproof.watch() as report:
            run(*args)
        found.append([
            (row.source, str(row.verdict), [cause.kind for cause in row.diagnostics]) for row in report.gradients
        ])  # fmt: skip
    assert found[0] == found[1]
    return found[0]


def test_a_target_computed_before_the_tape_is_a_constant_for_it() -> None:
    w = tf.Variable([0.5, 1.5])

    def step(state: Any, following: Any) -> Any:
        wanted = 1.0 + 0.9 * tf.reduce_sum(w * following)
        with tf.GradientTape() as tape:
            loss = (tf.reduce_sum(w * state) - wanted) ** 2
        return tape.gradient(loss, w)

    assert judged(step, tf.constant([1.0, 2.0]), tf.constant([2.0, 1.0])) == [
        ("w", "correct", ["outside-tape"])
    ]


def test_an_argument_computed_before_the_call_is_a_constant() -> None:
    w = tf.Variable([0.5, 1.5])

    def step(scaled: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(scaled * w)
        return tape.gradient(loss, w)

    assert judged(step, 2.0 * w) == [("w", "correct", [])]


def test_what_is_computed_while_recording_is_stopped_is_a_constant() -> None:
    x = tf.Variable(2.0)

    def step() -> Any:
        with tf.GradientTape() as tape:
            y = x * x
            with tape.stop_recording():
                c = y * x
            z = y + c
        return tape.gradient(z, x)

    assert judged(step) == [("x", "correct", [])]


def test_what_was_computed_before_a_reset_is_a_constant() -> None:
    x = tf.Variable(2.0)

    def step() -> Any:
        with tf.GradientTape() as tape:
            y = x * x
            tape.reset()
            z = y + 3.0 * x
        return tape.gradient(z, x)

    assert judged(step) == [("x", "correct", ["outside-tape"])]


def test_a_reset_forgets_what_was_watched() -> None:
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            tape.reset()
            y = x * x
        tape.gradient(y, x)
        return y

    assert judged(step, tf.constant(2.0)) == [("x", "missing", ["not-watched"])]


def test_a_constant_that_was_not_watched() -> None:
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        return y

    assert judged(step, tf.constant(2.0)) == [("x", "missing", ["not-watched"])]


def test_a_target_computed_after_the_tape() -> None:
    x = tf.Variable([1.0, 2.0])

    def step() -> Any:
        with tf.GradientTape() as tape:
            y = x * x
        z = tf.reduce_sum(y)
        tape.gradient(z, x)
        return z

    assert judged(step) == [("x", "missing", ["outside-tape"])]


def test_a_wrong_rule_is_still_wrong() -> None:
    x = tf.Variable(2.0)

    @tf.custom_gradient
    def square(x: Any) -> Any:
        return x * x, lambda upstream: 3.0 * x * upstream

    def step() -> Any:
        before = x * x
        with tf.GradientTape() as tape:
            y = square(x) + before
        return tape.gradient(y, x)

    assert judged(step) == [("x", "wrong", ["custom-gradient"])]


def test_a_tape_in_a_loop_hears_what_its_own_turn_computes() -> None:
    w = tf.Variable([0.5, 1.5])

    @tf.function
    def step(x: Any) -> Any:
        total = tf.zeros([2])
        for _ in tf.range(2):
            before = tf.reduce_sum(w * x)
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(w * w) * before
            total += tape.gradient(y, w)
        return total

    with gradproof.watch() as report:
        step(tf.constant([1.0, 2.0]))
    assert [str(verdict) for verdict in report.verdicts] == ["correct", "correct"]
