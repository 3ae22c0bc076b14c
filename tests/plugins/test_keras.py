"""The Keras callback: audits chosen batches, reports, and leaves the training as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tensorflow.core.util import event_pb2

import gradproof
from gradproof.judge.verdict import Verdict
from gradproof.keras import GradientAudit

pytestmark = pytest.mark.tensorflow


def model(dropout: float = 0.5) -> Any:
    tf.keras.utils.set_random_seed(2)
    layers = [tf.keras.layers.Dense(4, activation="tanh"), tf.keras.layers.Dropout(dropout)]
    net = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
    net.compile("adam", "mse", jit_compile=False)
    return net


def fit(net: Any, *callbacks: Any, epochs: int = 1) -> None:
    x = np.random.default_rng(0).normal(size=(24, 3)).astype("f")
    net.fit(
        x, x[:, :1] ** 2, batch_size=8, epochs=epochs, verbose=0, shuffle=False, callbacks=list(callbacks)
    )


def test_chosen_batches_are_audited_by_the_names_of_the_variables(tmp_path: Path) -> None:
    audit = GradientAudit(checks="1,3", report=tmp_path / "audit.json")
    net = model()
    fit(net, audit)
    assert [g.occurrence for g in audit.report.gradients] == [1] * 4 + [3] * 4
    assert {g.verdict for g in audit.report.gradients} == {Verdict.CORRECT}
    names = [g["source"]["name"] for g in json.loads((tmp_path / "audit.json").read_text())["gradients"]]
    assert names == [v.path for v in net.trainable_variables] * 2


def test_the_weights_are_those_of_a_training_without_it() -> None:
    with_it = model()
    fit(with_it, GradientAudit(checks="all"), epochs=2)
    without = model()
    fit(without, epochs=2)
    for one, other in zip(with_it.get_weights(), without.get_weights()):
        assert one.tobytes() == other.tobytes()


def test_a_step_that_was_traced_before_is_seen_too() -> None:
    net = model()
    fit(net)
    audit = GradientAudit(checks="first")
    fit(net, audit)
    assert [g.verdict for g in audit.report.gradients] == [Verdict.CORRECT] * 4


def test_tensorboard_gets_digits_and_norms_of_every_variable(tmp_path: Path) -> None:
    net = model()
    fit(net, GradientAudit(checks="1,2", log_dir=tmp_path))
    [file] = tmp_path.glob("events*")
    found: dict[str, list[int]] = {}
    for record in tf.data.TFRecordDataset(str(file)):
        event = event_pb2.Event.FromString(record.numpy())
        for value in event.summary.value:
            found.setdefault(value.tag, []).append(event.step)
    kernel = net.trainable_variables[0].path
    assert found[f"gradproof/{kernel}/digits"] == [1, 2]
    assert found[f"gradproof/{kernel}/norm"] == [1, 2]
    assert len(found) == 3 * len(net.trainable_variables)


def test_training_can_be_stopped_at_a_fault(tmp_path: Path) -> None:
    @tf.custom_gradient
    def squared(x: Any) -> Any:
        return x * x, lambda upstream: upstream * x

    net = model()
    net.add(tf.keras.layers.Lambda(squared))
    net.compile("sgd", "mse", jit_compile=False)
    audit = GradientAudit(report=tmp_path / "audit.txt", stop_on="error")
    fit(net, audit, epochs=5)
    assert int(net.optimizer.iterations) == 1
    assert "error[custom-gradient]" in (tmp_path / "audit.txt").read_text()


def test_it_is_found_as_an_attribute_and_says_what_is_wrong_with_its_arguments() -> None:
    assert gradproof.keras.GradientAudit is GradientAudit
    with pytest.raises(gradproof.errors.InvalidInput, match="--checks takes"):
        GradientAudit(checks="sometimes")


def test_batches_can_be_judged_later(tmp_path: Path) -> None:
    from gradproof.deferred.examine import judge_all, opened
    from gradproof.deferred.joined import joined

    audit = GradientAudit(checks="1,3", defer=tmp_path / "kept")
    net = model()
    fit(net, audit)
    assert audit.report.gradients == ()
    work = opened(str(tmp_path / "kept"))
    assert len(list(judge_all(work))) == 3
    found = joined(work).gradients
    assert [(one.occurrence, one.verdict) for one in found] == [(1, Verdict.CORRECT)] * 4 + [
        (3, Verdict.CORRECT)
    ] * 4
