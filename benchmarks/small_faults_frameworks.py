"""A function with a hand-written rule, in each framework's own way, and the check of it."""

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from small_faults_functions import Function, Rule

import gradproof
from gradproof.diagnosis.report import Report

FUNCTIONS = (
    "abs",
    "cos",
    "exp",
    "log",
    "matmul",
    "maximum",
    "sign",
    "sin",
    "sqrt",
    "sum",
    "tanh",
    "transpose",
    "where",
)

Wrap = Callable[[Function, Rule], tuple[Callable[..., Any], Any]]


@dataclass(frozen=True)
class Framework:
    name: str
    wrapped: Wrap  # the loss and its argument
    gradient: Callable[[Function, Rule], Any] | None = None

    def check(self, function: Function, rule: Rule, order: int = 1) -> Report:
        loss, x = self.wrapped(function, rule)
        more = {} if self.gradient is None else {"gradient": self.gradient(function, rule)}
        return gradproof.check(loss, x, order=order, **more)


def weights(shape: tuple[int, ...]) -> Any:
    """So that every entry of a result has a gradient of its own; numbers of few bits."""
    return (1.0 + np.arange(int(np.prod(shape))) % 5 / 4.0).reshape(shape).astype(np.float32)


def _module(source: Any, **others: Any) -> Any:
    """The functions that forwards and rules are written in, of a framework; `others` where it has another name."""
    return SimpleNamespace(
        **{name: getattr(source, name) for name in FUNCTIONS if name not in others}, **others
    )


def _numpy_module() -> Any:
    return _module(np, constant=lambda a: a)


def _numpy(function: Function, rule: Rule) -> tuple[Callable[..., Any], Any]:
    m = _numpy_module()

    @gradproof.custom_gradient
    def operation(x: Any) -> Any:
        y = function.forward(m, x)
        return y, lambda dy: rule(m, dy, y, x)

    def loss(x: Any) -> Any:
        y = operation(x)
        return np.sum(y * weights(np.shape(y)))

    return loss, function.at


def _by_hand(function: Function, rule: Rule) -> tuple[Callable[..., Any], Any]:
    m = _numpy_module()

    def loss(x: Any) -> Any:
        y = function.forward(m, x)
        return np.sum(y * weights(np.shape(y)))

    return loss, function.at


def _gradient(function: Function, rule: Rule) -> Callable[[Any], Any]:
    m = _numpy_module()

    def gradient(x: Any) -> Any:
        y = function.forward(m, x)
        return rule(m, weights(np.shape(y)), y, x)

    return gradient


def _tensorflow(function: Function, rule: Rule) -> tuple[Callable[..., Any], Any]:
    import tensorflow as tf

    m = _module(tf, log=tf.math.log, sum=tf.reduce_sum, constant=tf.constant)

    @tf.custom_gradient
    def operation(x: Any) -> Any:
        y = function.forward(m, x)
        return y, lambda dy: rule(m, dy, y, x)

    def loss(x: Any) -> Any:
        y = operation(x)
        return tf.reduce_sum(y * weights(tuple(y.shape)))

    return loss, tf.constant(function.at)


def _torch(function: Function, rule: Rule) -> tuple[Callable[..., Any], Any]:
    import torch

    m = _module(torch, transpose=lambda a: a.T, constant=torch.tensor)

    class Operation(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            y = function.forward(m, x)
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            x, y = ctx.saved_tensors
            return rule(m, dy, y, x)

    def loss(x: Any) -> Any:
        y = Operation.apply(x)
        return torch.sum(y * torch.tensor(weights(tuple(y.shape))))

    return loss, torch.tensor(function.at)


def _jax(function: Function, rule: Rule) -> tuple[Callable[..., Any], Any]:
    import jax
    import jax.numpy as jnp

    m = _module(jnp, constant=jnp.asarray)

    @jax.custom_vjp
    def operation(x: Any) -> Any:
        return function.forward(m, x)

    def forward(x: Any) -> Any:
        y = function.forward(m, x)
        return y, (x, y)

    operation.defvjp(forward, lambda kept, dy: (rule(m, dy, kept[1], kept[0]),))

    def loss(x: Any) -> Any:
        y = operation(x)
        return jnp.sum(y * weights(tuple(y.shape)))

    return loss, jnp.asarray(function.at)


FRAMEWORKS: tuple[Framework, ...] = (
    Framework("NumPy, `custom_gradient`", _numpy),
    Framework("NumPy, `check(f, x, gradient=...)`", _by_hand, _gradient),
    Framework("TensorFlow", _tensorflow),
    Framework("PyTorch", _torch),
    Framework("JAX", _jax),
)
