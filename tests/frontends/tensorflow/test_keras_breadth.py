"""Every layer, loss and optimiser of Keras trains under the audit with gradients that are judged correct.

CI takes one layer in eight, compiled as Keras does; with `GRADPROOF_NIGHTLY` set it is all of them, in all modes.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import gradproof

tf = pytest.importorskip("tensorflow")

from tests.frontends.tensorflow.keras_samples import LOSSES, OPTIMIZERS, SAMPLES, VECTORS

pytestmark = pytest.mark.tensorflow

NIGHTLY = "GRADPROOF_NIGHTLY" in os.environ
MODES: dict[str, dict[str, bool]] = {
    "graph": {"jit_compile": False},
    "eager": {"run_eagerly": True},
    "xla": {"jit_compile": True},
}


def trained(net: Any, x: Any, y: Any) -> gradproof.Report:
    with gradproof.watch(checks="first") as report:
        net.fit(x, y, batch_size=len(x), verbose=0)
    return report


def assert_all_correct(report: gradproof.Report) -> None:
    assert report.gradients
    others = [
        (row.source, str(row.verdict), row.reason)
        for row in report.gradients
        if str(row.verdict) != "correct"
    ]
    assert others == []
    errors = [
        cause.headline for row in report.gradients for cause in row.diagnostics if cause.severity == "error"
    ]
    assert errors == []
    assert report.notes == ()


@pytest.mark.parametrize("name", list(SAMPLES)[:: 1 if NIGHTLY else 8])
@pytest.mark.parametrize("mode", list(MODES) if NIGHTLY else ["graph"])
def test_a_layer(name: str, mode: str) -> None:
    make, x = SAMPLES[name]
    tf.keras.utils.set_random_seed(1)
    net = make()
    net.compile(tf.keras.optimizers.SGD(0.01), "mse", **MODES[mode])
    assert_all_correct(trained(net, x, np.random.default_rng(2).normal(size=(len(x), 1)).astype("float32")))


@pytest.mark.parametrize("loss", LOSSES[:: 1 if NIGHTLY else 5])
def test_a_loss(loss: str) -> None:
    tf.keras.utils.set_random_seed(1)
    net = tf.keras.Sequential(
        [tf.keras.layers.Dense(4, activation="tanh"), tf.keras.layers.Dense(3, activation="softmax")]
    )
    net.compile("sgd", loss, jit_compile=False)
    y = np.random.default_rng(2).dirichlet([1.0, 1.0, 1.0], len(VECTORS)).astype("float32")
    assert_all_correct(trained(net, VECTORS, y))


@pytest.mark.parametrize("optimizer", OPTIMIZERS[:: 1 if NIGHTLY else 5])
def test_an_optimizer(optimizer: str) -> None:
    tf.keras.utils.set_random_seed(1)
    net = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="tanh"), tf.keras.layers.Dense(1)])
    net.compile(getattr(tf.keras.optimizers, optimizer)(), "mse", jit_compile=False)
    assert_all_correct(trained(net, VECTORS, VECTORS[:, :1]))
