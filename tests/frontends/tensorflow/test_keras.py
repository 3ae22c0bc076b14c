"""Keras: `fit` in its own functions, and training loops on models."""

from __future__ import annotations

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import gradproof
from gradproof.frontends.tensorflow.hooks import observe

pytestmark = pytest.mark.tensorflow


def model(dropout: float = 0.0):
    layers = [tf.keras.Input((2,)), tf.keras.layers.Dense(3, activation="tanh")]
    if dropout:
        layers.append(tf.keras.layers.Dropout(dropout))
    return tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])


def fit(net, **options) -> None:
    rng = np.random.default_rng(0)
    net.compile("sgd", "mse", **options)
    x, y = rng.normal(size=(8, 2)).astype("f"), rng.normal(size=(8, 1)).astype("f")
    net.fit(x, y, batch_size=4, epochs=1, verbose=0, shuffle=False)


@pytest.mark.parametrize("options", [{"run_eagerly": True}, {"jit_compile": False}, {"jit_compile": True}])
def test_each_step_of_fit_is_a_record_with_the_paths_of_the_variables(options):
    tf.keras.utils.set_random_seed(3)
    net = model()
    with observe() as seen:
        fit(net, **options)
    assert [call.failure for call in seen.calls] == [None, None]
    assert [call.occurrence for call in seen.calls] == [1, 2]
    first = seen.calls[0]
    assert first.through == "net.fit"
    assert first.file == __file__
    assert [source.name for source in first.sources] == [v.path for v in net.trainable_variables]
    assert first.targets[0].name == "loss"
    mode = {"run_eagerly": "eager"}.get(next(iter(options)), "xla" if options.get("jit_compile") else "graph")
    assert first.mode == mode
    assert all(np.isfinite(one.array).all() for one in first.observed)
    assert seen.failures == []


def test_the_interpreted_gradients_of_fit_agree_with_those_of_the_users_mode():
    tf.keras.utils.set_random_seed(3)
    net = model(dropout=0.5)
    with observe() as seen:
        fit(net, jit_compile=False)
    for call in seen.calls:
        held = {value.id: value for event in call.events for value in event.outputs}
        for one in call.observed:
            np.testing.assert_allclose(one.array, held[one.ids[0]].array, rtol=1e-5, atol=1e-7)
    assert not np.array_equal(seen.calls[0].observed[0].array, seen.calls[1].observed[0].array)


def test_embedding_and_recurrent_layers_are_taken_apart():
    tf.keras.utils.set_random_seed(3)
    layers = [tf.keras.Input((5,)), tf.keras.layers.Embedding(7, 4), tf.keras.layers.LSTM(3)]
    net = tf.keras.Sequential([*layers, tf.keras.layers.Dense(1)])
    x = np.random.default_rng(0).integers(0, 7, size=(4, 5))
    with observe() as seen:
        net.compile("adam", "mse", jit_compile=False)
        net.fit(x, np.ones((4, 1), "f"), epochs=1, verbose=0)
    (call,) = seen.calls
    assert call.failure is None
    assert [f.failure for f in call.calls] == [None]
    held = {value.id: value for event in call.events for value in event.outputs}
    for one in call.observed:
        np.testing.assert_allclose(one.values.array, held[one.ids[0]].array, rtol=1e-4, atol=1e-7)


def test_a_training_loop_on_a_model_has_names_and_paths():
    net = model()
    with observe() as seen:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(tf.ones([4, 2]), training=True) ** 2)
        tape.gradient(loss, net.trainable_variables)
    (call,) = seen.calls
    assert call.sources[1].name == call.sources[1].variable.path
    assert call.sources[1].variable.path.endswith("/bias")


@pytest.mark.parametrize("options", [{"run_eagerly": True}, {"jit_compile": False}, {"jit_compile": True}])
def test_dropout_is_judged_with_the_numbers_that_the_mode_drew(options):
    """From one seed XLA draws other numbers than the ops do that run one by one."""
    tf.keras.utils.set_random_seed(3)
    net = model(dropout=0.5)
    with gradproof.watch() as report:
        fit(net, **options)
    assert len(report.gradients) == 8
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}


def test_random_numbers_of_a_compiled_function_under_a_tape_are_those_it_drew():
    x = tf.Variable([1.0, 2.0, 3.0])

    @tf.function(jit_compile=True)
    def noisy(x):
        return tf.reduce_sum(tf.random.stateless_normal([3], [1, 2]) * x**2)

    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = noisy(x)
        tape.gradient(y, x)
    assert [str(verdict) for verdict in report.verdicts] == ["correct"]


def test_a_bias_before_batch_normalisation_is_as_right_as_a_zero_can_be():
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    net = tf.keras.Sequential(
        [layers.Conv2D(4, 3), layers.BatchNormalization(), layers.ReLU(), layers.Flatten(), layers.Dense(1)]
    )
    x = tf.constant(np.random.default_rng(0).normal(size=(4, 8, 8, 3)).astype("f"))
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(net(x, training=True) ** 2)
        tape.gradient(loss, net.trainable_variables)
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}
    assert report.gradients[1].reference is not None
    assert np.abs(report.gradients[1].reference).max() < 1e-30


def test_fitting_with_batch_normalisation_gives_nothing_to_say():
    """`moments` holds an inner value constant, which only a derivative of a derivative would feel."""
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    net = tf.keras.Sequential(
        [layers.Conv2D(2, 3), layers.BatchNormalization(), layers.ReLU(), layers.Flatten(), layers.Dense(1)]
    )
    net.compile("sgd", "mse", jit_compile=False)
    x = np.random.default_rng(0).normal(size=(4, 5, 5, 1)).astype("f")
    with gradproof.watch() as report:
        net.fit(x, np.ones((4, 1), "f"), verbose=0)
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}
    assert [cause.headline for row in report.gradients for cause in row.diagnostics] == []


def test_numbers_drawn_for_the_shape_of_a_batch_are_those_of_the_run():
    tf.keras.utils.set_random_seed(3)

    class Noisy(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.net = model()

        def train_step(self, x):
            x = x + tf.random.normal(tf.shape(x))
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(self.net(x) ** 2)
            gradients = tape.gradient(loss, self.net.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.net.trainable_variables))
            return {"loss": loss}

    noisy = Noisy()
    noisy.compile("sgd", jit_compile=False)
    with gradproof.watch() as report:
        noisy.fit(np.ones((12, 2), "f"), batch_size=2, epochs=2, verbose=0)
    assert {row.occurrence for row in report.gradients} == {1, 2, 10}
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}


def test_a_gradient_that_nobody_saw_is_not_called_missing():
    tf.random.set_seed(None)
    try:
        w = tf.Variable([1.0, 2.0])

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.nn.relu(w + tf.random.normal(tf.shape(x))))
            w.assign_sub(tape.gradient(loss, w))

        with gradproof.watch() as report:
            step(tf.constant([1.0, 2.0]))
    finally:
        tf.random.set_seed(0)
    (row,) = report.gradients
    assert str(row.verdict) == "unverified"
    assert "without a seed" in row.reason
    assert row.diagnostics == ()


def test_a_blank_background_is_a_kink_for_the_biases_alone():
    """Windows of equal numbers tie, with equal slopes; a bias of zero stands on the corner of `relu` there."""
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    rng = np.random.default_rng(0)
    x = np.zeros((4, 20, 20, 1), "f")
    x[:, 6:14, 6:14] = rng.random((4, 8, 8, 1))
    head = [layers.Flatten(), layers.Dense(10, activation="softmax")]
    body = [layers.Conv2D(8, 3, activation="relu"), layers.MaxPooling2D(2)]
    body += [layers.Conv2D(16, 3, activation="relu"), layers.MaxPooling2D(2)]
    net = tf.keras.Sequential([tf.keras.Input((20, 20, 1)), *body, *head])
    net.compile("adam", "sparse_categorical_crossentropy", jit_compile=False)
    with gradproof.watch() as report:
        net.fit(x, rng.integers(0, 10, 4), batch_size=2, shuffle=False, verbose=0)
    first, second = ([row for row in report.gradients if row.occurrence == n] for n in (1, 2))
    assert [str(row.verdict) for row in first] == ["correct", "undefined", *["correct"] * 4]
    assert first[1].source == net.layers[0].bias.path
    assert {str(row.verdict) for row in second} == {"correct"}


def test_a_root_of_what_relu_has_cut_off_is_named():
    tf.keras.utils.set_random_seed(0)
    layers = tf.keras.layers
    root = layers.Lambda(lambda x: tf.sqrt(x))
    net = tf.keras.Sequential(
        [tf.keras.Input((3,)), layers.Dense(4, activation="relu"), root, layers.Dense(1)]
    )
    net.compile("sgd", "mse", jit_compile=False)
    with gradproof.watch() as report:
        net.fit(np.random.default_rng(0).normal(size=(8, 3)).astype("f"), np.ones((8, 1), "f"), verbose=0)
    row = report.gradients[0]
    assert str(row.verdict) == "nonfinite"
    (cause,) = [one for one in row.diagnostics if one.severity == "error"]
    assert cause.kind == "masked-branch"
    assert cause.headline == "an infinite slope is multiplied by 0 in the backward pass, which leaves NaN"
    assert cause.primary.span.function.endswith("<lambda>")


def scaled(*body) -> gradproof.Report:
    tf.keras.utils.set_random_seed(0)
    net = tf.keras.Sequential([*body, tf.keras.layers.Dense(1)])
    net.compile("sgd", "mse", jit_compile=False)
    x = np.random.default_rng(0).normal(size=(8, *body[0].shape[1:])).astype("f")
    with gradproof.watch(checks="first") as report:
        net.fit(x, np.ones((8, 1), "f"), verbose=0)
    assert {str(verdict) for verdict in report.verdicts} == {"correct"}
    return report


def kinds(report: gradproof.Report, end: str) -> list[tuple[str, str]]:
    rows = [row for row in report.gradients if row.source.endswith(end)]
    return [(cause.kind, cause.severity) for row in rows for cause in row.diagnostics]


def test_a_gradient_that_vanishes_layer_by_layer_is_told_at_the_first_layers_only():
    layers = tf.keras.layers
    report = scaled(tf.keras.Input((4,)), *(layers.Dense(4, "sigmoid", name=f"d{k}") for k in range(20)))
    assert kinds(report, "d0/kernel") == [("vanishing", "warning")]
    assert kinds(report, "d19/kernel") == []
    assert "with each of 20 steps" in report.gradients[0].diagnostics[0].primary.label


def test_a_gradient_that_explodes_step_by_step_is_told():
    start = tf.keras.initializers.Orthogonal(gain=3.0)
    cell = tf.keras.layers.SimpleRNN(4, activation=None, recurrent_initializer=start)
    report = scaled(tf.keras.Input((20, 2)), cell)
    assert kinds(report, "/recurrent_kernel") == [("exploding", "warning")]


def test_steps_so_far_back_that_they_are_not_learnt_are_a_note():
    start = tf.keras.initializers.Orthogonal(gain=0.2)
    report = scaled(tf.keras.Input((20, 2)), tf.keras.layers.SimpleRNN(4, recurrent_initializer=start))
    assert kinds(report, "/recurrent_kernel") == [("vanishing", "note")]


def test_a_healthy_deep_network_gives_nothing_to_say():
    layers = tf.keras.layers
    report = scaled(tf.keras.Input((4,)), *(layers.Dense(16, "tanh") for _ in range(12)))
    assert [cause for row in report.gradients for cause in row.diagnostics] == []
