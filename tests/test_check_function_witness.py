"""The whole-function witness: what a tape cannot see shows as a gap; noise, chance and corners do not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.audit import function_witness
from gradproof.judge.verdict import Verdict

RNG = np.random.default_rng(0)


def _only(report: Any) -> Any:
    (row,) = report.gradients
    return row


def _wobbling(x: Any) -> Any:
    """Right, and full of rounding noise: digits are lost and found again."""
    return np.sum(((x + 1e9) - 1e9) * x)


def _with_corners(x: Any) -> Any:
    return np.sum(np.abs(x - 1.0) * x) + np.max(x)


def _narrow(x: Any) -> Any:
    return np.sum(np.sqrt(x - 0.999999) * x)


def _stopped(x: Any) -> Any:
    return np.sum(gradproof.stop_gradient(x) * x)


def _deep(x: Any) -> Any:
    y = x
    for _ in range(20):
        y = np.sin(3.0 * y) + x
    return np.sum(y)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", [_wobbling, _with_corners, _narrow, _stopped, _deep])
def test_a_function_that_was_seen_whole_is_not_doubted(function: Any, dtype: Any) -> None:
    row = _only(gradproof.check(function, np.asarray([1.0, 1.25, 2.5], dtype)))
    assert "was not seen" not in (row.reason or "")
    assert not any(one.kind == "left-framework" for one in row.diagnostics)


def test_chance_is_told_as_such_and_not_as_a_lost_part() -> None:
    row = _only(gradproof.check(lambda x: np.sum(x * RNG.normal()), np.asarray([1.0, 2.0])))
    assert "was not seen" not in (row.reason or "")


def test_a_function_that_fails_beside_the_point_is_not_doubted() -> None:
    def only_here(x: Any) -> Any:
        if float(np.max(np.asarray(x))) != 2.0:
            raise ValueError("not here")
        return np.sum(x**2)

    report = gradproof.check(only_here, np.asarray([1.0, 2.0]))
    assert all("was not seen" not in (row.reason or "") for row in report.gradients)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "part", [lambda x: math.pow(x, 2), lambda x: float(np.power(x, 2))], ids=["math.pow", "np.power"]
)
def test_a_part_that_left_as_plain_numbers_takes_the_verdict_back(part: Any) -> None:
    """The gradient of what TensorFlow has seen is right, and a third of the function's."""
    tf = pytest.importorskip("tensorflow")
    row = _only(gradproof.check(lambda x: x * part(x), tf.constant(1.5, tf.float64)))
    assert row.verdict is Verdict.UNVERIFIED
    assert row.reference is None, "no reference is shown that is not that of the function"
    assert row.reason is not None and row.reason.startswith("a part of `f` was not seen")
    (told,) = row.diagnostics
    assert (told.kind, told.severity) == ("left-framework", "warning")


@pytest.mark.tensorflow
def test_a_part_that_may_have_left_is_asked_of_the_function() -> None:
    """The text shows only that it is possible; the calls show that it is so, and the text shows where."""
    tf = pytest.importorskip("tensorflow")

    def f(x: Any) -> Any:
        return tf.reduce_sum(x * np.cumprod(x))

    row = _only(gradproof.check(f, tf.constant([1.5, 0.7], tf.float64)))
    assert row.verdict is Verdict.UNVERIFIED and (row.reason or "").startswith("a part of `f` was not seen")
    (told,) = row.diagnostics
    assert (told.kind, told.severity) == ("left-framework", "warning")
    assert told.primary is not None and told.primary.span.column, "where NumPy takes the numbers"


@pytest.mark.tensorflow
def test_arguments_of_tensorflow_that_were_seen_whole_are_not_doubted() -> None:
    tf = pytest.importorskip("tensorflow")
    x, w = tf.constant([0.5, 1.5]), tf.Variable([1.0, 2.0])
    report = gradproof.check(lambda x, w: tf.reduce_sum(tf.nn.relu(x) * tf.exp(w)), x, w)
    assert [row.verdict for row in report.gradients] == [Verdict.CORRECT] * 2


@pytest.mark.tensorflow
def test_a_stopped_gradient_of_tensorflow_is_meant() -> None:
    tf = pytest.importorskip("tensorflow")
    row = _only(gradproof.check(lambda x: x * tf.stop_gradient(x**2), tf.constant(1.5, tf.float64)))
    assert row.verdict is Verdict.CORRECT


def _alike(function: Any, replay: Any) -> bool:
    point, direction = np.asarray([1.0], np.float32), np.asarray([0.75])
    return function_witness._move_alike(function, replay, (point,), (direction,))


def test_where_roundings_show_beside_a_step_a_longer_one_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large number that moves by little: the last digit of a float32 is a share of the change that counts."""

    def function(x: Any) -> Any:
        return np.float32(100.0 + 0.5 * x[0])

    def rounded_otherwise(x: Any) -> Any:
        return np.nextafter(function(x), np.float32(np.inf if x[0] > 1.0 else -np.inf))

    assert _alike(function, rounded_otherwise)
    assert not _alike(function, lambda x: np.float32(100.0 + 0.49 * x[0]))  # no rounding makes two per cent
    monkeypatch.setattr(function_witness, "LONGER", function_witness.STEP)
    assert not _alike(function, rounded_otherwise)


def test_a_gap_that_no_rounding_makes_is_not_drowned_by_a_longer_step() -> None:
    def steep(x: Any) -> Any:
        return np.exp(np.float32(60.0) * (x[0] - 1))

    lost = 0.003 * 60.0
    assert not _alike(lambda x: steep(x) + np.float32(lost) * x[0], steep)
