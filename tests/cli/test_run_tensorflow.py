"""Scripts that use TensorFlow: seen without a change, and trained to the same bits."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.running import audited, gradproof, python

pytest.importorskip("tensorflow")
pytestmark = pytest.mark.tensorflow

QUIET = """\
import os
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import random
import numpy as np
import tensorflow as tf
"""
TRAINING = (
    QUIET
    + """\
tf.random.set_seed(3)
np.random.seed(3)
w = tf.Variable(tf.random.normal([4, 3]))
b = tf.Variable(tf.zeros([3]))
x = tf.random.normal([16, 4])
for step in range(12):
    with tf.GradientTape() as tape:
        h = tf.nn.dropout(tf.tanh(x @ w + b), 0.3)
        loss = tf.reduce_mean((h - np.random.rand()) ** 2)
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.1 * dw)
    b.assign_sub(0.1 * db)
print(w.numpy().tobytes().hex(), b.numpy().tobytes().hex())
print(float(tf.random.uniform([])), np.random.rand(), random.Random(1).random())
"""
)
UNWATCHED = (
    QUIET
    + """\
x = tf.constant(2.0)
with tf.GradientTape() as tape:
    y = tf.sin(x)
slope = tape.gradient(y, x)
print(slope.numpy())
"""
)


def test_training_ends_with_the_same_bits_and_the_same_random_numbers(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(TRAINING)
    plain = python(tmp_path, "script.py")
    assert plain.returncode == 0, plain.stderr
    done = gradproof(tmp_path, "run", "--quiet", "script.py")
    assert done.stdout == plain.stdout
    assert "6 gradients correct" in done.stderr


def test_a_missing_gradient_is_an_entry_and_the_crash_is_connected_with_it(tmp_path: Path) -> None:
    found = audited(tmp_path, UNWATCHED)
    [gradient] = found["gradients"]
    assert (gradient["verdict"], gradient["line"]) == ("missing", 9)
    assert gradient["reference"] == pytest.approx(-0.4161468365471424, rel=1e-12)
    assert [cause["kind"] for cause in gradient["causes"]] == ["not-watched"]
    assert found["script"]["crash"]["message"] == "`slope` holds no gradient, and line 10 uses it"
    assert found["script"]["exception"] == "AttributeError: 'NoneType' object has no attribute 'numpy'"
    assert found["frameworks"]["tensorflow"]
