"""Gradient tapes in eager mode: what they recorded, where, and under which names."""

from __future__ import annotations

import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.frontends.tensorflow.hooks import observe  # noqa: E402
from gradproof.frontends.tensorflow.recording import GradientCall, OpEvent  # noqa: E402

pytestmark = pytest.mark.tensorflow


def ops(call: GradientCall, phase: str) -> list[str]:
    return [event.op for event in call.events if event.phase == phase]


def source_text(event: OpEvent) -> str:
    """The piece of this file that an event points at."""
    assert event.span is not None
    with open(event.span.file) as file:
        line = file.readlines()[event.span.line - 1]
    return line[event.span.column : event.span.end_column]


def test_a_gradient_call_is_seen_with_its_ops_values_and_names():
    with observe() as seen:
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x * 3.0)
        tape.gradient(loss, x)
    (call,) = seen.calls
    assert call.targets[0].name == "loss"
    assert call.sources[0].name == "x"
    assert ops(call, "forward") == ["ReadVariableOp", "Mul", "Sum"]
    assert "Mul" in ops(call, "backward")
    assert call.observed[0].array.tolist() == [3.0, 3.0]
    mul = next(event for event in call.events if event.op == "Mul")
    assert mul.outputs[0].array.tolist() == [3.0, 6.0]
    assert source_text(mul) == "x * 3.0"
    assert seen.failures == []
