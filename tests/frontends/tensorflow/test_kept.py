"""Nothing of the user's program lives longer because it is watched."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

from tensorflow.python.eager import context

from gradproof.frontends.tensorflow.hooks import observe

pytestmark = pytest.mark.tensorflow


def tensors() -> set[int]:
    gc.collect()
    kinds = (tf.Tensor, tf.TensorShape, tf.Variable)
    return {id(one) for one in gc.get_objects() if issubclass(type(one), kinds)}


def step() -> list[Any]:
    outside = tf.ones([10]) * 2.0
    z = tf.Variable(outside)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(z * z * outside)
    g = tape.gradient(y, z)
    return [weakref.ref(one) for one in (outside, z, y, g)]


def test_gradient_target_and_intermediates_are_freed() -> None:
    received: list[int] = []
    with observe(receiver=lambda call: received.append(len(call.older))):
        freed = step()
        gc.collect()
        assert [one() is None for one in freed] == [True] * 4
    assert received and received[0] > 0  # what ran before the tape was still there to be asked


def in_function() -> None:
    @tf.function
    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * tf.sin(x)
        return tape.gradient(y, x)

    gradient(tf.constant(2.0))


def in_session() -> None:
    with tf.Graph().as_default():
        x = tf.constant(3.0)
        y = x * tf.sin(x)
        (g,) = tf.gradients(y, [x])
        with tf.compat.v1.Session() as session:
            session.run(g)


def of_a_custom_rule() -> None:
    @tf.custom_gradient
    def product(x: Any, y: Any) -> Any:
        return x * y, lambda dr: [dr * y, dr * x]

    v = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        z = product(tf.constant(2.0), v.read_value())
    tape.gradient(z, v)


@pytest.mark.parametrize("work", [step, in_function, in_session, of_a_custom_rule])
def test_a_step_leaves_nothing_behind(work: Callable[[], object]) -> None:
    received: list[str] = []
    with observe(receiver=lambda call: received.append(call.api)):
        work()
        context.context()._clear_caches()
        before = tensors()
        work()
        context.context()._clear_caches()
        assert not tensors() - before
    assert len(received) == 2


def freed_at_once(make: Callable[[], Any]) -> bool:
    made = weakref.ref(make())
    return made() is None


@pytest.mark.parametrize("persistent", [False, True])
def test_a_tensor_is_freed_while_its_tape_is_open(persistent: bool) -> None:
    received: list[Any] = []
    x = tf.Variable([1.0, 2.0])
    with observe(receiver=received.append):
        with tf.GradientTape(persistent=persistent) as tape:
            assert freed_at_once(lambda: tf.ones([2]) + 1.0)
            assert freed_at_once(lambda: tf.Variable(3.0))
            assert freed_at_once(lambda: tf.strings.lower(tf.constant(["A"])))
            assert freed_at_once(lambda: tf.strings.lower("A"))
            y = tf.reduce_sum((x + 1.0) * 2.0)
            assert freed_at_once(lambda: tf.sqrt(float(tf.constant(2.0))))
        tape.gradient(y, x)
        if persistent:
            tape.gradient(y, x)
        kept = weakref.ref(y)
        del y
        assert kept() is None
    assert [len(one.events) > 5 for one in received] == [True] * (1 + persistent)
    assert all(
        value.array is not None
        for one in received
        for event in one.events
        for value in event.outputs[:1]
        if value.dtype == "float32"
    )


def test_what_an_accumulator_was_given_is_freed_while_it_is_open() -> None:
    with observe(receiver=lambda call: None):
        x, along = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
        freed = [weakref.ref(x), weakref.ref(along)]
        with tf.autodiff.ForwardAccumulator(x, along):
            del x, along
            assert [one() is None for one in freed] == [True, True]


def test_an_inner_tapes_results_are_freed_while_the_outer_is_open() -> None:
    received: list[Any] = []
    x = tf.Variable([1.0, 2.0])
    with observe(receiver=received.append):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(tf.gather(x, [0, 1]) + 1.0)
            g = inner.gradient(y, x)  # the rows of a gather
            freed = weakref.ref(g.values)
            z = tf.reduce_sum(x * x)
            del g, inner
            assert freed() is None
        outer.gradient(z, x)
    assert [one.api for one in received] == ["gradient", "gradient"]


@tf.function
def squared_and_moved(x: Any) -> Any:
    return x * x, x + 1.0


def test_what_a_function_took_and_gave_is_freed_while_the_tape_is_open() -> None:
    received: list[Any] = []
    w = tf.Variable(3.0)
    squared_and_moved(tf.constant([1.0]))  # what tracing it leaves behind is TensorFlow's
    with observe(receiver=received.append):
        with tf.GradientTape() as tape:
            x = tf.constant([2.0])
            square, moved = squared_and_moved(x)
            y = square * w
            freed = [weakref.ref(one) for one in (x, moved)]
            del x, moved
            assert [one() is None for one in freed] == [True, True]
        tape.gradient(y, w)
    assert [event.op for event in received[0].events].count("Mul") >= 2  # the one inside, too
