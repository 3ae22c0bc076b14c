"""Mixed precision: what 16 bits allow is correct where the program's policy chose them, and not where a line did."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from gradproof.diagnosis.report import Report
from gradproof.ir.types import digits_possible
from tests.audited import audited

_BODY = """\
x = tf.Variable([1.003, 0.501, 2.207])
def narrow(x, dtype):
    return tf.cast(x, dtype)
with tf.GradientTape() as tape:
    {half}
    loss = tf.reduce_sum(tf.cast(half, tf.float32) ** 3)
print(tape.gradient(loss, x))
"""
_KERAS = """\
import tensorflow as tf
tf.keras.utils.set_random_seed(1)
before = tf.keras.mixed_precision.dtype_policy()
tf.keras.mixed_precision.set_dtype_policy("mixed_{dtype}")
try:
    last = tf.keras.layers.Activation("linear", dtype="float32")
    model = tf.keras.Sequential([tf.keras.layers.Dense(6, "relu"), tf.keras.layers.Dense(3), last])
    x = tf.random.stateless_normal((8, 4), (1, 2))
    y = tf.constant([0, 1, 2, 0, 1, 2, 0, 1])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
    print(tape.gradient(loss, model.trainable_variables))
finally:
    tf.keras.mixed_precision.set_dtype_policy(before)
"""
_LAST_WIDE = """\
import tensorflow as tf
tf.keras.utils.set_random_seed(2)
before = tf.keras.mixed_precision.dtype_policy()
tf.keras.mixed_precision.set_dtype_policy("mixed_bfloat16")
try:
    last = tf.keras.layers.Dense(3, dtype="float32")
    model = tf.keras.Sequential([tf.keras.layers.Dense(32, "relu"), last])
    x = tf.random.stateless_normal((16, 8), (1, 2))
    y = tf.random.stateless_uniform((16,), (3, 4), 0, 3, tf.int32)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x)))
    print(tape.gradient(loss, model.trainable_variables))
finally:
    tf.keras.mixed_precision.set_dtype_policy(before)
"""
_LARGER = """\
import tensorflow as tf
tf.keras.utils.set_random_seed(1)
before = tf.keras.mixed_precision.dtype_policy()
tf.keras.mixed_precision.set_dtype_policy("mixed_float16")
try:
    last = tf.keras.layers.Activation("linear", dtype="float32")
    hidden = [tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(64, "relu")]
    model = tf.keras.Sequential([*hidden, tf.keras.layers.Dense(10), last])
    x = tf.random.stateless_uniform((256, 784), (1, 2))
    y = tf.random.stateless_uniform((256,), (3, 4), 0, 10, tf.int32)
    with tf.GradientTape() as tape:
        loss = 1024 * tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, model(x), from_logits=True))
    print(tape.gradient(loss, model.trainable_variables))
finally:
    tf.keras.mixed_precision.set_dtype_policy(before)
"""

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="tensorflow is not installed"),
]


def _report(tmp_path: Path, text: str) -> Report:
    path = tmp_path / "script.py"
    path.write_text(text, encoding="utf-8")
    report, faults = audited(path)
    assert not faults, faults[0]
    return report


def test_a_model_in_mixed_precision_is_correct(tmp_path: Path) -> None:
    report = _report(tmp_path, _KERAS.format(dtype="float16"))
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}
    assert any("float16" in (gradient.reason or "") for gradient in report.gradients)
    assert not report.diagnostics


def test_single_entries_that_bfloat16_spoils_are_no_error(tmp_path: Path) -> None:
    report = _report(tmp_path, _KERAS.format(dtype="bfloat16"))
    assert "correct" in {str(verdict) for verdict in report.verdicts}
    assert {gradient.level for gradient in report.gradients} <= {"note", "warning"}


def test_a_last_layer_in_float32_is_judged_by_the_16_bits_that_its_gradient_is_made_of(
    tmp_path: Path,
) -> None:
    report = _report(tmp_path, _LAST_WIDE)
    assert {gradient.digits_possible for gradient in report.gradients} == {digits_possible("bfloat16")}
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}
    assert {diagnostic.severity for diagnostic in report.diagnostics} <= {"note"}


def test_numbers_that_no_16_bits_went_into_are_judged_by_their_own_dtype(tmp_path: Path) -> None:
    both = "loss = tf.reduce_sum(tf.cast(half, tf.float32) ** 3) + tf.reduce_sum((z + 4096.0 - 4096.0) ** 2)"
    text = _BODY.format(half="half = narrow(x, policy)").replace(
        "loss = tf.reduce_sum(tf.cast(half, tf.float32) ** 3)", both
    )
    text = "import tensorflow as tf\npolicy = tf.bfloat16\nz = tf.Variable([0.013])\n" + text.replace(
        "gradient(loss, x)", "gradient(loss, [x, z])"
    )
    verdicts = [str(gradient.verdict) for gradient in _report(tmp_path, text).gradients]
    assert verdicts == ["correct", "inaccurate"]


def test_a_cast_that_the_line_names_is_judged_by_the_sources_own_dtype(tmp_path: Path) -> None:
    text = "import tensorflow as tf\n" + _BODY.format(half="half = tf.cast(x, tf.bfloat16)")
    (gradient,) = _report(tmp_path, text).gradients
    assert str(gradient.verdict) == "inaccurate"


def test_a_cast_to_whatever_the_policy_says_is_by_policy(tmp_path: Path) -> None:
    text = "import tensorflow as tf\npolicy = tf.bfloat16\n" + _BODY.format(half="half = tf.cast(x, policy)")
    (gradient,) = _report(tmp_path, text).gradients
    assert str(gradient.verdict) == "correct"
    assert gradient.digits_possible is not None
    assert gradient.digits_possible < 3


def test_a_policy_that_no_line_names_widens_what_is_asked_for_as_a_policy_that_is_known(
    tmp_path: Path,
) -> None:
    """Entries far below the largest bear its roundings, and a unit of one sample that flips is no more than noted."""
    report = _report(tmp_path, _LARGER)
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}
    assert {diagnostic.severity for diagnostic in report.diagnostics} <= {"note"}
