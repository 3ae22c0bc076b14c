"""NumPy's part of `user_waits.py`: functions to check; the plain gradient is the one that gradproof's tape computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gradproof

Array = Any
Checked = tuple[Callable[..., Any], tuple[Array, ...], Callable[[], object]]


def _checked(function: Callable[..., Any], *args: Array) -> Checked:
    def gradient() -> object:
        variables = [gradproof.Variable(one) for one in args]
        with gradproof.GradientTape() as tape:
            value = function(*variables)
        return tape.gradient(value, variables)

    return function, args, gradient


def ten_ops() -> Checked:
    def f(x: Array) -> Array:
        y = np.exp(np.sin(x) * x + 2.0)
        return np.sum(np.log(y + x**2) * np.tanh(x) - x)

    return _checked(f, np.linspace(0.1, 1.0, 8))


def chain() -> Checked:
    def f(x: Array) -> Array:
        for k in range(50):
            x = np.sin(x) + 0.01 * k
        return np.sum(x)

    return _checked(f, np.linspace(0.1, 1.0, 3))


def _mlp(inputs: int, hidden: int, outputs: int, batch: int) -> Checked:
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=shape) / shape[0] ** 0.5 for shape in ((inputs, hidden), (hidden, outputs)))
    x = rng.normal(size=(batch, inputs))
    return _checked(lambda a, b: np.mean((np.tanh(x @ a) @ b) ** 2), a, b)


FUNCTIONS: dict[str, Callable[[], Checked]] = {
    "ten ops": ten_ops,
    "MLP with 60 parameters": lambda: _mlp(5, 10, 1, 8),
    "MLP with 1e3 parameters": lambda: _mlp(22, 22, 22, 32),
    "MLP with 1e5 parameters": lambda: _mlp(224, 224, 224, 32),
    "chain of 100 ops": chain,
}
