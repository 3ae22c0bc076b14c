"""Runs a program in eager TensorFlow under a gradient tape: how a fix is tried out in the user's framework."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gradproof.frontends.emitting import (
    Emitted,
    NoFunction,
    emitted,
    named,
    of_order,
    slices,
    summed_axes,
    times,
)
from gradproof.ir.program import Node, Program, descendants
from gradproof.ir.types import Array

# Ops that TensorFlow has under the same meaning: name of the op -> path of the function.
_FUNCTIONS = {
    **{name: name for name in (
        "exp", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
        "atanh", "sigmoid", "square", "identity", "matmul", "stop_gradient", "complex",
    )},
    **{name: f"math.{name}" for name in (
        "expm1", "log", "log1p", "rsqrt", "reciprocal", "log_sigmoid", "erf", "erfc", "lgamma", "digamma", "erfinv",
        "ndtri", "erfcinv", "igamma", "igammac", "xlogy", "xlog1py", "conj", "real", "imag", "zeta", "betainc", "xdivy",
    )},
    **{name: f"math.special.{name}" for name in ("expint", "fresnel_cos", "fresnel_sin", "spence")},
    **{name: f"experimental.numpy.{name}" for name in ("exp2", "log2", "log10", "hypot", "logaddexp", "cbrt")},
    "add": "add", "sub": "subtract", "mul": "multiply", "div": "divide", "neg": "negative",
    "softplus": "nn.softplus", "select": "where", "det": "linalg.det", "inverse": "linalg.inv",
    "matrix_exp": "linalg.expm", "pinv": "linalg.pinv", "dawson": "math.special.dawsn",
}  # fmt: skip


def _reduced(name: str) -> Callable[..., Any]:
    def apply(tf: Any, x: Any, axes: tuple[int, ...]) -> Any:
        return getattr(tf, name)(x, axis=axes) if axes else tf.identity(x)

    return apply


def _along(name: str) -> Callable[..., Any]:
    """TensorFlow's softmax goes along one axis; of several at once there is none."""

    def apply(tf: Any, x: Any, axes: tuple[int, ...]) -> Any:
        if len(axes) != 1:
            raise NoFunction(f"{name} along {len(axes)} axes")
        return getattr(tf.nn, name)(x, axis=axes[0])

    return apply


def _running(name: str) -> Callable[..., Any]:
    def apply(tf: Any, x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
        return getattr(tf.math, name)(x, axis, exclusive, reverse)

    return apply


def _from_front(tf: Any, indices: Any, sizes: Any) -> Any:
    """Places counted from the front: TensorFlow's own gathers know no negative ones."""
    return tf.where(indices < 0, indices + tf.cast(sizes, indices.dtype), indices)


def _sum_to(tf: Any, x: Any, shape: tuple[int, ...]) -> Any:
    axes = summed_axes(x.shape, shape)
    return tf.reshape(tf.reduce_sum(x, axis=axes) if axes else x, shape)


def _variance(tf: Any, x: Any, axes: tuple[int, ...], ddof: int = 0) -> Any:
    n = math.prod(x.shape[axis] for axis in axes)
    found = tf.math.reduce_variance(x, axis=axes)
    return found * (n / (n - ddof)) if ddof else found


def _padded(tf: Any, x: Any, fill: Any = 0, *, widths: Any) -> Any:
    return tf.pad(x, widths, constant_values=tf.cast(fill, x.dtype))


def _embedded(tf: Any, x: Any, begin: Any, stride: Any, shape: Any) -> Any:
    ends = [b + n * s for b, n, s in zip(begin, x.shape, stride)]
    open_ended = sum(2**k for k, end in enumerate(ends) if end < 0)
    return tf.raw_ops.StridedSliceGrad(
        shape=list(shape), begin=list(begin), end=ends, strides=list(stride), dy=x, end_mask=open_ended
    )


def _mirrored(tf: Any, x: Any) -> Any:
    """Only the lower half of a symmetric matrix is read, so that the gradient belongs to it."""
    lower = tf.linalg.band_part(x, -1, 0)
    return lower + tf.linalg.adjoint(lower - tf.linalg.band_part(x, 0, 0))


def _alike(tf: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """One batch of systems for one batch of right sides."""
    lead = tf.broadcast_static_shape(a.shape[:-2], b.shape[:-2])
    return tuple(tf.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b))


def _triangular(
    tf: Any, a: Any, b: Any, lower: bool = True, adjoint: bool = False, unit_diagonal: bool = False
) -> Any:
    a, b = _alike(tf, a, b)
    a = tf.linalg.set_diag(a, tf.ones_like(tf.linalg.diag_part(a))) if unit_diagonal else a
    return tf.linalg.triangular_solve(a, b, lower, adjoint)


def _bessel(kind: str, scaled: bool = False) -> Callable[..., Any]:
    where = "math" if kind == "i" else "math.special"
    return of_order({k: f"{where}.bessel_{kind}{k}{'e' * scaled}" for k in (0, 1)})


_WITH_PARAMS: dict[str, Callable[..., Any]] = {
    "power": lambda tf, x, y, less=0: tf.pow(x, tf.cast(y, x.dtype) - less),
    "times": times,
    "ndtr": lambda tf, x: 0.5 * tf.math.erfc(x * -(0.5**0.5)),
    "cholesky": lambda tf, x: tf.linalg.cholesky(_mirrored(tf, x)),
    "solve": lambda tf, a, b: tf.linalg.solve(*_alike(tf, a, b)),
    "triangular_solve": _triangular,
    **{f"bessel_{kind}": _bessel(kind) for kind in "ijky"},
    "bessel_k_scaled": _bessel("k", scaled=True),
    "sum": _reduced("reduce_sum"),
    "mean": _reduced("reduce_mean"),
    "prod": _reduced("reduce_prod"),
    "logsumexp": _reduced("reduce_logsumexp"),
    "var": _variance,
    "sum_to": _sum_to,
    "softmax": _along("softmax"),
    "log_softmax": _along("log_softmax"),
    "cumsum": _running("cumsum"),
    "cumprod": _running("cumprod"),
    "cumlogsumexp": _running("cumulative_logsumexp"),
    "reshape": lambda tf, x, shape: tf.reshape(x, shape),
    "broadcast": lambda tf, x, shape: tf.broadcast_to(x, shape),
    "transpose": lambda tf, x, order: tf.transpose(x, order),
    "cast": lambda tf, x, dtype: tf.cast(x, dtype),
    "integer_power": lambda tf, x, exponent: tf.pow(x, tf.cast(exponent, x.dtype)),
    "concat": lambda tf, *xs, axis: tf.concat(xs, axis),
    "stack": lambda tf, *xs, axis: tf.stack(xs, axis),
    "tile": lambda tf, x, repeats: tf.tile(x, repeats),
    "repeat": lambda tf, x, repeats, axis: tf.repeat(x, repeats, axis),
    "roll": lambda tf, x, shifts, axes: tf.roll(x, shifts, axes),
    "reverse": lambda tf, x, axes: tf.reverse(x, axes),
    "pad": _padded,
    "band": lambda tf, x, lower, upper: tf.linalg.band_part(x, lower, upper),
    "diag": lambda tf, x, rows, columns, offset=0: tf.linalg.diag(
        x, k=offset, num_rows=rows, num_cols=columns
    ),
    "diag_part": lambda tf, x, offset=0: tf.linalg.diag_part(x, k=offset),
    "strided_slice": lambda tf, x, begin, end, stride=None: x[slices(begin, end, stride)],
    "embed": _embedded,
    "take_along": lambda tf, x, indices, axis: tf.experimental.numpy.take_along_axis(x, indices, axis),
    "take": lambda tf, x, indices, axis: tf.gather(x, _from_front(tf, indices, x.shape[axis]), axis=axis),
    "gather_nd": lambda tf, x, indices: tf.gather_nd(
        x, _from_front(tf, indices, x.shape[: indices.shape[-1]])
    ),
    "scatter_nd": lambda tf, x, indices, shape: tf.scatter_nd(
        _from_front(tf, indices, shape[: indices.shape[-1]]), x, tf.constant(shape, indices.dtype)
    ),
    "scatter_add": lambda tf, x, indices, size: tf.math.unsorted_segment_sum(
        x, _from_front(tf, indices, size), size
    ),
    "scatter_update": lambda tf, x, indices, updates: tf.tensor_scatter_nd_update(
        x, _from_front(tf, indices, x.shape[: indices.shape[-1]]), updates
    ),
    "einsum": lambda tf, *xs, equation: tf.einsum(equation, *xs),
    "log_abs_det": lambda tf, x: tf.linalg.slogdet(x)[1],
}

_KERNELS = {**named(_FUNCTIONS), **_WITH_PARAMS}


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
    domain = Emitted("TensorFlow", tf, _KERNELS, partial(_constant, tf))
    return emitted(domain, node, [values[id] for id in node.inputs])


def _constant(tf: Any, array: Array, like: Any) -> Any:
    return tf.constant(array) if like is None else tf.cast(tf.constant(array), like.dtype)
