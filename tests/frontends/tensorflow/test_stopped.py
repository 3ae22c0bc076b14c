"""Training steps that cannot be traced because every gradient is None: reason, line and crash are told."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from tests.audit.crashing import audited

from gradproof.diagnosis.report import Report
from gradproof.judge.verdict import Verdict

pytestmark = pytest.mark.tensorflow

FIT = """\
import numpy as np, keras, tensorflow as tf
net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3, "tanh"), keras.layers.Dense(1)])
def loss(y_true, y_pred):
    seen = LOST
    return tf.reduce_mean((y_true - seen) ** 2)
net.compile("sgd", loss)
x, y = np.ones((4, 2), "f"), np.ones((4, 1), "f")
net.TRAINED(x, y)
"""
STEP = """\
import keras, tensorflow as tf
w = tf.Variable([0.3, 0.4])
optimizer = keras.optimizers.SGD()
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        y = w * x
        loss = tf.reduce_sum(tf.round(y))
    g = tape.gradient(loss, [w])
    optimizer.apply_gradients(zip(g, [w]))
step(tf.constant([1.0, 2.0]))
"""
MENDED_LATER = """\
import tensorflow as tf
w = tf.Variable(0.3)
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = w * x
    return tape.gradient(loss, w) + tf.ones([2]) @ tf.ones([3])
step(tf.constant(1.0))
"""


def _rows(report: Report) -> list[tuple[Verdict, str, int]]:
    found = []
    for row in report.gradients:
        (one,) = row.diagnostics
        assert one.span is not None
        found.append((row.verdict, one.kind, one.span.line))
    return found


@pytest.mark.parametrize(
    ("lost", "cause"),
    [
        ("tf.cast(tf.argmax(y_pred, -1)[:, None], tf.float32)", "discrete-op"),
        ("tf.cast(tf.cast(y_pred, tf.int32), tf.float32)", "discrete-op"),
        ("tf.stop_gradient(y_pred)", "stop-gradient"),
        (
            "tf.ensure_shape(tf.numpy_function(lambda t: t, [y_pred], tf.float32), [None, 1])",
            "left-framework",
        ),
    ],
)
def test_fit_without_any_gradient_names_the_line_of_the_loss_for_every_variable(
    tmp_path: Path, lost: str, cause: str
) -> None:
    report = audited(tmp_path, FIT.replace("LOST", lost).replace("TRAINED", "fit"))
    assert _rows(report) == [(Verdict.MISSING, cause, 4)] * 4
    assert [row.source.split("/")[-1] for row in report.gradients] == ["kernel", "bias"] * 2
    assert all("never run" in (row.reason or "") for row in report.gradients)
    assert report.script is not None and report.script.crash is not None
    assert report.script.crash.headline == "the optimiser was given no gradient for any variable"
    assert cause in report.script.crash.why


def test_train_on_batch_and_functions_of_the_users_own_are_told_likewise(tmp_path: Path) -> None:
    text = FIT.replace("LOST", "tf.round(y_pred)").replace("TRAINED", "train_on_batch")
    assert _rows(audited(tmp_path, text)) == [(Verdict.MISSING, "discrete-op", 4)] * 4
    (tmp_path / "own").mkdir()  # the source of a file is read once
    report = audited(tmp_path / "own", STEP)
    assert _rows(report) == [(Verdict.MISSING, "discrete-op", 8)]
    assert report.gradients[0].source == "w"


def test_a_trace_that_stops_for_another_reason_has_no_missing_gradient(tmp_path: Path) -> None:
    assert audited(tmp_path, MENDED_LATER).gradients == ()


def test_asking_for_numbers_while_a_loss_is_traced_is_explained(tmp_path: Path) -> None:
    report = audited(tmp_path, FIT.replace("LOST", "y_pred.numpy()").replace("TRAINED", "fit"))
    assert report.script is not None
    crash = report.script.crash
    assert crash is not None and crash.span is not None and crash.span.line == 4
    assert crash.headline == "`.numpy()` asks for numbers while a function is traced, and there are none yet"
