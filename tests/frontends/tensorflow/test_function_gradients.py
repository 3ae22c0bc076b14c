"""Gradients that TensorFlow takes of whole functions, and its own check by differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tensorflow.python.eager import backprop

import gradproof

pytestmark = pytest.mark.tensorflow


def f(x: Any, y: Any) -> Any:
    return x * x * x * y - x * y * y


@tf.custom_gradient
def wrong(x: Any) -> Any:
    return x**3, lambda upstream: 3.0 * upstream * x


def rows(report: Any) -> list[tuple[Any, ...]]:
    return [(one.target, one.source, str(one.verdict), one.order) for one in report.gradients]


def test_gradients_of_functions_go_by_the_names_of_their_parameters() -> None:
    with gradproof.watch() as report:
        backprop.gradients_function(f)(2.0, 3.0)
    assert rows(report) == [("f", "x", "correct", 1), ("f", "y", "correct", 1)]
    assert [float(one.reference) for one in report.gradients] == [27.0, -4.0]


@pytest.mark.parametrize("make", [tf.constant, tf.Variable, float], ids=["tensor", "variable", "number"])
def test_one_object_for_two_arguments_is_two_arguments(make: Callable[[float], Any]) -> None:
    x = make(2.0)
    with gradproof.watch() as report:
        backprop.gradients_function(f)(x, x)
    assert rows(report) == [("f", "x", "correct", 1), ("f", "y", "correct", 1)]
    assert [float(one.reference) for one in report.gradients] == [20.0, 0.0]


@tf.function
def slope_for_the_first(x: Any, y: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        z = f(x, y)
    return tape.gradient(z, x)


def test_one_tensor_for_two_arguments_of_a_function_is_two_arguments() -> None:
    x = tf.constant(2.0)
    with gradproof.watch() as report:
        slope_for_the_first(x, x)
    assert rows(report) == [("z", "x", "correct", 1)]
    assert float(report.gradients[0].reference) == 20.0


def test_both_arguments_count_for_the_tensor_outside() -> None:
    x = tf.constant(2.0)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            tape.watch(x)
            slope = slope_for_the_first(x, x)
        tape.gradient(slope, x)
    assert [str(one.verdict) for one in report.gradients] == ["correct", "correct"]
    assert float(report.gradients[1].reference) == 9.0 * 4.0 - 2.0 * 2.0


def test_one_inside_the_other_is_a_second_derivative() -> None:
    with gradproof.watch() as report:
        inner = backprop.gradients_function(f)
        backprop.gradients_function(lambda x, y: inner(x, y)[0], params=["x"])(2.0, 3.0)
    assert ("f", "x", "correct", 2) in rows(report)
    assert 36.0 in [float(one.reference) for one in report.gradients]


def test_implicit_gradients_are_those_of_the_variables_that_were_read() -> None:
    v = tf.Variable(2.0, name="weight")
    with gradproof.watch() as report:
        backprop.implicit_grad(lambda x: v * v * x)(3.0)
    assert rows(report) == [("f", "weight", "correct", 1)]


def test_every_row_of_a_check_is_judged_and_a_wrong_rule_is_named() -> None:
    with gradproof.watch() as report:
        tf.test.compute_gradient(wrong, [tf.constant([0.3, 2.0])])
        tf.test.compute_gradient(tf.math.cumprod, [tf.constant([1.0, 2.0, 3.0])])
    assert [str(one.verdict) for one in report.gradients] == ["wrong"] * 2 + ["correct"] * 3
    assert report.gradients[0].diagnostics[0].kind == "custom-gradient"
    # In a row nothing comes in for the other entries: that they are right there says nothing about the rule.
    assert "entries" not in report.gradients[0].diagnostics[0].headline
    assert not any(one.diagnostics for one in report.gradients[2:])


@pytest.mark.parametrize(
    ("function", "delta", "kind", "word"),
    [
        (lambda x: tf.sin(100.0 * x), None, "step-size", "too large"),
        (lambda x: 10.0 + tf.sin(x), 1e-5, "step-size", "too small"),
        (lambda x: 1e4 + tf.sin(x), 1e-4, "tolerance", "no delta"),
    ],
)
def test_differences_that_miss_a_right_gradient_are_to_blame(
    function: Any, delta: Any, kind: str, word: str
) -> None:
    with gradproof.watch() as report:
        tf.test.compute_gradient(function, [tf.constant([0.3])], delta)
    (row,) = report.gradients
    (cause,) = row.diagnostics
    assert (str(row.verdict), cause.kind, cause.severity) == ("correct", kind, "warning")
    assert word in cause.headline


def test_the_results_are_those_without_us() -> None:
    x = tf.constant([0.3, 0.7])
    plain = tf.test.compute_gradient(tf.sin, [x])
    with gradproof.watch():
        seen = tf.test.compute_gradient(tf.sin, [x])
    np.testing.assert_array_equal(plain, seen)
    with gradproof.watch(), pytest.raises(ValueError, match="None"):
        backprop.gradients_function(lambda x: None)(1.0)
