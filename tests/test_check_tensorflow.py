"""`check`, `assert_correct` and `watch` on TensorFlow functions, variables and Keras models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import gradproof
from gradproof.errors import FunctionFailed, InvalidInput, NotScalar

pytestmark = pytest.mark.tensorflow

X = tf.constant([0.5, -1.0])


def loss(x: Any, w: Any) -> Any:
    return tf.reduce_sum(tf.tanh(tf.linalg.matvec(w, x)) ** 2)


def weights() -> Any:
    return tf.Variable([[1.0, 2.0], [3.0, -4.0]])


def test_tensors_and_variables_are_judged_under_the_functions_names() -> None:
    report = gradproof.check(loss, X, weights())
    assert [(row.target, row.source, str(row.verdict)) for row in report.gradients] == [
        ("loss", "x", "correct"),
        ("loss", "w", "correct"),
    ]
    assert report.gradients[0].framework == "tensorflow"
    assert report.gradients[0].call.file.endswith("test_check_tensorflow.py")
    gradproof.assert_correct(loss, X, w=weights())


def test_nested_arguments_and_every_entry_of_a_result() -> None:
    def model(parameters: Any) -> Any:
        return parameters["w"] * tf.exp(parameters["b"][0])

    report = gradproof.check(model, {"w": X, "b": [tf.constant(1.0)]}, output="each")
    assert [row.source for row in report.gradients] == ["parameters['w']", "parameters['b'][0]"]
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}
    assert report.gradients[0].observed is not None
    assert report.gradients[0].observed.shape == (2, 2)


def test_second_derivatives_are_those_of_nested_tapes() -> None:
    report = gradproof.check(lambda x: tf.reduce_sum(x**3), X, order=2)
    assert [str(verdict) for verdict in report.verdicts] == ["correct"]
    assert report.gradients[0].reference is not None
    assert np.allclose(report.gradients[0].reference, np.diag([3.0, -6.0]))


def test_a_model_stands_for_its_trainable_weights() -> None:
    keras = pytest.importorskip("keras")
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(3, "tanh"), keras.layers.Dense(1)])

    def error(model: Any, x: Any) -> Any:
        return tf.reduce_mean(model(x) ** 2)

    report = gradproof.check(error, model, tf.ones((4, 2)))
    assert len(report.gradients) == 5
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}


def test_a_wrong_custom_gradient_is_wrong() -> None:
    @tf.custom_gradient
    def doubled(x: Any) -> Any:
        return tf.sin(x), lambda upstream: 2 * upstream * tf.cos(x)

    report = gradproof.check(lambda x: tf.reduce_sum(doubled(x)), X)
    assert str(report.verdicts[0]) == "wrong"
    with pytest.raises(AssertionError, match="is not right"):
        gradproof.assert_correct(lambda x: tf.reduce_sum(doubled(x)), X)


def test_random_and_stateful_functions_are_recognised() -> None:
    tf.random.set_seed(1)
    report = gradproof.check(lambda x: tf.reduce_sum(x * tf.random.normal([2])), X)
    assert [d.kind for d in report.diagnostics if d.kind == "impure"] == ["impure"]

    def counting(w: Any) -> Any:
        return tf.reduce_sum(w.assign_add(tf.ones([2, 2])) ** 2)

    report = gradproof.check(counting, weights())
    assert str(report.verdicts[0]) == "unverified"
    assert report.diagnostics[0].headline == "`counting` changes its argument `w` in place"


BAD_INPUT: dict[str, tuple[Any, Any, type[Exception], str]] = {
    "None": (lambda x: None, X, InvalidInput, "returned None"),
    "array": (lambda x: x, X, NotScalar, r"returned shape \(2,\)"),
    "integer": (lambda x: tf.argmax(x), X, InvalidInput, "returned dtype int64"),
    "list": (lambda x: [x], X, InvalidInput, "returned a list with 1 items"),
    "raises": (lambda x: tf.reshape(x, [3]), X, FunctionFailed, "`f` raised InvalidArgumentError"),
    "nan": (tf.reduce_sum, tf.constant([1.0, float("nan")]), InvalidInput, r"\[1\]` is nan"),
    "integers": (tf.reduce_sum, tf.constant([1, 2]), InvalidInput, "at least one argument of real numbers"),
}


@pytest.mark.parametrize("what", BAD_INPUT)
def test_bad_input_is_refused_by_name(what: str) -> None:
    function, point, error, message = BAD_INPUT[what]
    with pytest.raises(error, match=message):
        gradproof.check(function, point)


def test_a_result_that_has_left_tensorflow_is_missing() -> None:
    report = gradproof.check(lambda x: tf.reduce_sum(x**2).numpy(), X)
    assert str(report.verdicts[0]) == "missing"


def test_a_gradient_written_by_hand_is_for_numpy() -> None:
    with pytest.raises(InvalidInput, match=r"tf\.custom_gradient"):
        gradproof.check(tf.reduce_sum, X, gradient=tf.ones_like)


def test_watch_sees_the_gradients_of_a_block_and_no_others() -> None:
    w = weights()
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            value = loss(X, w)
        tape.gradient(value, w)
    with tf.GradientTape() as tape:
        value = loss(X, w)
    tape.gradient(value, w)
    assert [(row.target, row.source, str(row.verdict)) for row in report.gradients] == [
        ("value", "w", "correct")
    ]


def test_a_function_may_return_bfloat16():
    report = gradproof.check(lambda x: tf.reduce_sum(x * x), tf.constant([1.0, 2.0], tf.bfloat16))
    (gradient,) = report.gradients
    assert str(gradient.verdict) == "correct" and gradient.dtype == "bfloat16"
