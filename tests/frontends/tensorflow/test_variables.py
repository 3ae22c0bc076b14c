"""Which variable a tensor was read from, where TensorFlow does not say."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tensorflow.python import pywrap_tfe
from tests.audited import audited

import gradproof
from gradproof.frontends.tensorflow.hooks import observe
from gradproof.judge.verdict import Verdict

pytestmark = pytest.mark.tensorflow


def reads(call: Any) -> list[int]:
    """The handles of the reads before a gradient call, in order."""
    return [e.inputs[0].id for e in call.events if e.op == "ReadVariableOp" and e.phase == "forward"]


def test_an_op_that_is_given_variables_says_which_they_are() -> None:
    a, b = tf.Variable([2.0, 1.0]), tf.Variable([2.0, 1.0])
    with observe() as seen:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.stack([b, tf.exp(a), b]) * [1.0, 2.0])
        tape.gradient(y, [a, b])
    assert reads(seen.calls[0]) == [a.handle._id, b.handle._id, b.handle._id]


def test_equal_constants_are_no_reads() -> None:
    """After the gather each read of `a` is a copy; the constants have its numbers, its shape and its dtype."""
    a = tf.Variable([2.0, 1.0])
    tf.gather(a, [0])
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.sin(tf.gather(a, [1, 1])) * tf.exp(tf.constant([2.0, 1.0])) * a)
        tape.gradient(y, a)
    assert [row.verdict for row in report.gradients] == [Verdict.CORRECT]


def test_right_gradients_of_a_gathered_variable_stay_right_step_by_step() -> None:
    """Each update moves the numbers to another buffer, and other tensors come to lie where they were."""
    rng = np.random.default_rng(0)
    table, scale = tf.Variable(rng.normal(size=128).astype("f")), tf.Variable(1.5)
    with gradproof.watch(checks="all") as report:
        for _ in range(12):
            rows, y = rng.integers(0, 128, 128), rng.normal(size=128).astype("f")
            with tf.GradientTape() as tape:
                q = tf.exp(0.1 * tf.convert_to_tensor(y)) * tf.sin(tf.gather(table, rows)) * scale
                loss = tf.reduce_mean((q - tf.constant(y)) ** 2 * tf.tanh(tf.convert_to_tensor(y) + 1.0))
            by_table, by_scale = tape.gradient(loss, [table, scale])
            table.scatter_sub(tf.IndexedSlices(0.1 * by_table.values, by_table.indices))
            scale.assign_sub(0.1 * by_scale)
    assert {row.verdict for row in report.gradients} == {Verdict.CORRECT} and len(report.gradients) == 24


def test_a_variable_that_is_older_than_the_check_keeps_its_name_as_an_argument() -> None:
    older = tf.Variable([1.0, 2.0])

    @tf.function
    def slope(v: Any) -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(v * v)
        return tape.gradient(y, v)

    with gradproof.watch() as report:
        slope(older)
    assert [(row.source, row.verdict) for row in report.gradients] == [("older", Verdict.CORRECT)]


def test_a_check_does_not_look_at_every_object_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    scanned = []
    monkeypatch.setattr(gc, "get_objects", lambda *_: scanned.append(1) or [])
    v = tf.Variable([1.0, 2.0])
    checked = gradproof.check(lambda x: tf.reduce_sum(x * v), tf.constant([1.0, 3.0]))
    assert checked.verdicts == (Verdict.CORRECT,)
    assert not scanned


def test_tensorflow_has_its_own_function_back_afterwards() -> None:
    before = pywrap_tfe.TFE_Py_FastPathExecute
    with observe(), tf.GradientTape():
        assert pywrap_tfe.TFE_Py_FastPathExecute is not before
    assert pywrap_tfe.TFE_Py_FastPathExecute is before


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_a_single_number_of_any_dtype_is_known_as_its_variable(dtype: str, tmp_path: Path) -> None:
    script = tmp_path / "single.py"
    script.write_text(
        "import tensorflow as tf\n"
        f"x = tf.Variable(0.5, dtype=tf.{dtype})\n"
        "with tf.GradientTape() as tape:\n"
        "    y = tf.math.tanh(x)\n"
        "g = tape.gradient(y, x)\n",
        encoding="utf-8",
    )
    report, faults = audited(script)
    assert report.verdicts == (Verdict.CORRECT,) and not faults
