"""The replicas of a strategy, which one process runs: the gradients of each are kept, and one report has them all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import gradproof

RUN = "strategy.run(step, args=(x,))"
COMPILED = f"tf.function(lambda x: {RUN})(x)"
# The second replica takes the logarithm of zero in a branch that is not selected.
MIRRORED = """\
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    w = tf.Variable([0.5, 2.0], name="w")


def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.where(x > 0.0, tf.math.log(x * w), 0.0))
    return tape.gradient(loss, w)


x = strategy.experimental_distribute_values_from_function(
    lambda context: tf.constant([1.0, 4.0 if context.replica_id_in_sync_group == 0 else 0.0])
)
print([one.numpy().tolist() for one in strategy.experimental_local_results(strategy.run(step, args=(x,)))])
"""


@pytest.mark.tensorflow
@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_every_replica_is_kept_and_judged_and_what_they_do_not_agree_on_is_named(
    mode: str, tmp_path: Path
) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "train.py").write_text(MIRRORED if mode == "eager" else MIRRORED.replace(RUN, COMPILED))
    kept = gradproof(tmp_path, "run", "--defer", "kept", "train.py")
    assert "[[2.0, 0.5], [2.0, nan]]" in kept.stdout
    assert "2 gradient calls kept in kept" in kept.stderr
    done = gradproof(tmp_path, "examine", "kept", "--json", "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    assert sorted(row["verdict"] for row in report["gradients"]) == ["correct", "nonfinite"], done.stdout
    assert {row["source"]["name"] for row in report["gradients"]} == {"w"}
    assert [note for note in report["notes"] if "disagree" in note] == [
        "the replicas disagree on d loss / d w at train.py:13: correct on replica 0 and nonfinite on replica 1"
    ]
    assert done.returncode == 1


FIT = """\
import numpy as np
import tensorflow as tf

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, activation="tanh"), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3)
model.fit(x, x[:, :1], batch_size=4, verbose=0)
print("trained")
"""


@pytest.mark.tensorflow
def test_a_model_that_keras_fits_on_two_devices_is_trained_and_judged(tmp_path: Path) -> None:
    """No frame of the user's is in the threads of the replicas, which wait for each other to join their gradients."""
    pytest.importorskip("tensorflow")
    (tmp_path / "train.py").write_text(FIT)
    done = gradproof(tmp_path, "run", "--json", "report.json", "train.py")
    assert done.stdout == "trained\n"
    report = json.loads((tmp_path / "report.json").read_text())
    assert [row["verdict"] for row in report["gradients"]] == ["correct"] * 8
    # On a busy machine a note says how long checking took.
    assert [note for note in report["notes"] if not note.startswith("checking took")] == []
