"""Runs a program in JAX: how a fix is tried out in the user's framework."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradproof.ir.program import Node, Program, descendants
from gradproof.ir.types import Array

# Ops that JAX has under the same meaning: name of the op -> path of the function below `jax`.
_FUNCTIONS = {
    **{name: f"numpy.{name}" for name in (
        "exp", "exp2", "expm1", "log", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "square",
        "reciprocal", "hypot", "logaddexp", "matmul", "conj", "real", "imag",
    )},
    **{name: f"scipy.special.{name}" for name in (
        "erf", "erfc", "erfinv", "digamma", "ndtri", "xlogy", "xlog1py", "zeta", "ndtr", "log_ndtr", "erfcx", "spence",
    )},
    **{name: f"nn.{name}" for name in ("softplus", "log_sigmoid", "sigmoid")},
    "asin": "numpy.arcsin", "acos": "numpy.arccos", "atan": "numpy.arctan", "atan2": "numpy.arctan2",
    "asinh": "numpy.arcsinh", "acosh": "numpy.arccosh", "atanh": "numpy.arctanh", "add": "numpy.add",
    "sub": "numpy.subtract", "mul": "numpy.multiply", "div": "numpy.divide", "neg": "numpy.negative",
    "power": "numpy.power", "select": "numpy.where", "rsqrt": "lax.rsqrt", "stop_gradient": "lax.stop_gradient",
    "complex": "lax.complex", "lgamma": "scipy.special.gammaln", "igamma": "scipy.special.gammainc",
    "igammac": "scipy.special.gammaincc", "det": "numpy.linalg.det", "inverse": "numpy.linalg.inv",
    "solve": "numpy.linalg.solve",
}  # fmt: skip


def _reduced(name: str) -> Callable[..., Any]:
    return lambda jax, x, axes: getattr(jax.numpy, name)(x, axis=axes) if axes else x


def _along(name: str) -> Callable[..., Any]:
    return lambda jax, x, axes: getattr(jax.nn, name)(x, axis=axes)


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
    "strided_slice": lambda jax, x, begin, end, stride=None: x[_slices(begin, end, stride)],
    "take_along": lambda jax, x, indices, axis: jax.numpy.take_along_axis(x, indices, axis),
    "take": lambda jax, x, indices, axis: jax.numpy.take(x, indices, axis=axis),
    "cumsum": lambda jax, x, axis, exclusive=False, reverse=False: (
        jax.lax.cumsum(x, axis, reverse) if not exclusive else _refused()
    ),
    "einsum": lambda jax, *xs, equation: jax.numpy.einsum(equation, *xs),
    "embed": lambda jax, x, begin, stride, shape: (
        jax.numpy.zeros(shape, x.dtype)
        .at[tuple(slice(b, b + n * s if s > 0 else None, s) for b, n, s in zip(begin, x.shape, stride))]
        .set(x)
    ),
}


def _refused() -> Any:
    raise NotImplementedError


def _slices(begin: Any, end: Any, stride: Any) -> tuple[slice, ...]:
    """With a negative stride an end of -1 includes the first entry; Python would count it from the back."""
    strides = stride or (1,) * len(begin)
    return tuple(slice(b, None if e < 0 else e, s) for b, e, s in zip(begin, end, strides))


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
    args = [values[id] for id in node.inputs]
    if node.op in _WITH_PARAMS:
        return _WITH_PARAMS[node.op](jax, *args, **node.params)
    if node.op not in _FUNCTIONS or node.params:
        raise NotImplementedError(node.op)
    function = jax
    for part in _FUNCTIONS[node.op].split("."):
        function = getattr(function, part)
    return function(*args)
