"""Which executions are looked at, and that the others are left alone."""

from __future__ import annotations

import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.frontends.tensorflow.hooks import observe
from gradproof.frontends.tensorflow.sampling import by_powers_of_ten

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
