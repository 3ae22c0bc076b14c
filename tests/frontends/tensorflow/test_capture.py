"""From records of gradient calls to captures, judged: every way of asking for derivatives, state, control flow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.audit.examine import cases
from gradproof.diagnosis.case import Case
from gradproof.frontends.assemble import jacobians as rows
from gradproof.frontends.assemble.capture import to_capture
from gradproof.frontends.tensorflow.hooks import observe
from gradproof.ir.capture import Capture
from gradproof.options import Options

pytestmark = pytest.mark.tensorflow


def captures(program: Callable[[], Any]) -> list[Capture]:
    with observe() as seen:
        program()
    assert seen.failures == []
    return [to_capture(call) for call in seen.calls]


def judged(program: Callable[[], Any]) -> list[Case]:
    """The last gradient call of a program, judged; nothing in it may be opaque."""
    capture = captures(program)[-1]
    assert capture.failure is None
    assert capture.faults == ()
    nodes = (capture.gradient_program or capture.program).nodes
    assert [node.op for node in nodes if node.is_opaque] == []
    return cases(capture, Options())


def verdicts(program: Callable[[], Any]) -> list[str]:
    return [case.verdict.value for case in judged(program)]


def true(case: Case) -> Any:
    assert case.judgement.enclosure is not None
    return case.judgement.enclosure.mid


def test_a_jacobian_is_judged_entry_by_entry():
    def program() -> None:
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = tf.stack([x[0] * x[1], tf.sin(x[0]), x[1] ** 3])
        tape.jacobian(y, x)

    (case,) = judged(program)
    assert case.verdict.value == "correct"
    np.testing.assert_allclose(true(case), [[2.0, 1.0], [np.cos(1.0), 0.0], [0.0, 12.0]], rtol=1e-14)


def test_a_wrong_entry_of_a_jacobian_is_found():
    @tf.custom_gradient
    def cube(x: Any) -> Any:
        return x**3, lambda g: g * 2.0 * x**2

    def program() -> None:
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = tf.concat([tf.sin(x), cube(x)], 0)
        tape.jacobian(y, x)

    (case,) = judged(program)
    assert case.verdict.value == "wrong"
    np.testing.assert_allclose(true(case)[2:], [[3.0, 0.0], [0.0, 12.0]], rtol=1e-14)


def test_jacobians_for_several_sources_without_vectorisation():
    def program() -> None:
        x, w = tf.Variable([1.0, 2.0, 3.0]), tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        with tf.GradientTape(persistent=True) as tape:
            y = tf.tanh(tf.linalg.matvec(w, x[:2]) * x)
        tape.jacobian(y, [x, w], experimental_use_pfor=False)

    assert verdicts(program) == ["correct", "correct"]


def test_a_batch_jacobian_is_judged_example_by_example():
    def program() -> None:
        x = tf.constant([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * tf.reduce_sum(x, 1, keepdims=True)
        tape.batch_jacobian(y, x)

    (case,) = judged(program)
    assert case.verdict.value == "correct"
    assert true(case).shape == (3, 2, 2)


def test_a_batch_jacobian_of_examples_that_depend_on_each_other_is_wrong():
    """TensorFlow sums over the examples; the derivative of one example by itself is something else."""

    def program() -> None:
        x = tf.constant([[1.0], [2.0]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.reduce_sum(x)
        tape.batch_jacobian(y, x)

    (case,) = judged(program)
    assert case.verdict.value == "wrong"
    np.testing.assert_allclose(true(case), [[[4.0]], [[5.0]]])


def test_forward_mode_is_judged_along_its_tangent():
    def program() -> None:
        x = tf.constant([1.0, 2.0])
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.5])) as accumulator:
            y = tf.sin(x) * tf.reduce_sum(x)
        accumulator.jvp(y)

    (case,) = judged(program)
    assert case.verdict.value == "correct"
    expected = np.cos([1.0, 2.0]) * [1.0, 0.5] * 3.0 + np.sin([1.0, 2.0]) * 1.5
    np.testing.assert_allclose(true(case), expected, rtol=1e-14)


def test_second_derivatives_and_their_order():
    def program() -> None:
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.sin(x) * x**3)
            g = inner.gradient(y, x)
        outer.jacobian(g, x)

    first, second = captures(program)
    assert (first.run.order, second.run.order) == (1, 2)
    assert [case.verdict.value for case in cases(second, Options())] == ["correct"]


def test_a_jacobian_beyond_the_limit_is_unverified_and_the_limit_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rows, "MAX_NODES", 5)

    def program() -> None:
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = tf.sin(x) * x
        tape.jacobian(y, x)

    (capture,) = captures(program)
    assert capture.failure is not None and "the limit is 5 nodes" in capture.failure


def test_what_stop_gradient_lets_through_is_computed_and_not_given():
    """The variance is taken around a mean that is held fixed; only with the exact mean the gradient is zero."""

    def program() -> None:
        x, shift = tf.constant([0.1, 0.7, 1.9]), tf.Variable(0.3)
        with tf.GradientTape() as tape:
            moved = x + shift
            spread = tf.reduce_sum((moved - tf.stop_gradient(tf.reduce_mean(moved))) ** 2)
        tape.gradient(spread, shift)

    (case,) = judged(program)
    assert abs(float(true(case))) < 1e-15
    assert case.verdict.value == "correct"


def test_loops_with_arrays_in_functions():
    def program() -> None:
        w = tf.Variable(0.7)

        @tf.function
        def unrolled(x: Any) -> Any:
            states = tf.TensorArray(tf.float32, size=4)
            for i in tf.range(4):
                x = tf.sin(w * x)
                states = states.write(i, x)
            return tf.reduce_sum(states.stack())

        with tf.GradientTape() as tape:
            y = unrolled(tf.constant(1.0))
        tape.gradient(y, w)

    assert verdicts(program) == ["correct"]


def test_branches_in_functions():
    def program() -> None:
        w = tf.Variable(0.7)

        @tf.function
        def chosen(x: Any) -> Any:
            picked = tf.switch_case(tf.constant(1), [lambda: w, lambda: w * w, lambda: w + 1.0])
            return tf.cond(x > 0, lambda: w * x, lambda: w**2) * picked

        with tf.GradientTape() as tape:
            y = chosen(tf.constant(1.5))
        tape.gradient(y, w)

    assert verdicts(program) == ["correct"]


def test_scan_and_map_over_tensors():
    def program() -> None:
        w, xs = tf.Variable(0.7), tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            summed = tf.scan(lambda total, x: total * w + x, xs, tf.constant(0.0))
            mapped = tf.map_fn(lambda x: tf.sin(w * x), xs)
            y = tf.reduce_sum(summed) + tf.reduce_sum(mapped)
        tape.gradient(y, w)

    assert verdicts(program) == ["correct"]


def test_a_tape_inside_a_function():
    def program() -> None:
        w = tf.Variable([0.7, 0.2])

        @tf.function
        def step(x: Any) -> Any:
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.sin(w * x))
            return tape.gradient(y, w)

        step(tf.constant(2.0))

    assert verdicts(program) == ["correct"]


def test_rows_of_a_variable_and_the_whole_of_it():
    def program() -> None:
        w = tf.Variable([[0.5, 1.0], [1.5, -2.0], [0.25, 3.0]])
        with tf.GradientTape() as tape:
            rows = tf.nn.embedding_lookup(w, [1, 1, 2])
            y = tf.reduce_sum(rows**2) + tf.reduce_sum(w**3)
        tape.gradient(y, w)

    assert verdicts(program) == ["correct"]


def test_a_sparse_gradient_is_judged_as_the_dense_one_it_stands_for():
    def program() -> None:
        w = tf.Variable([[0.5, 1.0], [1.5, -2.0], [0.25, 3.0]])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(w, [1, 1, 2]) ** 2)
        tape.gradient(y, w)

    (case,) = judged(program)
    assert case.verdict.value == "correct"
    np.testing.assert_allclose(true(case), [[0.0, 0.0], [6.0, -8.0], [0.5, 6.0]])


def test_a_variable_assigned_on_the_way():
    def program() -> None:
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            before = tf.reduce_sum(w * w)
            w.assign_add([1.0, 1.0])
            y = tf.reduce_sum(w**3) + before
        tape.gradient(y, w)

    (case,) = judged(program)
    assert case.verdict.value == "correct"
    np.testing.assert_allclose(true(case), [14.0, 31.0])


def test_an_op_without_a_meaning_is_measured_and_named():
    def program() -> None:
        x = tf.Variable([[2.0, 1.0], [0.5, 3.0]])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.math.real(tf.linalg.eig(x)[0]) ** 2)
        tape.gradient(y, x)

    (capture,) = captures(program)
    (case,) = cases(capture, Options())
    assert (case.verdict.value, case.judgement.oracle) == ("correct", "differences")
    assert "`tf.eig`" in str(case.judgement.reason)
