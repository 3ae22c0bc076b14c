"""Ways to ask for a derivative beside a plain tape: forward mode, given tensors, unconnected sources, strategies."""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import numpy as np
import pytest

import gradproof

tf = pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow


def verdicts(report: Any) -> list[tuple[str, str, str]]:
    return [(row.target, row.source, str(row.verdict)) for row in report.gradients]


def test_a_second_derivative_by_two_accumulators_is_judged() -> None:
    """The tangent of `exp` takes the result of `exp`, of which TensorFlow speaks only afterwards."""
    x = tf.constant(1.7)
    with gradproof.watch() as report:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as outer:
            with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as inner:
                y = tf.sin(x) * tf.exp(x)
            d = inner.jvp(y)
        outer.jvp(d)
    assert verdicts(report) == [("y", "x", "correct"), ("d", "x", "correct")]
    np.testing.assert_allclose(report.gradients[1].observed, 2 * np.exp(1.7) * np.cos(1.7), rtol=1e-5)


def test_a_tape_around_an_accumulator_is_judged() -> None:
    x = tf.Variable([1.0, 0.2, 0.3])
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5, -1.0])) as accumulator:
                y = tf.reduce_sum(tf.exp(x) * tf.tanh(x))
            d = accumulator.jvp(y)
        tape.gradient(d, x)
    assert verdicts(report) == [("y", "x", "correct"), ("d", "x", "correct")]


@pytest.mark.parametrize("compiled", [False, True])
def test_an_accumulator_inside_a_function_is_judged(compiled: bool) -> None:
    w = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=compiled)
    def hessian_product(v: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(w, v) as accumulator:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.exp(w) * w)
            g = tape.gradient(loss, w)
        return accumulator.jvp(g)

    with gradproof.watch() as report:
        product = hessian_product(tf.constant([1.0, -1.0]))
    assert verdicts(report) == [("loss", "w", "correct"), ("g", "w", "correct")]
    np.testing.assert_array_equal(report.gradients[1].observed, product.numpy())


def test_a_derivative_along_what_did_not_take_part_is_missing_and_says_why() -> None:
    x = tf.constant(1.0)
    with gradproof.watch() as report:
        with tf.autodiff.ForwardAccumulator(x, tf.constant(1.0)) as accumulator:
            y = tf.constant(2.0) * 2.0
        accumulator.jvp(y)
    (row,) = report.gradients
    assert str(row.verdict) == "missing"
    assert [cause.kind for cause in row.diagnostics] == ["not-connected"]


def test_tensors_that_are_taken_as_given_are_constants() -> None:
    @tf.function
    def partial(x: Any) -> Any:
        a = tf.sin(x)
        b = a * x
        return tf.gradients(a + b, [a, x], stop_gradients=[a, x]), tf.gradients(a * b, x, stop_gradients=b)

    with gradproof.watch() as report:
        partial(tf.constant([1.0, 2.0]))
    assert verdicts(report) == [
        ("a + b", "a", "correct"),
        ("a + b", "x", "correct"),
        ("a * b", "x", "correct"),
    ]
    np.testing.assert_allclose(report.gradients[0].observed, [2.0, 3.0])


def test_the_zero_for_a_source_that_nothing_took_is_right() -> None:
    w, unused = tf.Variable(2.0), tf.Variable([1.0, 2.0])

    @tf.function
    def gradients(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = w * x
        return tape.gradient(y, [w, unused], unconnected_gradients="zero")

    with gradproof.watch() as report:
        gradients(tf.constant(3.0))
    assert verdicts(report) == [("y", "w", "correct"), ("y", "unused", "correct")]


def test_variables_that_hold_the_same_numbers_are_told_apart() -> None:
    """Once its rows were gathered a variable is copied by every read; two with the same numbers look alike."""
    a, b = tf.Variable(tf.zeros([4, 2])), tf.Variable(tf.zeros([4, 2]))
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            rows = tf.reduce_sum(tf.gather(a, [1, 1])) + tf.reduce_sum(tf.gather(b, [0, 2]))
            loss = rows + tf.reduce_sum(tf.exp(b))
        tape.gradient(loss, [a, b])
    assert verdicts(report) == [("loss", "a", "correct"), ("loss", "b", "correct")]


def test_a_variable_that_the_tape_never_met_is_not_taken_for_its_twin() -> None:
    numbers = np.random.default_rng(0).normal(size=(4, 2)).astype("f")
    twin, w = tf.Variable(numbers), tf.Variable(numbers)
    tf.gather(twin, [0])
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(w, [1, 1]) ** 2) + tf.reduce_sum(w * w)
        tape.gradient(loss, w)
    assert verdicts(report) == [("loss", "w", "correct")]


def test_a_named_tuple_is_spelled_with_its_fields() -> None:
    parameters = collections.namedtuple("parameters", "w b")(tf.Variable([1.0, 2.0]), tf.Variable(0.5))
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(parameters.w**2) + parameters.b
        tape.gradient(loss, parameters)
    assert [row.source for row in report.gradients] == ["parameters.w", "parameters.b"]


def test_variables_of_a_made_up_list_go_by_their_own_names() -> None:
    first, second = tf.keras.layers.Dense(1, name="first"), tf.keras.layers.Dense(1, name="second")
    scales = {name: tf.Variable(2.0, name=name) for name in ("low", "high")}
    with gradproof.watch() as report:
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_sum(second(first(tf.ones([2, 2])))) * scales["low"] * scales["high"]
        tape.gradient(loss, [*first.trainable_variables, *second.trainable_variables])
        tape.gradient(loss, list(scales.values()))
    names = ["first/kernel", "first/bias", "second/kernel", "second/bias", "low", "high"]
    assert [row.source for row in report.gradients] == names


def test_variables_of_one_name_in_a_made_up_list_are_told_apart() -> None:
    first, second = [tf.Variable(1.0, name="w"), tf.Variable(2.0, name="b")], [tf.Variable(3.0, name="w")]
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            loss = first[0] * first[1] * second[0]
        tape.gradient(loss, first + second)
    assert [row.source for row in report.gradients] == ["(first + second)[0]", "b", "(first + second)[2]"]


def test_a_gradient_in_a_function_that_map_fn_calls_is_at_the_users_line() -> None:
    """AutoGraph rewrites such a function even where everything runs eagerly."""
    w = tf.Variable([1.0, 2.0])

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x * w) ** 2)
        return tape.gradient(loss, w)

    with gradproof.watch() as report:
        tf.map_fn(gradient, tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert verdicts(report) == [("loss", "w", "correct")] * 2
    start = gradient.__code__.co_firstlineno
    assert {(row.call.file.split("/")[-1], row.call.line) for row in report.gradients} == {
        ("test_modes_of_asking.py", start + 3)
    }


def test_check_follows_named_tuples_dataclasses_and_modules() -> None:
    @dataclasses.dataclass
    class Line:
        slope: Any
        start: Any

    class Scale(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor = tf.Variable([1.0, 2.0], name="factor")

    pair = collections.namedtuple("pair", "w b")(tf.constant([1.0, 2.0]), tf.constant(0.5))
    line = Line(tf.constant([3.0, 4.0]), tf.Variable(1.0))
    report = gradproof.check(
        lambda p, q, m: tf.reduce_sum(p.w * q.slope * m.factor) * p.b + q.start, pair, line, Scale()
    )
    assert [row.source for row in report.gradients] == ["p.w", "p.b", "q.slope", "q.start", "factor"]
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}


def test_a_check_inside_an_audited_program_stands_beside_its_gradients_as_it_was_judged() -> None:
    """The calls that the check makes itself are no gradients of the program."""
    w = tf.Variable([1.0, 2.0])
    with gradproof.watch() as report:
        inner = gradproof.check(lambda v: tf.reduce_sum(v**2), w, order=2)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w**3)
        tape.gradient(loss, w)
    assert [str(verdict) for verdict in inner.verdicts] == ["correct"]
    assert verdicts(report) == [("(d f / d v)", "v", "correct"), ("loss", "w", "correct")]


def test_calls_that_a_library_makes_are_counted_by_the_users_line() -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    with gradproof.watch() as report:
        for _ in range(2):
            tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(
                lambda: tf.reduce_sum(w**2), var_list=[w]
            )
        tf.compat.v1.train.AdamOptimizer(0.1).compute_gradients(lambda: tf.reduce_sum(w**3), var_list=[w])
    assert [(row.source, row.occurrence) for row in report.gradients] == [("w", 1), ("w", 2), ("w", 1)]


def test_a_bias_that_only_shapes_the_score_is_not_connected() -> None:
    """The gradient of `x w + b` by x has the shape of the sum, and no number of b."""
    x, w, b = tf.constant([[1.0, 2.0]]), tf.Variable([[1.0], [3.0]]), tf.Variable([0.5])
    with gradproof.watch() as report:
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                score = tf.reduce_mean(x @ w + b)
            loss = tf.reduce_sum(inner.gradient(score, x) ** 2)
        outer.gradient(loss, [w, b])
    assert verdicts(report)[1:] == [("loss", "w", "correct"), ("loss", "b", "missing")]
    assert [cause.kind for cause in report.gradients[2].diagnostics] == ["not-connected"]


def test_a_replica_of_a_strategy_has_the_users_names_and_lines() -> None:
    strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
    with strategy.scope():
        w = tf.Variable([1.0, 2.0], name="w")
        net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        net.compile("sgd", "mse", jit_compile=False)

    @tf.function
    def step(x: Any) -> Any:
        def replica(x: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(x * w**2)
            return tape.gradient(loss, w)

        return strategy.reduce("SUM", strategy.run(replica, args=(x,)), axis=None)

    with gradproof.watch() as report:
        step(tf.constant([1.0, 3.0]))
        net.fit(np.ones((4, 2), "f"), np.ones((4, 1), "f"), verbose=0)
    assert [row[0] for row in verdicts(report)] == ["loss"] * 3
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}
    assert report.gradients[0].source == "w"
    assert {row.call.file.split("/")[-1] for row in report.gradients} == {"test_modes_of_asking.py"}
    assert report.notes == ()
