"""Nothing of the user's program lives longer because it is watched."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.frontends.tensorflow.hooks import observe

pytestmark = pytest.mark.tensorflow


def tensors() -> set[int]:
    gc.collect()
    return {id(one) for one in gc.get_objects() if issubclass(type(one), tf.Tensor)}


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


def test_a_step_leaves_no_tensors_behind() -> None:
    with observe(receiver=lambda call: None):
        step()
        before = tensors()
        step()
        assert not tensors() - before
