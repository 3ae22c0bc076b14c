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
