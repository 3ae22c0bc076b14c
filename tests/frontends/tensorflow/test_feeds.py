"""Data drawn inside a function: every gradient of a loop is seen, and the program gets the data it would have had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradproof

tf = pytest.importorskip("tensorflow")

pytestmark = pytest.mark.tensorflow


def numbers_up_to(n: int) -> Any:
    return tf.data.Dataset.from_tensor_slices(np.arange(1.0, n + 1, dtype="f"))


class Fit:
    """Trains one weight on one number after the other, `y = w x`, as a program would."""

    def __init__(self) -> None:
        self.w = tf.Variable(0.5)

    def step(self, x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = (x * self.w - 1.0) ** 2
        self.w.assign_sub(0.01 * tape.gradient(loss, self.w))
        return loss


def over_dataset(fit: Fit, data: Any) -> None:
    @tf.function
    def train(data: Any) -> None:
        for x in data:
            fit.step(x)

    train(data)
    train(data)


def over_part(fit: Fit, data: Any) -> None:
    @tf.function
    def train() -> None:
        for _, x in enumerate(data.take(3)):
            fit.step(x)

    train()


def until_break(fit: Fit, data: Any) -> None:
    @tf.function
    def train(data: Any) -> Any:
        total = 0.0
        for x in data:
            total += fit.step(x)
            if total > 1.0:
                break
        return total

    train(data)


def over_iterator(fit: Fit, data: Any) -> None:
    @tf.function
    def train(iterator: Any) -> None:
        for _ in tf.range(2):
            fit.step(next(iterator))

    iterator = iter(data)
    train(iterator)
    train(iterator)
    fit.step(next(iterator))


def over_rest(fit: Fit, data: Any) -> None:
    @tf.function
    def train(iterator: Any) -> None:
        for x in iterator:
            fit.step(x)

    train(iter(data))


def over_steps(fit: Fit, data: Any) -> None:
    @tf.function
    def train(n: Any) -> None:
        for i in tf.range(n):
            fit.step(tf.cast(i, tf.float32) / 100.0)

    train(tf.constant(120))


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        (over_dataset, [1, 2, 8, 9]),
        (over_part, [1, 2]),
        (until_break, [1, 2]),
        (over_iterator, [1, 2, 3, 4]),
        (over_rest, [1, 2]),
        (over_steps, [1, 2, 10, 100]),
    ],
)
def test_the_gradients_of_a_loop_over_data_are_judged_and_the_training_is_the_same(
    loop: Callable[[Fit, Any], None], expected: list[int]
) -> None:
    plain, watched = Fit(), Fit()
    loop(plain, numbers_up_to(7))
    with gradproof.watch() as report:
        loop(watched, numbers_up_to(7))
    rows = report.gradients
    assert [row.occurrence for row in rows[: len(expected)]] == expected
    assert {(row.target, row.source, str(row.verdict)) for row in rows} == {("loss", "self.w", "correct")}
    assert watched.w.numpy().tobytes() == plain.w.numpy().tobytes()
    assert report.notes == ()


def test_a_generator_is_asked_as_often_as_without_us() -> None:
    asked: list[int] = []

    def generate() -> Any:
        for k in range(5):
            asked.append(k)
            yield np.float32(k)

    data = tf.data.Dataset.from_generator(generate, output_signature=tf.TensorSpec([], tf.float32))
    fit = Fit()
    with gradproof.watch() as report:
        over_dataset(fit, data)
    assert asked == [0, 1, 2, 3, 4] * 2
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}


def test_several_steps_of_keras_in_one_call_train_as_without_us() -> None:
    def trained() -> Any:
        tf.keras.utils.set_random_seed(1)
        net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        net.compile("sgd", "mse", steps_per_execution=3, jit_compile=False)
        x = np.random.default_rng(0).normal(size=(28, 2)).astype("f")
        net.fit(x, x[:, :1], batch_size=4, epochs=2, verbose=0)
        return net.get_weights()

    plain = trained()
    with gradproof.watch() as report:
        watched = trained()
    assert [one.tobytes() for one in watched] == [one.tobytes() for one in plain]
    assert len(report.gradients) >= 8
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}


def test_an_error_in_the_data_reaches_the_program_as_it_would_without_us() -> None:
    def picky(x: Any) -> Any:
        tf.debugging.assert_less(x, 2.5, message="too large")
        return x

    with gradproof.watch(), pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        over_iterator(Fit(), numbers_up_to(7).map(picky))
    with gradproof.watch(), pytest.raises(tf.errors.OutOfRangeError):
        over_iterator(Fit(), numbers_up_to(3))


def test_a_queue_is_not_emptied_by_looking() -> None:
    queue = tf.queue.FIFOQueue(5, tf.float32, shapes=[[]])
    for k in range(4):
        queue.enqueue(float(k))
    fit = Fit()
    with gradproof.watch() as report:
        tf.function(lambda: fit.step(queue.dequeue()))()
    assert queue.size().numpy() == 3
    assert [str(verdict) for verdict in report.verdicts] == ["unverified"]
    assert "QueueDequeueV2" in str(report.gradients[0].reason)
