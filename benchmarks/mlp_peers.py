"""The checkers that the benchmark `mlp.py` is compared with, each with its default settings."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from mlp_network import Array, Layers, tensorflow_loss, torch_gradient, torch_loss


def times(layers: Layers, data: Array) -> dict[str, float]:
    """Seconds that each checker takes for the gradient of the network in float64, which is what it is made for."""
    wide = [(weights.astype(np.float64), bias.astype(np.float64)) for weights, bias in layers]
    batch = data.astype(np.float64)
    found: dict[str, float] = {}
    for name, check in _checks(wide, batch).items():
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check()
        found[name] = time.perf_counter() - start
    return found


def _checks(layers: Layers, data: Array) -> dict[str, Callable[[], Any]]:
    import numdifftools
    import scipy.optimize

    flat = np.concatenate([array.reshape(-1) for layer in layers for array in layer])
    exact = np.concatenate([g.reshape(-1) for g in torch_gradient(layers, data)()])
    parameters = [torch.tensor(array, requires_grad=True) for layer in layers for array in layer]
    batch = torch.tensor(data)

    def loss(x: Array) -> float:
        hidden = data
        parts = _split(x, layers)
        for weights, bias in zip(parts[::2], parts[1::2]):
            hidden = np.tanh(hidden @ weights + bias)
        return float((hidden * hidden).mean())

    def torch_check(fast: bool) -> Any:
        return torch.autograd.gradcheck(
            lambda *ps: torch_loss(list(ps), batch), parameters, fast_mode=fast, raise_exception=False
        )

    return {
        "scipy check_grad": lambda: scipy.optimize.check_grad(loss, lambda x: exact, flat),
        "numdifftools": lambda: numdifftools.Gradient(loss)(flat),
        "torch gradcheck": lambda: torch_check(False),
        "torch fast": lambda: torch_check(True),
        "jax check_grads": lambda: _jax_check(layers, data),
        "tf compute_gradient": lambda: _tensorflow_check(layers, data),
    }


def _split(x: Array, layers: Layers) -> list[Array]:
    shapes = [array.shape for layer in layers for array in layer]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return [part.reshape(shape) for part, shape in zip(np.split(x, ends[:-1]), shapes)]


def _jax_check(layers: Layers, data: Array) -> None:
    import jax
    import jax.test_util

    with jax.enable_x64(True):

        def loss(parameters: Any) -> Any:
            hidden = data
            for weights, bias in parameters:
                hidden = jax.numpy.tanh(hidden @ weights + bias)
            return (hidden * hidden).mean()

        jax.test_util.check_grads(loss, (layers,), order=1, modes=["rev"])


def _tensorflow_check(layers: Layers, data: Array) -> None:
    import tensorflow as tf

    parameters = [tf.constant(array) for layer in layers for array in layer]
    tf.test.compute_gradient(lambda *ps: tensorflow_loss(ps, tf.constant(data)), parameters)
