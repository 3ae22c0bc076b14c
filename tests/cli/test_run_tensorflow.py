"""Scripts that use TensorFlow: seen without a change, and trained to the same bits."""

from __future__ import annotations

import re
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
MODES = (
    QUIET
    + """\
import sys
tf.keras.utils.set_random_seed(11)

def bits(variables):
    return [np.asarray(v).tobytes().hex() for v in variables]

w = tf.Variable(tf.random.normal([3, 2]))

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.dropout(tf.tanh(x @ w), 0.4) ** 2) + tf.reduce_sum(tf.random.normal([2]) * w[0])
    w.assign_sub(0.05 * tape.gradient(loss, w))
    tf.print("loss", loss, output_stream=sys.stdout)
    return loss

for _ in range(12):
    print(float(step(tf.random.uniform([4, 3]))))
print(bits([w]))

for eagerly in (False, True):
    net = tf.keras.Sequential([
        tf.keras.layers.Dense(5, activation="relu"), tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1),
    ])
    net.compile("adam", "mse", run_eagerly=eagerly)
    x = np.random.normal(size=(40, 3)).astype("f")
    history = net.fit(x, x[:, :1], batch_size=8, epochs=3, verbose=2)
    print(history.history["loss"], bits(net.weights))
print(tf.random.normal([2]).numpy().tolist(), np.random.rand(), random.random())
sys.exit(3)
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


def test_functions_and_fit_end_with_the_same_bits_the_same_output_and_the_same_status(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(MODES)
    plain = python(tmp_path, "script.py")
    done = gradproof(tmp_path, "run", "--quiet", "script.py")
    timeless = re.compile(r"\d+m?s(/step)?")
    assert timeless.sub("", done.stdout) == timeless.sub("", plain.stdout)
    assert (plain.returncode, done.returncode) == (3, 3)
    # One in the loop's function at its 1st, 2nd and 10th run, and six for each fit at its 1st, 2nd and 10th step.
    assert "39 gradients correct" in done.stderr


def test_a_missing_gradient_is_an_entry_and_the_crash_is_connected_with_it(tmp_path: Path) -> None:
    found = audited(tmp_path, UNWATCHED)
    [gradient] = found["gradients"]
    assert (gradient["verdict"], gradient["line"]) == ("missing", 9)
    assert gradient["reference"] == pytest.approx(-0.4161468365471424, rel=1e-12)
    assert [cause["kind"] for cause in gradient["causes"]] == ["not-watched"]
    assert found["script"]["crash"]["message"] == "`slope` holds no gradient, and line 10 uses it"
    assert found["script"]["exception"] == "AttributeError: 'NoneType' object has no attribute 'numpy'"
    assert found["frameworks"]["tensorflow"]
