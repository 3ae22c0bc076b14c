"""TensorFlow's part of `user_waits.py`: functions to check, networks to audit, a training by `fit`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

layers = tf.keras.layers
Checked = tuple[Callable[..., Any], tuple[Any, ...], Callable[[], object]]


def _checked(function: Callable[..., Any], *args: Any) -> Checked:
    def gradient() -> list[Any]:
        with tf.GradientTape() as tape:
            tape.watch(args)
            value = function(*args)
        return [one.numpy() for one in tape.gradient(value, args)]

    return function, args, gradient


def ten_ops() -> Checked:
    def f(x: Any) -> Any:
        y = tf.exp(tf.sin(x) * x + 2.0)
        return tf.reduce_sum(tf.math.log(y + x**2) * tf.tanh(x) - x)

    return _checked(f, tf.constant(np.linspace(0.1, 1.0, 8), tf.float32))


def chain() -> Checked:
    def f(x: Any) -> Any:
        for k in range(50):
            x = tf.sin(x) + 0.01 * k
        return tf.reduce_sum(x)

    return _checked(f, tf.constant(np.linspace(0.1, 1.0, 3), tf.float32))


def _mlp(inputs: int, hidden: int, outputs: int, batch: int) -> Checked:
    rng = np.random.default_rng(0)
    a, b = (
        tf.constant(rng.normal(size=shape) / shape[0] ** 0.5, tf.float32)
        for shape in ((inputs, hidden), (hidden, outputs))
    )
    x = tf.constant(rng.normal(size=(batch, inputs)), tf.float32)
    return _checked(lambda a, b: tf.reduce_mean((tf.tanh(x @ a) @ b) ** 2), a, b)


FUNCTIONS: dict[str, Callable[[], Checked]] = {
    "ten ops": ten_ops,
    "MLP with 60 parameters": lambda: _mlp(5, 10, 1, 8),
    "MLP with 1e3 parameters": lambda: _mlp(22, 22, 22, 32),
    "MLP with 1e5 parameters": lambda: _mlp(224, 224, 224, 32),
    "chain of 100 ops": chain,
}


def _dense(n: int) -> tuple[Any, tuple[int, ...]]:
    width = round((n / 2) ** 0.5)
    return tf.keras.Sequential([layers.Dense(width, activation="tanh"), layers.Dense(width)]), (32, width)


def _convolutional(n: int) -> tuple[Any, tuple[int, ...]]:
    """For images of 28 x 28; nearly all parameters of a large one are in its first dense layer."""
    channels = 8 if n < 100_000 else 32
    net = tf.keras.Sequential(
        [
            layers.Conv2D(channels, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(2 * channels, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dense(n // (50 * channels), activation="relu"),
            layers.Dense(10),
        ]
    )
    return net, (32, 28, 28, 1)


def _attention(n: int) -> tuple[Any, tuple[int, ...]]:
    width = round((n / 12) ** 0.5 / 4) * 4
    words = layers.Input((16, width))
    hidden = layers.LayerNormalization()(words + layers.MultiHeadAttention(4, width // 4)(words, words))
    wide = layers.Dense(4 * width, activation="gelu")(hidden)
    out = layers.LayerNormalization()(hidden + layers.Dense(width)(wide))
    return tf.keras.Model(words, out), (8, 16, width)


def _lstm(n: int) -> tuple[Any, tuple[int, ...]]:
    width = round((n / 8) ** 0.5)
    return tf.keras.Sequential([layers.LSTM(width)]), (16, 12, width)


NETWORKS = {"MLP": _dense, "CNN": _convolutional, "attention": _attention, "LSTM": _lstm}


def network(name: str, n: int) -> tuple[Callable[[], object], int]:
    """One gradient of a mean squared error, and how many parameters the network has."""
    tf.keras.utils.set_random_seed(0)
    net, shape = NETWORKS[name](n)
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=shape), tf.float32)
    wanted = tf.constant(rng.normal(size=net(x).shape), tf.float32)

    def gradient() -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((net(x) - wanted) ** 2)
        for one in tape.gradient(loss, net.trainable_variables):
            one.numpy()

    return gradient, net.count_params()


TRAINING_NAME = "Keras `fit` of 320 steps under `gradproof run`"
TRAINING = """
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(0)
layers = tf.keras.layers
net = tf.keras.Sequential(
    [
        layers.Input((28, 28, 1)),
        layers.Conv2D(16, 3, activation="relu"),
        layers.MaxPooling2D(2),
        layers.Conv2D(32, 3, activation="relu"),
        layers.Flatten(),
        layers.Dense(64, activation="relu"),
        layers.Dense(10),
    ]
)
net.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
rng = np.random.default_rng(0)
x, y = rng.normal(size=(2560, 28, 28, 1)).astype("f"), rng.integers(0, 10, 2560)
net.fit(x, y, batch_size=32, epochs=4, verbose=0)
"""
