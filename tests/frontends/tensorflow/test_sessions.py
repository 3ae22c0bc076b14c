"""Sessions of TensorFlow 1: the gradients that a run computes are judged, and the run is the program's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradproof

tf = pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow
v1 = tf.compat.v1


def rows(report: Any) -> list[tuple[str, str, int, str]]:
    return [(row.target, row.source, row.occurrence, str(row.verdict)) for row in report.gradients]


def test_a_gradient_that_is_fetched_is_judged_as_it_was_fetched() -> None:
    with gradproof.watch() as report, tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, 2])
        w = v1.get_variable("w", initializer=tf.constant([[1.0], [2.0]]))
        h = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.tanh(x @ w), lambda: x @ w)
        _, z = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 0.5 + tf.sin(a)), (0, h))
        loss = tf.reduce_mean(z**2)
        gradients = tf.gradients(loss, [w, x])
        graph.finalize()
        with v1.Session() as session:
            session.run(w.initializer)
            fetched = session.run({"g": gradients, "l": loss}, {x: [[0.1, 0.2]]})
    assert rows(report) == [("loss", "w", 1, "correct"), ("loss", "x", 1, "correct")]
    np.testing.assert_array_equal(report.gradients[0].observed, fetched["g"][0])
    assert report.notes == ()


def trained(resource: bool) -> Any:
    """Three steps of an optimiser, whose gradients nobody fetches."""
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 2])
        w = v1.get_variable("w", initializer=tf.constant([[1.0], [2.0]]), use_resource=resource)
        loss = tf.reduce_mean((x @ w - 1.0) ** 2)
        train = v1.train.AdamOptimizer(0.1).minimize(loss)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(3):
                session.run([train, loss], feed_dict={x: [[0.1, 0.2], [1.0, -1.0]]})
            return session.run(w)


@pytest.mark.parametrize("resource", [False, True], ids=["older variables", "resource variables"])
def test_the_steps_of_an_optimiser_are_judged_and_the_training_is_the_same(resource: bool) -> None:
    plain = trained(resource)
    with gradproof.watch() as report:
        watched = trained(resource)
    assert rows(report) == [("loss", "w", 1, "correct"), ("loss", "w", 2, "correct")]
    assert watched.tobytes() == plain.tobytes()


def test_a_gradient_that_no_run_asks_for_is_none() -> None:
    with gradproof.watch() as report, tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        y = x * x
        tf.gradients(y, x)
        with v1.Session() as session:
            session.run(y, {x: 2.0})
    assert report.gradients == ()


def test_what_a_session_drew_at_random_is_said_to_be_unknown() -> None:
    with gradproof.watch() as report, tf.Graph().as_default():
        w = v1.get_variable("w", initializer=[1.0, 2.0])
        loss = tf.reduce_sum(w * tf.random.normal([2]))
        gradient = tf.gradients(loss, w)
        with v1.Session() as session:
            session.run(w.initializer)
            session.run(gradient)
    assert rows(report) == [("loss", "w", 1, "unverified")]
    assert "RandomStandardNormal" in str(report.gradients[0].reason)


def test_branches_of_the_older_kind_are_not_followed() -> None:
    with gradproof.watch() as report, tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        was = v1.control_flow_v2_enabled()
        v1.disable_control_flow_v2()
        try:
            y = v1.cond(x > 0, lambda: x * 2.0, lambda: x)
            gradient = tf.gradients(y, x)
        finally:
            if was:
                v1.enable_control_flow_v2()
        with v1.Session() as session:
            session.run(gradient, {x: 2.0})
    assert rows(report) == [("y", "x", 1, "unverified")]
    assert "a branch or loop of TensorFlow 1" in str(report.gradients[0].reason)


def test_a_callable_of_a_session_is_out_of_sight() -> None:
    with gradproof.watch() as report, tf.Graph().as_default():
        w = v1.get_variable("w", initializer=3.0)
        y = w * w
        gradient = tf.gradients(y, [w, tf.constant(1.0)])
        with v1.Session() as session:
            session.run(w.initializer)
            assert session.make_callable(gradient[0])() == 6.0
    assert rows(report) == [("y", "w", 1, "unverified"), ("y", "tf.constant(1.0)", 1, "missing")]
    assert "make_callable" in str(report.gradients[0].reason)


def test_an_error_of_the_run_reaches_the_program() -> None:
    with gradproof.watch() as report, tf.Graph().as_default():
        w = v1.get_variable("w", initializer=1.0)
        gradient = tf.gradients(w * w, w)
        with v1.Session() as session, pytest.raises(tf.errors.FailedPreconditionError):
            session.run(gradient)
    assert report.notes == ()
