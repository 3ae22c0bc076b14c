"""Functions whose gradient under XLA parts from the eager one at a known op, and functions whose does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.modes.cases import ModeCase
from tests.modes.cases import normal as _n


def _softmax(x: Any) -> Any:
    e = tf.exp(x)
    return tf.reduce_sum((e / tf.reduce_sum(e)) ** 2)


def _normed(x: Any) -> Any:
    return (x - tf.reduce_mean(x)) / tf.sqrt(tf.math.reduce_variance(x) + 1e-5)


def _layer_norm(x: Any) -> Any:
    away = x - tf.reduce_mean(x)
    return away * tf.math.rsqrt(tf.reduce_mean(away * away) + 1e-5)


_S = tf.reduce_sum
_M = tf.math

PARTING = {
    "a masked root": ModeCase(
        lambda x: _S(tf.where([False, True], tf.sqrt(x), 0.0)),
        np.float32([0, 4]),
        "sqrt",
        "backward",
        "derivative-rule",
    ),
    "a masked reciprocal root": ModeCase(
        lambda x: _S(tf.where([False, True], _M.rsqrt(x), 0.0)),
        np.float32([0, 4]),
        "rsqrt",
        "backward",
        "derivative-rule",
    ),
    "softmax by hand": ModeCase(
        _softmax,
        np.float32([50, 49, 20]),
        "div",
        "backward",
        "rewriting",
        "`a / (b * c)`, and `b * c` overflows float32",
    ),
    "shares": ModeCase(
        lambda x: _S(x / _S(x) * x), _n(9) ** 2 * 1e25, "div", "backward", "rewriting", "`a / (b * c)`"
    ),
    "log(exp(x))": ModeCase(
        lambda x: _S(_M.log(tf.exp(x))),
        np.float32([100, 2]),
        "mul",
        "backward",
        "rewriting",
        "was rewritten as `a`",
    ),
    "(x + c) - c": ModeCase(
        lambda x: ((x + 1e8) - 1e8) ** 2,
        np.float32(3.3),
        "sub",
        "forward",
        "rewriting",
        "was rewritten as `x`",
    ),
    "(x - c) + c": ModeCase(
        lambda x: ((x - 1e8) + 1e8) ** 2,
        np.float32(3.3),
        "add",
        "forward",
        "rewriting",
        "was rewritten as `x`",
    ),
    "a division by a constant": ModeCase(
        lambda x: _S((x / 3.0) ** 2), _n(20), "div", "forward", "rewriting", "was rewritten as `a * (1 / b)`"
    ),
    "a sum of a million": ModeCase(
        lambda x: _M.log(_S(x)), _n(1_000_000) ** 2, "sum", "forward", "sum-order"
    ),
    "a norm": ModeCase(lambda x: tf.sqrt(_S(x * x)), _n(997), "sum", "forward", "sum-order"),
    "a unit vector": ModeCase(lambda x: _S(x / tf.norm(x)), _n(33), "sum", "forward", "sum-order"),
    "a mean": ModeCase(lambda x: tf.square(tf.reduce_mean(x)), _n(1000), "mean", "forward", "sum-order"),
    "a normalised layer": ModeCase(lambda x: _S(_normed(x) ** 3), _n(64), "mean", "forward", "sum-order"),
    "a normalised layer in bfloat16": ModeCase(
        lambda x: _S(tf.cast(_layer_norm(tf.cast(x, tf.bfloat16)), tf.float32) ** 3),
        _n(64),
        "cast",
        "forward",
        "excess-precision",
        "had not been rounded to bfloat16",
    ),
    "a matrix product": ModeCase(lambda x: _S((x @ x) ** 2), _n(40, 40), "matmul", "backward", "sum-order"),
    "attention": ModeCase(
        lambda q: _S(tf.nn.softmax(q @ tf.transpose(q) * 8) @ q),
        _n(7, 7),
        "softmax",
        "forward",
        "approximation",
    ),
    "tanh": ModeCase(lambda x: _S(tf.tanh(x)), _n(40), "tanh", "forward", "approximation"),
    "a layer with tanh": ModeCase(
        lambda x: _S(tf.tanh(x @ x)), _n(20, 20), "tanh", "forward", "approximation"
    ),
    "exp": ModeCase(lambda x: _S(tf.exp(x)), _n(40) * 5, "exp", "forward", "approximation"),
    "a bell curve": ModeCase(lambda x: _S(tf.exp(-x * x)), _n(20), "exp", "forward", "approximation"),
    "log": ModeCase(lambda x: _S(_M.log(x) * x), _n(40) ** 2, "log", "forward", "approximation"),
    "log1p": ModeCase(lambda x: _S(_M.log1p(x) * x), _n(20) ** 2, "log1p", "forward", "approximation"),
    "sigmoid": ModeCase(lambda x: _S(tf.sigmoid(x)), _n(40), "sigmoid", "forward", "approximation"),
    "softplus": ModeCase(lambda x: _S(_M.softplus(x)), _n(40), "sigmoid", "backward", "approximation"),
    "sin": ModeCase(lambda x: _S(tf.sin(x)), _n(40) * 9, "cos", "backward", "approximation"),
    "sinh": ModeCase(lambda x: _S(tf.sinh(x)), _n(20), "cosh", "backward", "approximation"),
    "atan": ModeCase(lambda x: _S(tf.atan(x) ** 2), _n(20), "atan", "forward", "approximation"),
    "erf": ModeCase(lambda x: _S(_M.erf(x) ** 2), _n(40), "erf", "forward", "approximation"),
    "a power": ModeCase(lambda x: _S(x**1.5), _n(9) ** 2, "power", "backward", "approximation"),
    "rsqrt": ModeCase(lambda x: _S(_M.rsqrt(x)), _n(20) ** 2 + 1, "rsqrt", "forward", "approximation"),
    "a line": ModeCase(lambda x: _S((x * 1.7 + 0.3) ** 3), _n(20), "add", "forward", "fused-multiply-add"),
    "a parabola": ModeCase(lambda x: _S((x * x - 2.0) ** 2), _n(20), "sub", "forward", "fused-multiply-add"),
    "a line in float64": ModeCase(
        lambda x: _S((x * 1.7 + 0.3) ** 3), _n(20).astype(np.float64), "add", "forward", "fused-multiply-add"
    ),
}

# Keras computes every op of a layer in 16 bits, from numbers that it keeps in float32.
_WEIGHT = tf.Variable(_n(4, 9))

POLICY = {
    "a matrix product": ModeCase(
        lambda x: _S((tf.identity(_WEIGHT) @ x) ** 2), _n(9, 4), "matmul", "forward", "narrow-inputs"
    ),
    "a parabola": ModeCase(lambda x: _S(x * x * x), _n(20), "mul", "forward", "narrow-inputs"),
    "softmax by hand": ModeCase(_softmax, _n(7), "exp", "forward", "narrow-inputs"),
}

CONTROLS: dict[str, ModeCase] = {
    "squares": ModeCase(lambda x: _S(x * x), _n(20)),
    "three times": ModeCase(lambda x: _S(3 * x), _n(20)),
    "half": ModeCase(lambda x: _S(x / 2.0), _n(5)),
    "minus": ModeCase(lambda x: -_S(x), _n(5)),
    "a difference": ModeCase(lambda x: x[0] - x[1], _n(5)),
    "a product of two": ModeCase(lambda x: x[0] * x[1], _n(5)),
    "abs": ModeCase(lambda x: _S(tf.abs(x)), _n(20)),
    "relu": ModeCase(lambda x: _S(tf.nn.relu(x)), _n(20)),
    "leaky relu": ModeCase(lambda x: _S(tf.where(x > 0, x, 0.25 * x)), _n(20)),
    "max": ModeCase(lambda x: tf.reduce_max(x), _n(20)),
    "min": ModeCase(lambda x: _S(tf.minimum(x, 0.5)), _n(7)),
    "clip": ModeCase(lambda x: _S(tf.clip_by_value(x, -0.5, 0.5)), _n(9)),
    "where": ModeCase(lambda x: _S(tf.where(x > 0, x, 2 * x)), _n(5)),
    "reshape": ModeCase(lambda x: _S(tf.reshape(x, (4, 5))[1] * 2), _n(20)),
    "transpose": ModeCase(lambda x: _S(tf.transpose(x) * x), _n(5, 5)),
    "concat": ModeCase(lambda x: _S(tf.concat([x, x], 0) * 2), _n(5)),
    "stack": ModeCase(lambda x: _S(tf.stack([x, 2 * x])), _n(7)),
    "tile": ModeCase(lambda x: _S(tf.tile(x, [3])), _n(7)),
    "gather": ModeCase(lambda x: _S(tf.gather(x, [0, 2])), _n(5)),
    "stop_gradient": ModeCase(lambda x: _S(x * tf.stop_gradient(x)), _n(3)),
    "a product with the unit matrix": ModeCase(lambda x: _S(x @ tf.eye(3)), _n(3, 3)),
    "square roots": ModeCase(lambda x: _S(tf.sqrt(x)), _n(7) ** 2 + 1),
    "reciprocals of powers of two": ModeCase(lambda x: _S(1 / x), np.float32([2, 4, 8])),
    "a wider sum": ModeCase(lambda x: _S(tf.cast(x, tf.float64) * 2), _n(7)),
    "a square of a sum of two": ModeCase(lambda x: (x[0] + x[1]) ** 2, _n(2)),
    "a scalar": ModeCase(lambda x: x * x, np.float32(1.5)),
}
