"""Runs a program in JAX: how a fix is tried out in the user's framework."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from gradproof.frontends.emitting import Emitted, emitted, named, of_order, slices, summed_axes, times
from gradproof.ir.program import Node, Program, descendants
from gradproof.ir.types import Array

# Ops that JAX has under the same meaning: name of the op -> path of the function below `jax`.
_FUNCTIONS = {
    **{name: f"numpy.{name}" for name in (
        "exp", "exp2", "expm1", "log", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "square",
        "reciprocal", "hypot", "logaddexp", "matmul", "conj", "real", "imag", "log2", "log10",
    )},
    **{name: f"scipy.special.{name}" for name in (
        "erf", "erfc", "erfinv", "digamma", "ndtri", "xlogy", "xlog1py", "zeta", "ndtr", "log_ndtr", "erfcx", "spence",
        "betainc", "exp1", "gamma",
    )},
    **{name: f"nn.{name}" for name in ("softplus", "log_sigmoid", "sigmoid")},
    "asin": "numpy.arcsin", "acos": "numpy.arccos", "atan": "numpy.arctan", "atan2": "numpy.arctan2",
    "asinh": "numpy.arcsinh", "acosh": "numpy.arccosh", "atanh": "numpy.arctanh", "add": "numpy.add",
    "sub": "numpy.subtract", "mul": "numpy.multiply", "div": "numpy.divide", "neg": "numpy.negative",
    "expint": "scipy.special.expi", "pinv": "numpy.linalg.pinv",
    "select": "numpy.where", "rsqrt": "lax.rsqrt", "stop_gradient": "lax.stop_gradient",
    "complex": "lax.complex", "lgamma": "scipy.special.gammaln", "igamma": "scipy.special.gammainc",
    "igammac": "scipy.special.gammaincc", "det": "numpy.linalg.det", "inverse": "numpy.linalg.inv",
    "matrix_exp": "scipy.linalg.expm",
}  # fmt: skip


def _reduced(name: str) -> Callable[..., Any]:
    return lambda jax, x, axes: getattr(jax.numpy, name)(x, axis=axes) if axes else x


def _along(name: str) -> Callable[..., Any]:
    return lambda jax, x, axes: getattr(jax.nn, name)(x, axis=axes)


_NEUTRAL = {"cumsum": 0.0, "cumprod": 1.0, "cumlogsumexp": -np.inf}


def _running(name: str) -> Callable[..., Any]:
    """JAX's running sums include the entry itself; without it, a neutral one goes before and the last falls away."""

    def apply(jax: Any, x: Any, axis: int, exclusive: bool = False, reverse: bool = False) -> Any:
        if exclusive:
            n, parts = x.shape[axis], jax.lax.slice_in_dim
            neutral = jax.numpy.full_like(parts(x, 0, 1, axis=axis), _NEUTRAL[name])
            rest = parts(x, 1, n, axis=axis) if reverse else parts(x, 0, n - 1, axis=axis)
            x = jax.numpy.concatenate([rest, neutral] if reverse else [neutral, rest], axis)
        return getattr(jax.lax, name)(x, axis, reverse)

    return apply


def _placed(jax: Any, indices: Any) -> tuple[Any, ...]:
    return tuple(jax.numpy.moveaxis(indices, -1, 0))


def _alike(jax: Any, a: Any, b: Any) -> tuple[Any, Any]:
    """Batches of one length: a system that is solved for many right sides is repeated."""
    lead = jax.numpy.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return tuple(jax.numpy.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (a, b))


_WITH_PARAMS: dict[str, Callable[..., Any]] = {
    "identity": lambda jax, x: x,
    "sum": _reduced("sum"),
    "mean": _reduced("mean"),
    "prod": _reduced("prod"),
    "logsumexp": lambda jax, x, axes: jax.nn.logsumexp(x, axis=axes),
    "softmax": _along("softmax"),
    "log_softmax": _along("log_softmax"),
    "reshape": lambda jax, x, shape: jax.numpy.reshape(x, shape),
    "broadcast": lambda jax, x, shape: jax.numpy.broadcast_to(x, shape),
    "transpose": lambda jax, x, order: jax.numpy.transpose(x, order),
    "cast": lambda jax, x, dtype: x.astype(dtype),
    "integer_power": lambda jax, x, exponent: jax.lax.integer_pow(x, exponent),
    "concat": lambda jax, *xs, axis: jax.numpy.concatenate(xs, axis),
    "stack": lambda jax, *xs, axis: jax.numpy.stack(xs, axis),
    "tile": lambda jax, x, repeats: jax.numpy.tile(x, repeats),
    "reverse": lambda jax, x, axes: jax.numpy.flip(x, axes),
    "strided_slice": lambda jax, x, begin, end, stride=None: x[slices(begin, end, stride)],
    "take_along": lambda jax, x, indices, axis: jax.numpy.take_along_axis(x, indices, axis),
    "take": lambda jax, x, indices, axis: jax.numpy.take(x, indices, axis=axis),
    "cumsum": _running("cumsum"),
    "cumprod": _running("cumprod"),
    "cumlogsumexp": _running("cumlogsumexp"),
    "var": lambda jax, x, axes, ddof=0: jax.numpy.var(x, axis=axes, ddof=ddof),
    "sum_to": lambda jax, x, shape: jax.numpy.sum(x, axis=summed_axes(x.shape, shape)).reshape(shape),
    "gather_nd": lambda jax, x, indices: x[_placed(jax, indices)],
    "scatter_nd": lambda jax, x, indices, shape: (
        jax.numpy.zeros(shape, x.dtype).at[_placed(jax, indices)].add(x)
    ),
    "scatter_add": lambda jax, x, indices, size: (
        jax.numpy.zeros((size, *x.shape[indices.ndim :]), x.dtype).at[indices].add(x)
    ),
    "scatter_update": lambda jax, x, indices, updates: x.at[_placed(jax, indices)].set(updates),
    "roll": lambda jax, x, shifts, axes: jax.numpy.roll(x, shifts, axes),
    "repeat": lambda jax, x, repeats, axis: jax.numpy.repeat(x, repeats, axis),
    "pad": lambda jax, x, fill=0, *, widths: jax.numpy.pad(x, widths, constant_values=fill),
    "diag_part": lambda jax, x, offset=0: jax.numpy.diagonal(x, offset, -2, -1),
    "log_abs_det": lambda jax, x: jax.numpy.linalg.slogdet(x)[1],
    "triangular_solve": lambda jax, a, b, lower=True, adjoint=False, unit_diagonal=False: (
        jax.lax.linalg.triangular_solve(
            *_alike(jax, a, b),
            left_side=True,
            lower=lower,
            transpose_a=adjoint,
            conjugate_a=adjoint,
            unit_diagonal=unit_diagonal,
        )
    ),
    "cholesky": lambda jax, x: jax.numpy.linalg.cholesky(
        jax.numpy.tril(x) + jax.numpy.tril(x, -1).conj().swapaxes(-1, -2)
    ),
    "solve": lambda jax, a, b: jax.numpy.linalg.solve(*_alike(jax, a, b)),
    "power": lambda jax, x, y, less=0: jax.numpy.power(x, y - less if less else y),
    "times": times,
    "xdivy": lambda jax, x, y: jax.numpy.where(x == 0, 0, x / y),
    "polygamma": lambda jax, n, x, more=0: jax.scipy.special.polygamma(n + more, x),
    "bessel_i": of_order({0: "scipy.special.i0", 1: "scipy.special.i1"}),
    "einsum": lambda jax, *xs, equation: jax.numpy.einsum(equation, *xs),
    "embed": lambda jax, x, begin, stride, shape: (
        jax.numpy.zeros(shape, x.dtype)
        .at[tuple(slice(b, b + n * s if s > 0 else None, s) for b, n, s in zip(begin, x.shape, stride))]
        .set(x)
    ),
}


_KERNELS = {**named(_FUNCTIONS), **_WITH_PARAMS}


def gradient_in(is_compiled: bool, program: Program, wrt: int) -> Array | None:
    """The gradient that JAX computes for a program; None where it has no function for one of the ops."""
    jax = sys.modules.get("jax")
    if jax is None:
        return None
    from gradproof.frontends.jax.observe.hooks import unobserved

    moving = descendants(program, [wrt])

    def target(x: Any) -> Any:
        values: dict[int, Any] = {wrt: x}
        for node in program.nodes:
            if node.id != wrt:
                values[node.id] = value_in(jax, node, values, node.id in moving)
        return values[program.outputs[0]]

    try:
        with unobserved():
            gradient = jax.grad(target)
            run = jax.jit(gradient) if is_compiled else gradient
            # JAX's gradient for a complex number is the conjugate of the one that programs are written for.
            found: Array = np.conj(np.asarray(run(jax.numpy.asarray(program[wrt].value))))
            return found
    except Exception:  # what JAX refuses was not run, and the fix says so
        return None


def value_in(jax: Any, node: Node, values: Mapping[int, Any], depends: bool) -> Any:
    """What does not depend on the source, and every decision, is as it was recorded."""
    if node.value is not None and (not depends or node.is_discrete):
        return jax.numpy.asarray(node.value)
    domain = Emitted("JAX", jax, _KERNELS, partial(_constant, jax))
    return emitted(domain, node, [values[id] for id in node.inputs])


def _constant(jax: Any, array: Array, like: Any) -> Any:
    """Beside an array a number stays one of Python's, as programs are written: JAX folds these as it does no array."""
    if like is not None and array.shape == () and array.dtype.kind == "f":
        return float(array)
    return jax.numpy.asarray(array, None if like is None else like.dtype)
