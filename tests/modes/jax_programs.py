"""Functions whose compiled gradient parts from the one op by op at a known op in JAX, and functions whose does not."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.modes.cases import ModeCase, normal

_S = jnp.sum


def _softmax(x: Any) -> Any:
    e = jnp.exp(x)
    return _S((e / _S(e)) ** 2)


def _layer_norm(x: Any) -> Any:
    away = x - jnp.mean(x)
    return away * jax.lax.rsqrt(jnp.mean(away * away) + 1e-5)


PARTING = {
    "softmax by hand": ModeCase(
        _softmax, normal(9), "div", "forward", "rewriting", "`a / b` was rewritten as `a * (1 / b)` op by op"
    ),
    "a root where it is taken": ModeCase(
        lambda x: _S(jnp.where(x > 1, jnp.sqrt(x) * x, x * 3.0)),
        normal(20) ** 2 + 0.1,
        "add",
        "backward",
        "fused-multiply-add",
    ),
    "log(exp(x))": ModeCase(
        lambda x: _S(jnp.log(jnp.exp(x))),
        np.array([100, 2], np.float32),
        "mul",
        "backward",
        "rewriting",
        "`a / b * b` was rewritten as `a`",
    ),
    "(x + c) - c": ModeCase(
        lambda x: ((x + 1e8) - 1e8) ** 2,
        np.float32(3.3),
        "sub",
        "forward",
        "rewriting",
        "was rewritten as `x",
    ),
    "a division by a constant": ModeCase(
        lambda x: _S((x / 3.0) ** 2), normal(20), "div", "backward", "rewriting", "`a * (1 / b)`"
    ),
    "tanh": ModeCase(
        lambda x: _S(jnp.tanh(x)), normal(40), "add", "backward", "fused-multiply-add", "rounds once"
    ),
    "a normalised layer in bfloat16": ModeCase(
        lambda x: _S(_layer_norm(x.astype(jnp.bfloat16)).astype(jnp.float32) ** 3),
        normal(64),
        "cast",
        "forward",
        "excess-precision",
        "had not been rounded to bfloat16",
    ),
    "attention": ModeCase(
        lambda q: _S(jax.nn.softmax(q @ q.T * 8) @ q), normal(7, 7), "add", "backward", "fused-multiply-add"
    ),
    "attention with large logits": ModeCase(
        lambda q: _S(jax.nn.softmax(q @ q.T * 40) @ q), normal(7, 7), "sub", "forward", "fused-multiply-add"
    ),
    "a line": ModeCase(
        lambda x: _S((x * 1.7 + 0.3) ** 3), normal(20), "add", "forward", "fused-multiply-add"
    ),
    "a parabola": ModeCase(
        lambda x: _S((x * x - 2.0) ** 2), normal(20), "sub", "forward", "fused-multiply-add"
    ),
    "gelu": ModeCase(lambda x: _S(jax.nn.gelu(x)), normal(40), "add", "backward", "fused-multiply-add"),
}

CONTROLS = {
    "a sum of a million": ModeCase(lambda x: jnp.log(_S(x)), normal(1_000_000) ** 2),
    "a norm": ModeCase(lambda x: jnp.sqrt(_S(x * x)), normal(997)),
    "exp": ModeCase(lambda x: _S(jnp.exp(x)), normal(40) * 5),
    "log": ModeCase(lambda x: _S(jnp.log(x) * x), normal(40) ** 2),
    # Of whole numbers, whose sums are exact in any order.
    "a matrix product": ModeCase(lambda x: _S((x @ x) ** 2), np.round(4 * normal(40, 40))),
    "sigmoid": ModeCase(lambda x: _S(jax.nn.sigmoid(x)), normal(40)),
    "softplus": ModeCase(lambda x: _S(jax.nn.softplus(x)), normal(40)),
    "relu": ModeCase(lambda x: _S(jax.nn.relu(x)), normal(40)),
    "where": ModeCase(lambda x: _S(jnp.where(x > 0, x, 2 * x)), normal(9)),
    "squares": ModeCase(lambda x: _S(x * x), normal(20)),
}
