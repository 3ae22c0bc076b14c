"""Preparing the record of a gradient is a part of checking it: its time counts, and ends with the budget."""

from __future__ import annotations

from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.audit.budget import Budget
from gradproof.audit.session import Session

pytestmark = pytest.mark.tensorflow

LOOP = """
import tensorflow as tf
x = tf.Variable(1.0)

@tf.function
def step():
    with tf.GradientTape() as tape:
        y = x * 1.0
        for k in tf.range(3000):
            y = y + 0.001 * tf.sin(y)
    return tape.gradient(y, x)

step()
"""
CALLED = """
import tensorflow as tf
x = tf.Variable(1.0)

@tf.function
def loss():
    y = x * 1.0
    for k in tf.range(3000):
        y = y + 0.001 * tf.sin(y)
    return y

with tf.GradientTape() as tape:
    y = loss()
tape.gradient(y, x)
"""


@pytest.mark.parametrize("script", [LOOP, CALLED], ids=["inside", "called"])
def test_taking_a_function_apart_ends_with_the_budget_and_the_gradient_is_told(
    script: str, tmp_path: Path
) -> None:
    path = tmp_path / "script.py"
    path.write_text(script)
    session = Session()
    session.budget = Budget(0.05)  # far less than the record of 3000 rounds takes
    session.start()
    try:
        exec(compile(script, str(path), "exec"), {"__name__": "__main__"})
    finally:
        session.stop()
    (row,) = session.gradients
    assert (row.verdict.value, row.source) == ("unverified", "x")
    assert "budget" in (row.reason or "") and not session.faults
    assert session.budget.spent >= 0.05
