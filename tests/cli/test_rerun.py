"""Code with effects is not run a second time; `--rerun` runs it in a process that is shut off from the world."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow

# The block counts its runs in a file, a variable and a list before the crash; an `atexit` handler sees what is left.
CRASHES = """
import atexit, os
import tensorflow as tf
x = tf.Variable([1.0, 2.0])
labels = tf.constant([1.0, 2.0], tf.float64)
ran = []
atexit.register(lambda: print("ran", len(ran), open("log.txt").read().count("once"), x.numpy().tolist()))
def effects():
    with open("log.txt", "a") as file:
        file.write("once ")
    ran.append(1)
    x.assign_add([1.0, 1.0])
with tf.GradientTape() as tape:
    effects()
    loss = tf.reduce_sum((x - labels) ** 2)
grad = tape.gradient(loss, x)
"""

UNUSED_RULE = """
import atexit
import tensorflow as tf
ran = []
@tf.custom_gradient
def f(x):
    def grad(up):
        ran.append(1)
        return up * 3.0 * x
    return x * x, grad
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = f(x)
print(tape.gradient(y, x))
atexit.register(lambda: print("ran", len(ran)))
"""

UNKNOWN = """
import atexit
import tensorflow as tf
ran = []
def f(x):
    ran.append(1)
    return tf.reduce_sum(x * x)
atexit.register(lambda: print("ran", len(ran)))
x = tf.constant([3.0, 1.0])
tf.test.gradient_check(f, [x])
"""


def run(script: str, folder: Path, *options: str) -> tuple[str, str]:
    (folder / "script.py").write_text(script, encoding="utf-8")
    command = [sys.executable, "-m", "gradproof", "run", *options, "script.py"]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "COLUMNS": "1000"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, timeout=600)
    return done.stdout, " ".join(done.stderr.split())


def test_a_block_with_effects_runs_once(tmp_path: Path) -> None:
    out, report = run(CRASHES, tmp_path)
    assert "ran 1 1 [2.0, 3.0]" in out
    assert "not looked at: what `tape.gradient(loss, x)` would return" in report
    assert "--rerun" in report and "checked: with this change" not in report


def test_rerun_runs_the_script_with_the_change_in_another_process(tmp_path: Path) -> None:
    out, report = run(CRASHES, tmp_path, "--rerun")
    assert "ran 1 1 [2.0, 3.0]" in out
    # What the mended program returns, not what a second turn of the block would.
    assert "reaches line 16, where TensorFlow returns [2.0, 2.0] for `x`" in report
    assert "1 gradient missing" in report and "not looked at" not in report


def test_a_rule_with_effects_is_not_tried(tmp_path: Path) -> None:
    out, report = run(UNUSED_RULE, tmp_path)
    assert "ran 0" in out
    assert "not looked at: what the hand-written gradient of `f` returns" in report


def test_rerun_tries_the_rule(tmp_path: Path) -> None:
    out, report = run(UNUSED_RULE, tmp_path, "--rerun")
    assert "ran 0" in out and "custom-gradient" in report


def test_a_function_with_effects_is_not_called_in_the_place_of_an_unknown_check(tmp_path: Path) -> None:
    out, report = run(UNKNOWN, tmp_path)
    assert "ran 0" in out and "not looked at: whether the gradient of `f` is right" in report


def test_rules_and_blocks_without_effects_are_looked_at_as_ever(tmp_path: Path) -> None:
    _, report = run(UNUSED_RULE.replace("ran.append(1)", "pass"), tmp_path)
    assert "custom-gradient" in report and "not looked at" not in report
    script = CRASHES.replace("    effects()\n", "").replace('open("log.txt").read()', "''")
    _, report = run(script, tmp_path)
    assert "reaches line 15, where TensorFlow returns [0.0, 0.0] for `x`" in report
    assert "not looked at" not in report
