"""Functions that TensorFlow traced: the user's mode observed, the graph taken apart op by op."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.audit.runner import leave_out_hooks
from gradproof.frontends.record.model import RETURN_OP, GradientCall
from gradproof.frontends.tensorflow.hooks import observe

pytestmark = pytest.mark.tensorflow


def named(call: GradientCall, op: str, phase: str = "forward"):
    return [event for event in call.events if event.op == op and event.phase == phase]


def text_of(event) -> str:
    return linecache.getline(event.span.file, event.span.line)[event.span.column : event.span.end_column]


def test_a_function_under_a_tape_is_taken_apart():
    with observe() as seen:
        w = tf.Variable([1.0, 2.0])

        @tf.function
        def model(x):
            return tf.reduce_sum(tf.sin(x * w))

        with tf.GradientTape() as tape:
            loss = model(tf.constant([0.5, 0.25]))
        gradient = tape.gradient(loss, w)
    (call,) = seen.calls
    assert call.mode == "graph"
    assert [f.failure for f in call.calls] == [None, None]
    (sine,) = named(call, "Sin")
    assert text_of(sine) == "tf.sin(x * w)"
    np.testing.assert_allclose(sine.outputs[0].array, np.sin([0.5, 0.5]), rtol=1e-6)
    assert named(call, "Cos", "backward")
    returned = [event for event in call.events if event.op == RETURN_OP]
    assert [event.phase for event in returned] == ["forward", "backward"]
    assert loss._id in [value.id for value in returned[0].outputs]
    np.testing.assert_array_equal(call.observed[0].array, gradient.numpy())


def test_the_ops_of_a_function_connect_target_and_source():
    """Walking back from the gradient's own tensor reaches the variable: nothing is missing in between."""
    with observe() as seen:
        w = tf.Variable([1.0, 2.0])

        @tf.function
        def model(x):
            return tf.reduce_sum(tf.sin(x * w))

        with tf.GradientTape() as tape:
            loss = model(tf.constant([0.5, 0.25]))
        tape.gradient(loss, w)
    (call,) = seen.calls
    reached = set(call.observed[0].ids)
    for event in reversed(call.events):
        if any(value.id in reached for value in event.outputs):
            reached.update(value.id for value in event.inputs)
    assert call.sources[0].variable.id in reached


def test_a_tape_inside_a_function_gives_a_record_per_execution():
    with observe() as seen:
        w = tf.Variable(3.0)

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                cost = x * w**2
            gradient = tape.gradient(cost, w)
            w.assign_sub(0.1 * gradient)
            return cost

        step(tf.constant(2.0))
        step(tf.constant(2.0))
    first, second = seen.calls
    assert (first.targets[0].name, first.sources[0].name) == ("cost", "w")
    assert (first.occurrence, second.occurrence) == (1, 2)
    assert first.observed_from == "rerun"
    assert first.observed[0].array == np.float32(12.0)
    assert first.sources[0].value.array == np.float32(3.0)
    np.testing.assert_allclose(second.sources[0].value.array, 1.8, rtol=1e-6)
    np.testing.assert_allclose(second.observed[0].array, 7.2, rtol=1e-6)
    assert not [event for event in first.events if event.op.startswith("Assign")]
    np.testing.assert_allclose(w.numpy(), 1.08, rtol=1e-6)


def test_a_returned_gradient_is_the_users_own():
    with observe() as seen:

        @tf.function(jit_compile=True)
        def slope(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.where(x > 0.0, tf.sqrt(x), 0.0)
            return tape.gradient(y, x)

        slope(tf.constant([4.0, 0.0]))
    (call,) = seen.calls
    assert call.mode == "xla"
    assert call.observed_from == "returned"
    observed = call.observed[0].array
    assert observed[0] == 0.25
    assert np.isnan(observed[1])


def test_an_xla_function_that_keeps_its_gradient_is_run_again_under_xla():
    with observe() as seen:
        x = tf.Variable([4.0, -1.0])

        @tf.function(jit_compile=True)
        def step():
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.where(x > 0.0, tf.sqrt(x), 0.0))
            gradient = tape.gradient(y, x)
            return tf.reduce_max(gradient)

        step()
    (call,) = seen.calls
    assert call.observed_from == "rerun"
    assert np.isnan(call.observed[0].array[1])


def test_branches_and_loops_are_unrolled_as_they_ran():
    with observe() as seen:
        w = tf.Variable(0.5)

        @tf.function
        def grow(n):
            total = tf.constant(1.0)
            for _ in tf.range(n):
                if total > 1.2:
                    total = total + w
                    total = total + 0.0
                else:
                    total = total * (1.0 + w)
            return total

        with tf.GradientTape() as tape:
            size = grow(tf.constant(3))
        tape.gradient(size, w)
    (call,) = seen.calls
    assert [f.failure for f in call.calls] == [None, None]
    sums = [e for e in named(call, "AddV2") if e.loop and e.inputs[0].dtype == "float32"]
    assert [event.loop for event in sums] == [(0,), (1,), (1,), (2,), (2,)]
    assert call.observed[0].array == 3.0
    np.testing.assert_allclose(call.events[-1].inputs[0].array, 3.0)


def test_map_and_scan_inside_a_function():
    with observe() as seen:
        decay = tf.Variable(0.6)

        @tf.function
        def run(inputs):
            states = tf.scan(lambda h, u: decay * h + u, inputs, initializer=tf.constant(0.0))
            return tf.reduce_sum(tf.map_fn(lambda s: tf.sin(s) * decay, states))

        with tf.GradientTape() as tape:
            out = run(tf.constant([1.0, -0.5, 2.0]))
        gradient = tape.gradient(out, decay)
    (call,) = seen.calls
    assert [f.failure for f in call.calls] == [None, None]
    assert len(named(call, "Sin")) == 3
    np.testing.assert_allclose(call.events[-1].inputs[-1].array, gradient.numpy(), rtol=1e-6)


def test_an_argument_that_is_a_variable_is_the_one_of_the_call():
    with observe() as seen:
        a, b = tf.Variable(1.0), tf.Variable(2.0)

        @tf.function
        def gradient_for(var):
            with tf.GradientTape() as tape:
                cost = 3.0 * a * a + 5.0 * b
            return tape.gradient(cost, var)

        gradient_for(a)
        gradient_for(b)
    first, second = (call.sources[0] for call in seen.calls)
    assert (first.name, second.name) == ("a", "b")
    assert (first.value.array, second.value.array) == (1.0, 2.0)


def test_gradients_in_a_graph():
    with observe() as seen:

        @tf.function
        def slope(x):
            y = x**2
            return tf.gradients(y, [x])

        slope(tf.constant(3.0))
    (call,) = seen.calls
    assert call.api == "gradients"
    assert (call.targets[0].name, call.sources[0].name) == ("y", "x")
    assert call.observed[0].array == 6.0


def test_a_python_function_in_a_graph_is_not_called_again():
    calls = []
    with observe() as seen:

        def double(x):
            calls.append(1)
            return np.float32(2.0) * x

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * tf.numpy_function(double, [x], tf.float32)
            return tape.gradient(y, x)

        step(tf.constant(3.0))
    (call,) = seen.calls
    assert len(calls) == 1
    assert call.observed[0].array == 6.0
    assert "`tf.numpy_function`" in call.calls[0].not_known[0]


def test_no_retracing_that_the_user_would_notice():
    traces = []
    with observe():

        @tf.function
        def square(x):
            traces.append(1)
            return x * x

        for _ in range(4):
            x = tf.constant(2.0)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = square(x)
            tape.gradient(y, x)
        square(tf.constant(1.0))
    square(tf.constant(1.0))
    assert len(traces) == 1
    assert square.experimental_get_tracing_count() == 1


def noisy_step(w):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            cost = tf.reduce_sum((x + tf.random.normal([2])) * w**2)
        gradient = tape.gradient(cost, w)
        w.assign_sub(0.1 * gradient)
        return cost

    return step


def test_seeded_random_numbers_inside_a_function_are_those_that_were_drawn():
    with observe() as seen:
        tf.random.set_seed(5)
        w = tf.Variable([1.0, 2.0])
        step = noisy_step(w)
        costs = [step(tf.constant([3.0, 4.0])).numpy() for _ in range(10)]
    assert [call.occurrence for call in seen.calls] == [1, 2, 10]
    assert [call.failure for call in seen.calls] == [None] * 3
    for call in seen.calls:
        assert call.targets[0].value.array == costs[call.occurrence - 1]
        assert call.calls[0].not_known == ()


def test_random_numbers_without_a_seed_are_said_to_be_unknown():
    tf.keras.backend.clear_session()
    tf.random.set_seed(None)
    try:
        with observe() as seen:
            noisy_step(tf.Variable([1.0, 2.0]))(tf.constant([3.0, 4.0]))
    finally:
        tf.random.set_seed(0)
    (call,) = seen.calls
    assert "RandomStandardNormal" in call.failure
    assert "without a seed" in call.failure


def test_random_numbers_that_a_function_returned_to_its_tape_are_known():
    tf.random.set_seed(None)
    try:
        with observe() as seen:
            w = tf.Variable([1.0, 2.0])

            @tf.function
            def noisy(x):
                return tf.reduce_sum((x + tf.random.normal([2])) * w)

            with tf.GradientTape() as tape:
                cost = noisy(tf.constant([3.0, 4.0]))
            gradient = tape.gradient(cost, w)
    finally:
        tf.random.set_seed(0)
    (call,) = seen.calls
    product = named(call, "Mul")[-1]
    np.testing.assert_array_equal(product.inputs[0].array, gradient.numpy())


def test_a_gradient_that_cannot_be_reached_is_a_record_with_the_reason():
    """The function shuffles the data itself, so that nobody outside knows the order."""
    w = tf.Variable(1.0)

    @tf.function
    def epoch(data):
        for x in data.shuffle(4):
            with tf.GradientTape() as tape:
                loss = x * w
            w.assign_sub(0.1 * tape.gradient(loss, w))

    with observe() as seen:
        epoch(tf.data.Dataset.from_tensor_slices([1.0, 2.0]))
    (call,) = seen.calls
    assert call.failure.startswith("it was not reached")
    assert call.through == "tape.gradient"
    assert seen.failures == []


def test_a_traceback_can_be_shown_without_our_frames():
    with observe():
        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)
        with pytest.raises(RuntimeError) as raised:
            tape.gradient(y, x)
    leave_out_hooks(raised.value.__traceback__)
    trace, files = raised.value.__traceback__, []
    while trace is not None:
        files.append(trace.tb_frame.f_code.co_filename)
        trace = trace.tb_next
    assert files[0] == __file__
    assert files[1].endswith("backprop.py")
    assert len(files) == 2
