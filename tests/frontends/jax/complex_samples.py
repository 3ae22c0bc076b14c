"""Calls of JAX at random complex numbers, one or more for every primitive that takes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.ad_checkpoint import checkpoint_name

Sample = tuple[Callable[..., Any], tuple[tuple[int, ...], ...]]
NHWC = ("NHWC", "HWIO", "NHWC")


def _positive(a: Any) -> Any:
    return a @ jnp.conj(a).mT + 3 * jnp.eye(a.shape[-1])


def _loop(x: Any) -> Any:
    return lax.scan(lambda carry, row: (carry * row + 1, carry**2), x[0], x)


def _solved(a: Any, b: Any) -> Any:
    return lax.custom_linear_solve(
        lambda v: a @ v, b, lambda f, v: jnp.linalg.solve(a, v), lambda f, v: jnp.linalg.solve(a.T, v)
    )


def _triangular(**options: Any) -> Callable[..., Any]:
    return lambda a, b: lax.linalg.triangular_solve(a + 3 * jnp.eye(3), b, **options)


_ENTRYWISE = {
    "exp": jnp.exp,
    "exp2": jnp.exp2,
    "expm1": jnp.expm1,
    "log": jnp.log,
    "log1p": jnp.log1p,
    "sqrt": jnp.sqrt,
    "rsqrt": lax.rsqrt,
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tan": jnp.tan,
    "tanh": jnp.tanh,
    "sinh": jnp.sinh,
    "cosh": jnp.cosh,
    "asin": lax.asin,
    "acos": lax.acos,
    "atan": lax.atan,
    "asinh": lax.asinh,
    "acosh": lax.acosh,
    "atanh": lax.atanh,
    "logistic": lax.logistic,
    "neg": jnp.negative,
    "square": lax.square,
    "sign": jnp.sign,
    "integer_pow": lambda x: x**-3,
    "integer_pow 5": lambda x: x**5,
    "abs": jnp.abs,
    "real": jnp.real,
    "imag": jnp.imag,
    "conj": jnp.conj,
    "angle": jnp.angle,
    "copy": jnp.copy,
    "stop_gradient": lambda x: x * lax.stop_gradient(x),
    "name": lambda x: checkpoint_name(x, "y"),
    "optimization_barrier": lambda x: lax.optimization_barrier(x),
    "device_put": lambda x: jax.device_put(x),
    "convert": lambda x: lax.convert_element_type(x, jnp.complex64),
    "to real": lambda x: lax.convert_element_type(x, jnp.float64),
}
_PAIRS = {
    "add": jnp.add,
    "sub": jnp.subtract,
    "mul": jnp.multiply,
    "div": jnp.divide,
    "pow": jnp.power,
    "add_any": lambda x, y: x * y + x * x + y * jnp.exp(x),
    "select": lambda x, y: jnp.where(jnp.arange(3) > 0, x, y),
    "select_n": lambda x, y: lax.select_n(jnp.array([0, 2, 1]), x, y, x * y),
    "concatenate": lambda x, y: jnp.concatenate([x, y]),
    "equal": lambda x, y: jnp.where(x == y, x, y),
    "not equal": lambda x, y: jnp.where(x != y, x, y),
    "finite": lambda x, y: jnp.where(jnp.isfinite(x.real), x, y),
    "cond": lambda x, y: lax.cond(x[0].real < 9, lambda: x * y, lambda: x),
}
_SHAPES = {
    "reshape": lambda x: x.reshape(3, 2),
    "squeeze": lambda x: x[None][0],
    "expand_dims": lambda x: lax.expand_dims(x, (1,)),
    "broadcast": lambda x: jnp.broadcast_to(x, (2, 2, 3)),
    "transpose": jnp.transpose,
    "rev": lambda x: x[::-1],
    "tile": lambda x: jnp.tile(x, (2, 2)),
    "slice": lambda x: x[:, 1:3:2],
    "split": lambda x: jnp.split(x, [1], 1),
    "pad": lambda x: lax.pad(x, 0j, ((1, 0, 1), (-1, 2, 0))),
    "pad by": lambda x: lax.pad(x, x[0, 0], ((1, 0, 1), (0, 2, 0))),
    "dynamic_slice": lambda x: lax.dynamic_slice(x, (1, 1), (1, 2)),
    "stack": lambda x: jnp.stack([x, x * x]),
    "unstack": lambda x: jnp.unstack(x),
    "dynamic_update_slice": lambda x: lax.dynamic_update_slice(x, x[:1, :2] ** 2, (1, 1)),
    "gather": lambda x: x[jnp.array([1, 0, 1])],
    "gather filled": lambda x: x.at[jnp.array([1, 7])].get(mode="fill", fill_value=2.0),
    "scatter": lambda x: x.at[0, 1].set(x[1, 1] ** 2),
    "scatter_add": lambda x: x.at[jnp.array([0, 0])].add(x[1] ** 2),
    "scatter_sub": lambda x: x.at[jnp.array([0, 0])].subtract(x[1] ** 2),
    "scatter_mul": lambda x: x.at[0].multiply(x[1], unique_indices=True),
    "sum": lambda x: jnp.sum(x, 1),
    "prod": lambda x: jnp.prod(x, 1),
    "cumsum": lambda x: lax.cumsum(x, 1, reverse=True),
    "cumprod": lambda x: lax.cumprod(x, 1),
    "mean": jnp.mean,
    "scan": _loop,
    "window sum": lambda x: lax.reduce_window(x, 0j, lax.add, (1, 2), (1, 1), "VALID"),
    "sort": lambda x: jnp.sort(x, 1),
    "max": lambda x: lax.max(x, x[::-1]),
    "min": lambda x: lax.min(x, x[::-1]),
    "cummax": lambda x: lax.cummax(x, 1),
    "cummin": lambda x: lax.cummin(x, 1),
    "reduce_max": lambda x: jnp.max(x, 1),
    "reduce_min": lambda x: jnp.min(x, 1),
    "cumlogsumexp": lambda x: lax.cumlogsumexp(x, 1),
    "var": jnp.var,
    "norm": jnp.linalg.norm,
    "fft": lambda x: jnp.fft.fft2(x),
    "ifft": lambda x: jnp.fft.ifft(x),
    "irfft": lambda x: jnp.fft.irfft(x),
    "irfft odd": lambda x: jnp.fft.irfft(x, 5),
    "irfft2": lambda x: jnp.fft.irfft2(x),
    "rfft of a part": lambda x: jnp.fft.rfft(x.real),
    "scatter max": lambda x: x.at[0].max(x[1]),
    "scatter min": lambda x: x.at[0].min(x[1]),
}
_MATRICES = {
    "matmul": lambda a, b: a @ b,
    "einsum": lambda a, b: jnp.einsum("ij,kj->ki", a, b),
    "solve": jnp.linalg.solve,
    "inner": jnp.vdot,
    "triangular": _triangular(left_side=True, lower=True),
    "triangular, right": _triangular(left_side=False, lower=False),
    "triangular, transposed": _triangular(left_side=True, lower=True, transpose_a=True),
    "triangular, adjoint": _triangular(left_side=True, lower=True, transpose_a=True, conjugate_a=True),
    "triangular, right, adjoint": _triangular(
        left_side=False, lower=True, transpose_a=True, conjugate_a=True
    ),
    "triangular, unit": _triangular(left_side=True, lower=False, unit_diagonal=True),
    "inverse": lambda a, b: jnp.linalg.inv(a) @ b,
    "det": lambda a, b: jnp.linalg.det(a) * jnp.linalg.det(b[:2, :2]),
    "slogdet": lambda a, b: jnp.linalg.slogdet(a)[1] * jnp.linalg.slogdet(b)[0],
    "lu": lambda a, b: lax.linalg.lu(a)[0] @ b,
    "cholesky": lambda a, b: jnp.linalg.cholesky(_positive(a)) @ b,
    "qr": lambda a, b: jnp.abs(jnp.linalg.qr(a)[1]),
    "eig": lambda a, b: jnp.linalg.eigvals(a) @ b,
    "eigh": lambda a, b: jnp.linalg.eigvalsh(_positive(a)),
    "svd": lambda a, b: jnp.linalg.svd(a, compute_uv=False),
    "expm": lambda a, b: jax.scipy.linalg.expm(a) @ b,
    "custom solve": lambda a, b: _solved(a, b[0]),
    "tridiagonal": lambda a, b: lax.linalg.tridiagonal_solve(a[0], a[1] + 5, a[2], b),
    "complex": lambda a, b: lax.complex(a.real, b.imag) ** 2,
}
_IMAGES = {
    "convolution": lambda x, k: lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=NHWC),
    "convolution, strided": lambda x, k: lax.conv_general_dilated(
        x, k, (2, 1), "VALID", dimension_numbers=NHWC
    ),
}
SAMPLES: dict[str, Sample] = {
    **{name: (call, ((3,),)) for name, call in _ENTRYWISE.items()},
    **{f"{name} of a pair": (call, ((3,), (3,))) for name, call in _PAIRS.items()},
    **{f"{name} of a row": (call, ((2, 3),)) for name, call in _SHAPES.items()},
    **{f"{name} of matrices": (call, ((3, 3), (3, 3))) for name, call in _MATRICES.items()},
    **{name: (call, ((1, 3, 3, 2), (2, 2, 2, 1))) for name, call in _IMAGES.items()},
}


def inputs_of(name: str) -> tuple[np.ndarray[Any, Any], ...]:
    """Random complex numbers in all quadrants, the same for a name in every run."""
    rng = np.random.default_rng([ord(letter) for letter in name])
    return tuple(rng.normal(size=shape) + 1j * rng.normal(size=shape) for shape in SAMPLES[name][1])
