"""The network of the benchmark `mlp.py`: as a program, and its gradient by the frameworks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program

Array = np.ndarray[Any, Any]
Layers = list[tuple[Array, Array]]

BATCH = 256


def network(n: int) -> tuple[Layers, Array]:
    """Two square layers with about n parameters, and a batch of data."""
    width = max(2, round((n / 2) ** 0.5))
    rng = np.random.default_rng(0)

    def layer() -> tuple[Array, Array]:
        weights = rng.normal(size=(width, width)) / np.sqrt(width)
        return weights.astype(np.float32), rng.normal(size=width).astype(np.float32) / 10

    return [layer(), layer()], rng.normal(size=(BATCH, width)).astype(np.float32)


def size_of(layers: Layers) -> int:
    return sum(array.size for layer in layers for array in layer)


def program_of(layers: Layers, data: Array) -> Program:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    hidden = Traced(m, builder.constant(data), data)
    for weights, bias in layers:
        w, b = (Traced(m, builder.input(array), array) for array in (weights, bias))
        hidden = m.tanh(m.add(m.matmul(hidden, w), b))
    return builder.build([m.mean(m.mul(hidden, hidden), axes=(0, 1)).id])


def torch_loss(parameters: list[Any], data: Any) -> Any:
    hidden = data
    for weights, bias in zip(parameters[::2], parameters[1::2]):
        hidden = torch.tanh(hidden @ weights + bias)
    return (hidden * hidden).mean()


def torch_gradient(layers: Layers, data: Array) -> Callable[[], list[Array]]:
    parameters = [torch.tensor(array, requires_grad=True) for layer in layers for array in layer]
    batch = torch.tensor(data)

    def compute() -> list[Array]:
        return [g.numpy() for g in torch.autograd.grad(torch_loss(parameters, batch), parameters)]

    return compute


def tensorflow_loss(parameters: Any, data: Any) -> Any:
    import tensorflow as tf

    hidden = data
    for weights, bias in zip(parameters[::2], parameters[1::2]):
        hidden = tf.tanh(hidden @ weights + bias)
    return tf.reduce_mean(hidden * hidden)


def tensorflow_gradient(layers: Layers, data: Array) -> Callable[[], list[Array]]:
    """In eager mode, as a script without `tf.function` computes it."""
    import tensorflow as tf

    parameters = [tf.Variable(array) for layer in layers for array in layer]
    batch = tf.constant(data)

    def compute() -> list[Array]:
        with tf.GradientTape() as tape:
            loss = tensorflow_loss(parameters, batch)
        return [g.numpy() for g in tape.gradient(loss, parameters)]

    return compute
