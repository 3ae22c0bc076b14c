"""Which executions are looked at, and that the others are left alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.frontends.record.sites import by_powers_of_ten
from gradproof.frontends.tensorflow.hooks import observe

pytestmark = pytest.mark.tensorflow


def test_the_policy_is_the_first_two_and_the_powers_of_ten():
    assert [n for n in range(1, 2001) if by_powers_of_ten(n)] == [1, 2, 10, 100, 1000]


def test_only_the_sampled_executions_of_a_loop_are_recorded():
    with observe() as seen:
        x = tf.Variable(1.0)
        for _ in range(25):
            with tf.GradientTape() as tape:
                y = x * x
            tape.gradient(y, x)
    assert [call.occurrence for call in seen.calls] == [1, 2, 10]


def test_nothing_listens_while_an_execution_is_not_looked_at():
    from tensorflow.python.eager import context

    listening = []
    with observe():
        x = tf.Variable(1.0)
        for _ in range(4):
            with tf.GradientTape() as tape:
                y = x * x
                listening.append(bool(context.context().op_callbacks))
            tape.gradient(y, x)
    assert listening == [True, True, False, False]


def test_after_a_result_that_is_not_finite_the_next_execution_is_looked_at():
    with observe() as seen:
        x = tf.Variable(1.0)
        for step in range(8):
            with tf.GradientTape() as tape:
                y = tf.math.log(x * (0.0 if step == 4 else 1.0))
            tape.gradient(y, x)
    assert [call.occurrence for call in seen.calls] == [1, 2, 6]
    (site,) = seen.sites.table.values()
    assert site.nonfinite_unchecked == 1


def calls_of_ours(step: Callable[[], None]) -> int:
    """How many functions of gradproof a step enters."""
    entered = []

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and "gradproof" in str(frame.f_globals.get("__name__")).split("."):
            entered.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        step()
    finally:
        sys.setprofile(None)
    return len(entered)


def test_an_unchecked_step_enters_a_few_functions_of_ours_however_large_the_model():
    """What such a step costs, counted instead of timed: each function is a microsecond or less."""
    counted = []
    for n_layers in (1, 8):
        net = tf.keras.Sequential([tf.keras.layers.Dense(4) for _ in range(n_layers)])
        x = tf.ones((2, 4))

        def by_hand(net=net, x=x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(net(x))
            tape.gradient(loss, net.trainable_variables)

        by_function = tf.function(by_hand)
        with observe():
            for _ in range(3):
                by_hand()
                by_function()
            counted.append((calls_of_ours(by_hand), calls_of_ours(by_function)))
    assert counted[0] == counted[1]
    assert max(counted[0]) <= 40


def test_a_function_is_traced_to_the_same_ops_under_an_audit():
    def ops_of_a_step():
        net = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="relu"), tf.keras.layers.Dense(1)])
        net.build((None, 2))
        optimizer = tf.keras.optimizers.SGD(0.1)
        optimizer.build(net.trainable_variables)

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(net(x) ** 2)
            optimizer.apply(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
            return loss

        step(tf.ones((4, 2)))
        traced = step.get_concrete_function(tf.ones((4, 2)))
        return [op.type for op in traced.graph.get_operations()], len(traced.outputs)

    plain = ops_of_a_step()
    with observe() as seen:
        assert ops_of_a_step() == plain
    assert seen.calls
