"""Gradients that several threads compute at the same line are all seen and judged."""

from __future__ import annotations

import threading

import pytest

import gradproof

tf = pytest.importorskip("tensorflow")
from tensorflow.python import pywrap_tfe

pytestmark = pytest.mark.tensorflow


def work() -> None:
    for k in range(2):
        x = tf.Variable(tf.linspace(0.1, 1.0, 20) * (k + 1))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.exp(tf.sin(x)))
        tape.gradient(y, x)


def test_gradients_of_eight_threads_are_all_judged() -> None:
    with gradproof.watch("all") as report:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [str(verdict) for verdict in report.verdicts] == ["correct"] * 16
    assert sorted(gradient.occurrence for gradient in report.gradients) == list(range(1, 17))


def test_tensorflow_has_its_own_functions_back_though_threads_ended_while_they_were_listened_to() -> None:
    before = pywrap_tfe.TFE_Py_FastPathExecute
    with gradproof.watch("all"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert pywrap_tfe.TFE_Py_FastPathExecute is before
