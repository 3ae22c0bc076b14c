"""Tensors that are made of several: of a ragged one the entries are judged, and no report fails over it."""

from __future__ import annotations

from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

import gradproof
from gradproof.render.to_json import to_json

pytestmark = pytest.mark.tensorflow


def rows(report: Any) -> list[tuple[str, str, tuple[int, ...]]]:
    to_json(report)  # what was returned can be written down
    return [(one.source, str(one.verdict), one.shape) for one in report.gradients]


def test_a_ragged_source_is_judged_by_its_entries() -> None:
    ragged, w = tf.ragged.constant([[1.0, 2.0], [3.0]]), tf.Variable(2.0)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            tape.watch(ragged)
            total = tf.reduce_sum(ragged * ragged * w)
        tape.gradient(total, [ragged, w])
    assert rows(report) == [("ragged", "correct", (3,)), ("w", "correct", ())]
    assert report.gradients[0].reference.tolist() == [4.0, 8.0, 12.0]


def test_so_is_one_inside_a_function() -> None:
    w = tf.Variable(2.0)

    @tf.function
    def slopes(ragged: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(ragged)
            total = tf.reduce_sum(ragged * ragged * w)
        return tape.gradient(total, [ragged, w])

    with gradproof.watch() as report:
        slopes(tf.ragged.constant([[1.0, 2.0], [3.0]]))
    assert rows(report) == [("ragged", "correct", (3,)), ("w", "correct", ())]
