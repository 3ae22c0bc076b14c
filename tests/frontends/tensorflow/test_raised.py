"""Gradient calls that raised: an entry with the exception, and the rule it came out of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gradproof

tf = pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow


@tf.custom_gradient
def unfinished(x: Any) -> Any:
    def backward(upstream: Any) -> Any:
        raise NotImplementedError("to be written")

    return x * x, backward


RAISING_LINE = unfinished.__wrapped__.__code__.co_firstlineno + 3


def test_a_rule_of_the_users_that_raises_is_named_at_the_line_that_raises() -> None:
    x = tf.Variable(3.0)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = unfinished(x)
        with pytest.raises(NotImplementedError):
            tape.gradient(y, x)
    (row,) = report.gradients
    assert str(row.verdict) == "missing"
    assert row.reason == "NotImplementedError: to be written"
    assert row.reference == 6.0
    (cause,) = row.diagnostics
    assert cause.kind == "custom-gradient" and cause.primary is not None
    assert cause.primary.span.line == RAISING_LINE


def test_a_rule_of_tensorflow_that_raises_is_named_at_the_op() -> None:
    a = tf.Variable([[1.0, 2.0], [2.0, 4.0]])
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = tf.linalg.det(a)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tape.gradient(y, a)
    (row,) = report.gradients
    assert str(row.verdict) == "missing"
    assert row.reference is not None and row.reference.tolist() == [[4.0, -2.0], [-2.0, 1.0]]
    assert [cause.kind for cause in row.diagnostics] == ["framework-rule"]


def test_a_call_that_raises_while_its_function_is_traced_is_an_entry() -> None:
    x = tf.Variable(3.0)

    @tf.function
    def step() -> Any:
        with tf.GradientTape() as tape:
            y = unfinished(x)
        return tape.gradient(y, x)

    with gradproof.watch() as report, pytest.raises(NotImplementedError):
        step()
    (row,) = report.gradients
    assert str(row.verdict) == "unverified"
    assert row.reason is not None and "to be written" in row.reason


def test_a_library_function_is_not_taken_for_code_of_the_users() -> None:
    x = tf.Variable(1.4)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = 2.0 * tf.grad_pass_through(tf.round)(x)
        tape.gradient(y, x)
    (cause,) = report.gradients[0].diagnostics
    assert cause.kind == "straight-through" and cause.primary is not None
    assert Path(cause.primary.span.file).name == Path(__file__).name


def test_a_tape_that_is_asked_twice_is_said_to_be_empty() -> None:
    x = tf.Variable(3.0)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        with pytest.raises(RuntimeError):
            tape.gradient(y, x)
    first, second = report.gradients
    assert (str(first.verdict), first.diagnostics) == ("correct", ())
    (cause,) = second.diagnostics
    assert (str(second.verdict), cause.kind) == ("missing", "outside-tape")
    assert "a tape computes gradients only once" in cause.headline and "persistent=True" in cause.fix.text
