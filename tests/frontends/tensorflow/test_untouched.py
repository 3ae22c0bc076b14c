"""The user's program runs as it would without us: output, status, random numbers, weights."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow

OBSERVED = """
from gradproof.frontends.record.on_import import on_import

def watch():
    from gradproof.frontends.tensorflow.hooks import install
    from gradproof.frontends.tensorflow.observation import TensorFlowObservation
    seen = TensorFlowObservation({arguments})
    install(seen)
    import atexit, sys
    report = lambda: sys.stderr.write(f"SEEN {{len(seen.calls)}} FAILED {{seen.failures}}\\n")
    atexit.register(report)

on_import(watch, "tensorflow")
import sys
assert "tensorflow" not in sys.modules
"""

SCRIPT = """
import numpy as np
import tensorflow as tf

tf.random.set_seed(7)
w = tf.Variable(tf.random.normal([3, 2]))
noise = []

def loss(x):
    noise.append(tf.random.normal([2]))
    return tf.reduce_sum(tf.nn.dropout(tf.sin(x @ w) + noise[-1], 0.5) ** 2)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        cost = tf.reduce_sum(tf.tanh(x @ w) ** 2) + tf.reduce_sum(tf.random.normal([2]) * w[0])
    gradient = tape.gradient(cost, w)
    w.assign_sub(0.1 * gradient)
    tf.print("cost", cost)
    return cost

for i in range(4):
    x = tf.random.uniform([4, 3])
    with tf.GradientTape() as tape:
        y = loss(x)
    w.assign_sub(0.01 * tape.gradient(y, w))
    print(step(x).numpy().tobytes().hex())

tf.keras.utils.set_random_seed(1)
layers = [tf.keras.layers.Dense(4, activation="tanh"), tf.keras.layers.Dropout(0.3)]
net = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
net.compile("adam", "mse")
data = np.random.rand(32, 3).astype("f"), np.random.rand(32, 1).astype("f")
net.fit(*data, batch_size=8, epochs=2, verbose=2)
for array in [w.numpy(), *net.get_weights(), tf.random.normal([3]).numpy(), np.random.rand(2)]:
    print(array.tobytes().hex())
raise SystemExit(3)
"""


def run(tmp_path, script: str, observed: str | None) -> subprocess.CompletedProcess[str]:
    path = tmp_path / "script.py"
    path.write_text(textwrap.dedent(script))
    start = "" if observed is None else OBSERVED.format(arguments=observed)
    code = f"{start}\nimport runpy\nrunpy.run_path({str(path)!r}, run_name='__main__')"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def without_times(text: str) -> list[str]:
    """Keras prints how long its steps took; all else must be the same."""
    return [re.sub(r"\b\d+[mu]?s(/step|/epoch)?\b", "", line) for line in text.splitlines()]


def test_output_status_random_numbers_and_weights_are_the_same(tmp_path):
    plain = run(tmp_path, SCRIPT, None)
    watched = run(tmp_path, SCRIPT, "")
    assert "SEEN " in watched.stderr
    assert "FAILED []" in watched.stderr
    seen = int(watched.stderr.split("SEEN ")[1].split()[0])
    assert seen >= 6
    assert plain.returncode == watched.returncode == 3
    assert without_times(plain.stdout) == without_times(watched.stdout)


def test_a_fault_of_ours_leaves_the_program_alone(tmp_path):
    """The receiver raises, and the reading of variables is broken on purpose."""
    breaks = """
    import gradproof.frontends.tensorflow.eager.freeze as finish
    finish.operands = None
    """
    script = (
        "import tensorflow as tf\n"
        + textwrap.dedent(breaks)
        + textwrap.dedent(
            """
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = x * x
        print(tape.gradient(y, x).numpy())
        """
        )
    )
    done = run(tmp_path, script, "receiver=lambda call: 1 / 0")
    assert done.returncode == 0
    assert done.stdout == "4.0\n"
    assert "ZeroDivisionError" in done.stderr
    assert "object is not callable" in done.stderr


def test_another_op_callback_gets_what_it_would_without_us() -> None:
    """`enable_check_numerics` puts a check behind every op of a graph; a callback is given what the last returned."""
    import tensorflow as tf

    from gradproof.frontends.tensorflow.hooks import observe

    with observe(receiver=lambda call: None):
        try:
            with tf.GradientTape() as tape:  # from here on there is a callback of ours
                x = tf.constant([2.0, 0.0])
                tape.watch(x)
                tf.debugging.enable_check_numerics()
                y = tf.function(tf.square)(x)
                with pytest.raises(tf.errors.InvalidArgumentError, match="Detected Infinity"):
                    tf.function(tf.math.log)(x)
            assert tape.gradient(y, x).numpy().tolist() == [4.0, 0.0]
        finally:
            tf.debugging.disable_check_numerics()
