"""Runs a program in eager TensorFlow under a gradient tape: how a fix is tried out in the user's framework."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradproof.ir.program import Node, Program, descendants
from gradproof.ir.types import Array

# Ops that TensorFlow has under the same meaning: name of the op -> path of the function.
_FUNCTIONS = {
    **{name: name for name in (
        "exp", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
        "atanh", "sigmoid", "square", "identity", "matmul", "stop_gradient",
    )},
    **{name: f"math.{name}" for name in (
        "expm1", "log", "log1p", "rsqrt", "reciprocal", "log_sigmoid", "erf", "erfc", "lgamma", "digamma", "erfinv",
        "ndtri", "erfcinv", "igamma", "igammac", "xlogy", "xlog1py", "conj", "real", "imag", "zeta",
    )},
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative", "power": "pow",
    "softplus": "nn.softplus", "xdivy": "math.xdivy", "select": "where", "band": "linalg.band_part",
}  # fmt: skip


def _reduced(name: str) -> Callable[..., Any]:
    def apply(tf: Any, x: Any, axes: tuple[int, ...]) -> Any:
        return getattr(tf, name)(x, axis=axes) if axes else tf.identity(x)

    return apply


def _along(name: str) -> Callable[..., Any]:
    """TensorFlow's softmax goes along one axis; of several at once there is none."""

    def apply(tf: Any, x: Any, axes: tuple[int, ...]) -> Any:
        if len(axes) != 1:
            raise NotImplementedError
        return getattr(tf.nn, name)(x, axis=axes[0])

    return apply


_WITH_PARAMS: dict[str, Callable[..., Any]] = {
    "sum": _reduced("reduce_sum"),
    "mean": _reduced("reduce_mean"),
    "prod": _reduced("reduce_prod"),
    "logsumexp": _reduced("reduce_logsumexp"),
    "softmax": _along("softmax"),
    "log_softmax": _along("log_softmax"),
    "reshape": lambda tf, x, shape: tf.reshape(x, shape),
    "broadcast": lambda tf, x, shape: tf.broadcast_to(x, shape),
    "transpose": lambda tf, x, order: tf.transpose(x, order),
    "cast": lambda tf, x, dtype: tf.cast(x, dtype),
    "integer_power": lambda tf, x, exponent: tf.pow(x, tf.cast(exponent, x.dtype)),
    "concat": lambda tf, *xs, axis: tf.concat(xs, axis),
    "stack": lambda tf, *xs, axis: tf.stack(xs, axis),
    "tile": lambda tf, x, repeats: tf.tile(x, repeats),
    "reverse": lambda tf, x, axes: tf.reverse(x, axes),
    "strided_slice": lambda tf, x, begin, end, stride=None: x[_slices(begin, end, stride)],
    "take_along": lambda tf, x, indices, axis: tf.experimental.numpy.take_along_axis(x, indices, axis),
    "gather_nd": lambda tf, x, indices: tf.gather_nd(x, indices),
    "take": lambda tf, x, indices, axis: tf.gather(x, indices, axis=axis),
}


def _slices(begin: Any, end: Any, stride: Any) -> tuple[slice, ...]:
    """With a negative stride an end of -1 includes the first entry; Python would count it from the back."""
    strides = stride or (1,) * len(begin)
    return tuple(slice(b, None if e < 0 else e, s) for b, e, s in zip(begin, end, strides))


def emit(program: Program, wrt: int) -> Array | None:
    """The gradient that TensorFlow computes for a program; None where it has no function for one of the ops."""
    tf = sys.modules.get("tensorflow")
    if tf is None or not tf.executing_eagerly():
        return None
    values: dict[int, Any] = {}
    moving = descendants(program, [wrt])
    try:
        with tf.GradientTape() as tape:
            for node in program.nodes:
                values[node.id] = value_in(tf, node, values, node.id in moving and node.id != wrt)
                if node.id == wrt:
                    tape.watch(values[wrt])
        gradient = tape.gradient(values[program.outputs[0]], values[wrt])
    except Exception:  # what TensorFlow refuses was not run, and the fix says so
        return None
    return None if gradient is None else np.asarray(tf.convert_to_tensor(gradient))


def value_in(tf: Any, node: Node, values: Mapping[int, Any], depends: bool) -> Any:
    """What does not depend on the source, and every decision, is as it was recorded."""
    if node.value is not None and (not depends or node.is_discrete):
        return tf.constant(node.value)
    args = [values[id] for id in node.inputs]
    if node.op in _WITH_PARAMS:
        return _WITH_PARAMS[node.op](tf, *args, **node.params)
    if node.op not in _FUNCTIONS or node.params:
        raise NotImplementedError(node.op)
    function = tf
    for part in _FUNCTIONS[node.op].split("."):
        function = getattr(function, part)
    return function(*args)
