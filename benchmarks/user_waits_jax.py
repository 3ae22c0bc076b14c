"""JAX's part of `user_waits.py`: functions to check, networks to audit, a training loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Checked = tuple[Callable[..., Any], tuple[Any, ...], Callable[[], object]]
Params = list[Any]


def _checked(function: Callable[..., Any], *args: Any) -> Checked:
    slope = jax.jit(jax.grad(function, tuple(range(len(args)))))
    return function, args, lambda: jax.block_until_ready(slope(*args))


def ten_ops() -> Checked:
    def f(x: Any) -> Any:
        y = jnp.exp(jnp.sin(x) * x + 2.0)
        return jnp.sum(jnp.log(y + x**2) * jnp.tanh(x) - x)

    return _checked(f, jnp.asarray(np.linspace(0.1, 1.0, 8), jnp.float32))


def chain() -> Checked:
    def f(x: Any) -> Any:
        for k in range(50):
            x = jnp.sin(x) + 0.01 * k
        return jnp.sum(x)

    return _checked(f, jnp.asarray(np.linspace(0.1, 1.0, 3), jnp.float32))


def _mlp(inputs: int, hidden: int, outputs: int, batch: int) -> Checked:
    rng = np.random.default_rng(0)
    a, b = (
        jnp.asarray(rng.normal(size=shape) / shape[0] ** 0.5, jnp.float32)
        for shape in ((inputs, hidden), (hidden, outputs))
    )
    x = jnp.asarray(rng.normal(size=(batch, inputs)), jnp.float32)
    return _checked(lambda a, b: jnp.mean((jnp.tanh(x @ a) @ b) ** 2), a, b)


FUNCTIONS: dict[str, Callable[[], Checked]] = {
    "ten ops": ten_ops,
    "MLP with 60 parameters": lambda: _mlp(5, 10, 1, 8),
    "MLP with 1e3 parameters": lambda: _mlp(22, 22, 22, 32),
    "MLP with 1e5 parameters": lambda: _mlp(224, 224, 224, 32),
    "chain of 100 ops": chain,
}


def _weights(*shapes: tuple[int, ...]) -> Params:
    rng = np.random.default_rng(0)
    return [
        jnp.asarray(rng.normal(size=one) / np.prod(one[:-1], initial=1.0) ** 0.5, jnp.float32)
        for one in shapes
    ]


def _dense(n: int) -> tuple[Params, Callable[[Params, Any], Any], tuple[int, ...]]:
    width = round((n / 2) ** 0.5)
    return _weights((width, width), (width, width)), lambda w, x: jnp.tanh(x @ w[0]) @ w[1], (32, width)


def _convolutional(n: int) -> tuple[Params, Callable[[Params, Any], Any], tuple[int, ...]]:
    """For images of 28 x 28; nearly all parameters of a large one are in its first dense layer."""
    channels = 8 if n < 100_000 else 32
    wide = n // (50 * channels)
    layout = ("NHWC", "HWIO", "NHWC")

    def layer(x: Any, w: Any) -> Any:
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, w, (1, 1), "VALID", dimension_numbers=layout))
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def net(w: Params, x: Any) -> Any:
        x = layer(layer(x, w[0]), w[1])
        return jax.nn.relu(x.reshape(len(x), -1) @ w[2]) @ w[3]

    shapes = ((3, 3, 1, channels), (3, 3, channels, 2 * channels), (50 * channels, wide), (wide, 10))
    return _weights(*shapes), net, (32, 28, 28, 1)


def _attention(n: int) -> tuple[Params, Callable[[Params, Any], Any], tuple[int, ...]]:
    width = round((n / 12) ** 0.5 / 4) * 4
    heads = 4

    def normal(x: Any) -> Any:
        return jax.nn.standardize(x, axis=-1, epsilon=1e-5)

    def net(w: Params, x: Any) -> Any:
        q, k, v = (
            (x @ one).reshape(*x.shape[:2], heads, width // heads).transpose(0, 2, 1, 3) for one in w[:3]
        )
        scores = jax.nn.softmax(q @ k.transpose(0, 1, 3, 2) / (width / heads) ** 0.5)
        x = normal(x + (scores @ v).transpose(0, 2, 1, 3).reshape(x.shape) @ w[3])
        return normal(x + jax.nn.gelu(x @ w[4]) @ w[5])

    squares = ((width, width),) * 4
    return _weights(*squares, (width, 4 * width), (4 * width, width)), net, (8, 16, width)


def _lstm(n: int) -> tuple[Params, Callable[[Params, Any], Any], tuple[int, ...]]:
    width = round((n / 8) ** 0.5)

    def net(w: Params, x: Any) -> Any:
        def cell(state: Any, one: Any) -> Any:
            h, c = state
            i, f, g, o = jnp.split(one @ w[0] + h @ w[1], 4, axis=-1)
            c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
            return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None

        zero = jnp.zeros((len(x), width))
        return jax.lax.scan(cell, (zero, zero), x.transpose(1, 0, 2))[0][0]

    return _weights((width, 4 * width), (width, 4 * width)), net, (16, 12, width)


NETWORKS = {"MLP": _dense, "CNN": _convolutional, "attention": _attention, "LSTM": _lstm}


def network(name: str, n: int) -> tuple[Callable[[], object], int]:
    """One compiled gradient of a mean squared error, and how many parameters the network has."""
    weights, net, shape = NETWORKS[name](n)
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=shape), jnp.float32)
    wanted = jnp.asarray(rng.normal(size=net(weights, x).shape), jnp.float32)
    slope = jax.jit(jax.grad(lambda w: jnp.mean((net(w, x) - wanted) ** 2)))
    return lambda: jax.block_until_ready(slope(weights)), sum(one.size for one in weights)


TRAINING_NAME = "a compiled training loop of 320 steps under `gradproof run`"
TRAINING = """
import jax
import jax.numpy as jnp

keys = jax.random.split(jax.random.key(0), 4)
a, b = 0.03 * jax.random.normal(keys[0], (784, 128)), 0.1 * jax.random.normal(keys[1], (128, 10))
x, y = jax.random.normal(keys[2], (2560, 784)), jax.random.randint(keys[3], (2560,), 0, 10)

def loss(w, xs, ys):
    scores = jax.nn.log_softmax(jnp.tanh(xs @ w[0]) @ w[1])
    return -jnp.mean(jnp.take_along_axis(scores, ys[:, None], 1))

slope = jax.jit(jax.grad(loss))
w = (a, b)
for _ in range(4):
    for k in range(0, 2560, 32):
        w = jax.tree.map(lambda one, back: one - 0.1 * back, w, slope(w, x[k:k + 32], y[k:k + 32]))
jax.block_until_ready(w)
"""
