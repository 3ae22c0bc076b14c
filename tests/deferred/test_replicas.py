"""The replicas of a strategy, which one process runs: the gradients of each are kept, and one report has them all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import gradproof

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
def test_every_replica_is_kept_and_judged(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "train.py").write_text(MIRRORED)
    kept = gradproof(tmp_path, "run", "--defer", "kept", "train.py")
    assert "[[2.0, 0.5], [2.0, nan]]" in kept.stdout
    assert "2 gradient calls kept in kept" in kept.stderr
    done = gradproof(tmp_path, "examine", "kept", "--json", "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    assert sorted(row["verdict"] for row in report["gradients"]) == ["correct", "nonfinite"], done.stdout
    assert {row["source"]["name"] for row in report["gradients"]} == {"w"}
    assert done.returncode == 1
