"""Functions of the older kind (`Defun`), which TensorFlow itself still uses inside `ctc_loss`."""

from __future__ import annotations

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import gradproof

pytestmark = pytest.mark.tensorflow


def test_a_loop_over_functions_without_graphs_is_judged_inside_a_function():
    x = tf.Variable(np.random.default_rng(0).normal(size=(4, 1, 3)).astype("f"))

    @tf.function
    def gradient():
        with tf.GradientTape() as tape:
            loss = tf.nn.ctc_loss([[1, 2]], x, [2], [4], logits_time_major=True, blank_index=0)
        return tape.gradient(loss, x)

    with gradproof.watch() as report:
        gradient()
    assert [(row.source, str(row.verdict), row.reason) for row in report.gradients] == [
        ("x", "correct", None)
    ]
    assert report.notes == ()
