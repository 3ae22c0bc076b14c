"""From a TensorFlow program to its verdicts: every way to ask for a gradient, every kind of layer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import gradproof
from gradproof.diagnosis.report import Report
from gradproof.judge.verdict import Verdict

pytestmark = pytest.mark.tensorflow


@pytest.fixture(autouse=True)
def _seeded() -> None:
    tf.keras.utils.set_random_seed(5)


def audited(program: Callable[[], object]) -> Report:
    with gradproof.watch() as report:
        program()
    return report


def assert_all_correct(report: Report, n_gradients: int | None = None) -> None:
    said = [
        f"{g.source}: {g.verdict} {g.reason}" for g in report.gradients if g.verdict is not Verdict.CORRECT
    ]
    assert said == []
    assert report.notes == ()
    if n_gradients is not None:
        assert len(report.gradients) == n_gradients
    assert report.gradients


def jacobian() -> None:
    x = tf.Variable([0.5, 1.5])
    with tf.GradientTape() as tape:
        y = tf.stack([tf.reduce_sum(x * x), x[0] * tf.sin(x[1]), tf.exp(x[1])])
    tape.jacobian(y, x)


def batch_jacobian() -> None:
    x = tf.random.normal([3, 2])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.tanh(x @ tf.random.normal([2, 4]))
    tape.batch_jacobian(y, x)


def forward_mode() -> None:
    x = tf.constant([0.5, 1.5])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, -2.0])) as forward:
        y = tf.sin(x) * tf.reduce_sum(x)
    forward.jvp(y)


def persistent() -> None:
    x = tf.Variable(2.0)
    with tf.GradientTape(persistent=True) as tape:
        y = x**3
        z = tf.sin(y)
    tape.gradient(y, x)
    tape.gradient(z, [x, y])


def second_order() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = tf.reduce_sum(tf.exp(x) * x**2)
        slope = inner.gradient(y, x)
        total = tf.reduce_sum(slope)
    outer.gradient(total, x)


def hessian() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = x[0] ** 2 * tf.sin(x[1])
        slope = inner.gradient(y, x)
    outer.jacobian(slope, x)


def sparse_rows() -> None:
    table = tf.Variable(tf.random.normal([6, 3]))
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(table, [1, 4, 1]) ** 2)
    assert isinstance(tape.gradient(y, table), tf.IndexedSlices)


def output_gradients() -> None:
    x = tf.Variable([1.0, 2.0])
    with tf.GradientTape() as tape:
        y = tf.exp(x)
    tape.gradient(y, x, output_gradients=tf.constant([2.0, -1.0]))


def several_targets() -> None:
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        y, z = x**2, tf.sin(x)
    tape.gradient([y, z], {"point": x})


def equal_variables() -> None:
    """Variables made from one number share a buffer at first."""
    a, b = tf.Variable(3.0), tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = a * b * b
    tape.gradient(y, [a, b])


def gradients_in_a_graph() -> None:
    @tf.function
    def slope(x: tf.Tensor) -> tf.Tensor:
        y = tf.reduce_sum(tf.sin(x) * x)
        return tf.gradients(y, x)[0]

    slope(tf.constant([1.0, 2.0]))


def tape_in_a_function() -> None:
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def step(x: tf.Tensor) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(x @ w) ** 2)
        slope = tape.gradient(loss, w)
        w.assign_sub(0.1 * slope)
        return loss

    for _ in range(3):
        step(tf.constant([[1.0, -1.0]]))


def function_in_a_tape() -> None:
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def inner(x: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(tf.sin(w) * x)

    with tf.GradientTape() as tape:
        loss = inner(tf.constant(2.0)) ** 2
    tape.gradient(loss, w)


def compiled() -> None:
    w = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def step() -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(w) ** 2)
        return tape.gradient(loss, w)

    step()


def control_flow() -> None:
    x = tf.Variable(1.5)

    @tf.function
    def f() -> tf.Tensor:
        y = x
        for _ in tf.range(3):
            if y > 2.0:  # noqa: SIM108 - a branch is what is tested
                y = y * 0.5
            else:
                y = y * y
        return y

    with tf.GradientTape() as tape:
        y = f()
    tape.gradient(y, x)


def optimizer_steps() -> None:
    x = tf.Variable([1.0, -2.0])
    optimizer = tf.keras.optimizers.Adam(0.1)
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x**2)
        optimizer.apply_gradients([(tape.gradient(loss, x), x)])


def random_numbers() -> None:
    w = tf.Variable(tf.random.normal([4]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.dropout(tf.sin(w), 0.5) * tf.random.uniform([4]))
    tape.gradient(loss, w)


WAYS = {
    program.__name__: (program, n)
    for program, n in [
        (jacobian, 1), (batch_jacobian, 1), (forward_mode, 1), (persistent, 3), (second_order, 2), (hessian, 2),
        (sparse_rows, 1), (output_gradients, 1), (several_targets, 1), (equal_variables, 2),
        (gradients_in_a_graph, 1), (tape_in_a_function, 2), (function_in_a_tape, 1), (compiled, 1),
        (control_flow, 1), (optimizer_steps, 2), (random_numbers, 1),
    ]
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_a_right_gradient_is_judged_correct_however_it_was_asked_for(name: str) -> None:
    program, n_gradients = WAYS[name]
    assert_all_correct(audited(program), n_gradients)


def _images() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 6, 6, 2)).astype("f"), rng.normal(size=(4, 1)).astype("f")


def _series() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(4, 5, 3)).astype("f"), rng.normal(size=(4, 1)).astype("f")


def _words() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 7, size=(4, 5)), rng.normal(size=(4, 1)).astype("f")


def dense() -> tuple[list[object], tuple[np.ndarray, np.ndarray]]:
    layers = tf.keras.layers
    return [layers.Flatten(), layers.Dense(4, activation="gelu"), layers.Dropout(0.3)], _series()


def convolution() -> tuple[list[object], tuple[np.ndarray, np.ndarray]]:
    layers = tf.keras.layers
    made = [layers.Conv2D(3, 3, activation="swish"), layers.BatchNormalization(), layers.AveragePooling2D(2)]
    return [*made, layers.Flatten()], _images()


def separable() -> tuple[list[object], tuple[np.ndarray, np.ndarray]]:
    layers = tf.keras.layers
    return [layers.SeparableConv2D(3, 3), layers.MaxPooling2D(), layers.GlobalAveragePooling2D()], _images()


def normalisation() -> tuple[list[object], tuple[np.ndarray, np.ndarray]]:
    layers = tf.keras.layers
    return [layers.LayerNormalization(), layers.GroupNormalization(groups=1), layers.Flatten()], _series()


def lstm() -> tuple[list[object], tuple[np.ndarray, np.ndarray]]:
    return [tf.keras.layers.LSTM(3)], _series()


def gru() -> tuple[list[object], tuple[np.ndarray, np.ndarray]]:
    return [
        tf.keras.layers.Bidirectional(tf.keras.layers.GRU(2, return_sequences=True)),
        tf.keras.layers.Flatten(),
    ], _series()


def embedding() -> tuple[list[object], tuple[np.ndarray, np.ndarray]]:
    layers = tf.keras.layers
    return [layers.Embedding(7, 3), layers.SimpleRNN(3)], _words()


MODELS = [dense, convolution, separable, normalisation, lstm, gru, embedding]


@pytest.mark.parametrize("mode", ["eager", "graph"])
@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_a_model_is_judged_correct_per_variable_while_it_is_fitted(make, mode: str) -> None:
    layers, (x, y) = make()
    net = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
    net.compile("adam", "mse", run_eagerly=mode == "eager", jit_compile=False)
    report = audited(lambda: net.fit(x, y, batch_size=4, epochs=1, verbose=0))
    assert_all_correct(report, len(net.trainable_variables))
    assert [g.source for g in report.gradients] == [v.path for v in net.trainable_variables]
    assert {g.target for g in report.gradients} == {"loss"}


def test_attention_is_judged_correct_per_variable() -> None:
    layers = tf.keras.layers
    inputs = layers.Input((5, 4))
    attended = layers.MultiHeadAttention(2, 2)(inputs, inputs, use_causal_mask=True)
    outputs = layers.Dense(1)(layers.LayerNormalization()(inputs + attended))
    net = tf.keras.Model(inputs, outputs)
    net.compile("sgd", "mse", jit_compile=False)
    x = np.random.default_rng(0).normal(size=(3, 5, 4)).astype("f")
    report = audited(lambda: net.fit(x, np.ones((3, 5, 1), "f"), verbose=0))
    assert_all_correct(report, len(net.trainable_variables))
    assert report.gradients[0].source == "multi_head_attention/query/kernel"


def test_classification_with_its_losses_is_judged_correct() -> None:
    net = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="elu"), tf.keras.layers.Dense(3)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    net.compile("adam", loss, jit_compile=False, metrics=["accuracy"])
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(16, 5)).astype("f"), rng.integers(0, 3, 16)
    assert_all_correct(audited(lambda: net.fit(x, y, batch_size=8, verbose=0)), 8)
