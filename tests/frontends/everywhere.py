"""The same functions in NumPy, TensorFlow, PyTorch and JAX, and what is said about their gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import jax.numpy as jnp
import jax.scipy.special
import numpy as np
import scipy.special
import tensorflow as tf
import torch

import gradproof

_SAME = (
    "exp log sin cos tan tanh sinh cosh sqrt abs maximum minimum where log1p expm1 arctan arcsin arccos sign floor "
    "square cumsum"
)


def _tensorflow() -> SimpleNamespace:
    names = {name: getattr(tf, name, None) or getattr(tf.math, name, None) for name in _SAME.split()}
    turned = {
        "log1p": tf.math.log1p,
        "expm1": tf.math.expm1,
        "arctan": tf.atan,
        "arcsin": tf.asin,
        "arccos": tf.acos,
    }
    special = {
        "digamma": tf.math.digamma,
        "lgamma": tf.math.lgamma,
        "erfinv": tf.math.erfinv,
        "i1e": tf.math.bessel_i1e,
    }
    special |= {"xlogy": tf.math.xlogy, "cumprod": tf.math.cumprod, "power": tf.pow, "real": tf.math.real}
    more = {"sum": tf.reduce_sum, "mean": tf.reduce_mean, "prod": tf.reduce_prod, "max": tf.reduce_max}
    return SimpleNamespace(**{**names, **turned, **more, **special})


def _beyond(framework: Any, special: Any, **others: Any) -> SimpleNamespace:
    """A framework's functions, with the special ones that have a module of their own."""
    own = {name: getattr(framework, name) for name in dir(framework) if not name.startswith("_")}
    return SimpleNamespace(**{**own, "i1e": special.i1e, "xlogy": special.xlogy, **others})


FRAMEWORKS: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "NumPy": (
        _beyond(np, scipy.special, lgamma=scipy.special.gammaln),
        np.asarray,
    ),
    "TensorFlow": (_tensorflow(), tf.constant),
    "PyTorch": (_beyond(torch, torch.special), torch.tensor),
    "JAX": (_beyond(jnp, jax.scipy.special, lgamma=jax.scipy.special.gammaln), jnp.asarray),
}
V = (0.5, -1.25, 2.0)
P = (0.5, 0.25, 2.0)
U = (0.5, -0.25, 0.75)
# A function, written with the functions `f` of a framework, and a point.
FUNCTIONS: dict[str, tuple[Callable[[Any, Any], Any], tuple[float, ...]]] = {
    "sum of squares": (lambda f, x: f.sum(x * x), V),
    "exponential": (lambda f, x: f.sum(f.exp(x)), V),
    "logarithm": (lambda f, x: f.sum(f.log(x)), P),
    "sine": (lambda f, x: f.sum(f.sin(x)), V),
    "cosine": (lambda f, x: f.sum(f.cos(x)), V),
    "tangent": (lambda f, x: f.sum(f.tan(x)), U),
    "tanh": (lambda f, x: f.sum(f.tanh(x)), V),
    "sinh": (lambda f, x: f.sum(f.sinh(x)), V),
    "cosh": (lambda f, x: f.sum(f.cosh(x)), V),
    "root": (lambda f, x: f.sum(f.sqrt(x)), P),
    "log1p": (lambda f, x: f.sum(f.log1p(x)), P),
    "expm1": (lambda f, x: f.sum(f.expm1(x)), V),
    "arctan": (lambda f, x: f.sum(f.arctan(x)), V),
    "arcsin": (lambda f, x: f.sum(f.arcsin(x)), U),
    "arccos": (lambda f, x: f.sum(f.arccos(x)), U),
    "absolute value": (lambda f, x: f.sum(f.abs(x)), V),
    "relu": (lambda f, x: f.sum(f.maximum(x, x * 0)), V),
    "smaller of two": (lambda f, x: f.sum(f.minimum(x, x * x)), V),
    "selection": (lambda f, x: f.sum(f.where(x > 0, x * x, x)), V),
    "steps": (lambda f, x: f.sum(f.floor(x) * x), V),
    "signs": (lambda f, x: f.sum(f.sign(x) * x), V),
    "quotient": (lambda f, x: f.sum(1.0 / x), V),
    "cube": (lambda f, x: f.sum(x**3), V),
    "softmax": (lambda f, x: f.sum((f.exp(x) / f.sum(f.exp(x))) ** 2), V),
    "logsumexp": (lambda f, x: f.log(f.sum(f.exp(x))), V),
    "norm": (lambda f, x: f.sqrt(f.sum(x * x)), V),
    "mean": (lambda f, x: f.mean(x) * f.mean(x), V),
    "product": (lambda f, x: f.prod(x), V),
    "largest": (lambda f, x: f.max(x), V),
    "running sum": (lambda f, x: f.sum(f.cumsum(x, 0) ** 2), V),
    "sigmoid": (lambda f, x: f.sum(1.0 / (1.0 + f.exp(-x))), V),
    "softplus": (lambda f, x: f.sum(f.log1p(f.exp(x))), V),
    "gaussian": (lambda f, x: f.sum(f.exp(-x * x)), V),
    "polynomial": (lambda f, x: f.sum(((2.0 * x - 1.0) * x + 3.0) * x), V),
    "sine of an exponential": (lambda f, x: f.sum(f.sin(f.exp(x))), V),
    "rational": (lambda f, x: f.sum(x / (1.0 + x * x)), V),
    "cancellation": (lambda f, x: f.sum(f.sqrt(x * 1e7 + 1.0) - f.sqrt(x * 1e7)), P),
    "overflow": (lambda f, x: f.sum(f.log(f.exp(x * 100.0))), P),
    "kink of |x|": (lambda f, x: f.sum(f.abs(x)), (0.0, 1.0)),
    "kink of a maximum": (lambda f, x: f.max(x), (1.0, 1.0)),
    "kink of relu": (lambda f, x: f.sum(f.maximum(x, x * 0)), (0.0, 1.0)),
    "root at zero": (lambda f, x: f.sum(f.sqrt(x)), (0.0, 1.0)),
    "masked root": (lambda f, x: f.sum(f.where(x > 0.5, f.sqrt(x), x)), (0.0, 1.0)),
    "norm at zero": (lambda f, x: f.sqrt(f.sum(x * x)), (0.0, 0.0)),
    "product with zeros": (lambda f, x: f.prod(x), (2.0, 0.0, 3.0)),
}
# Where the frameworks themselves differ: in conventions for complex numbers, a rule, or how accurate a function is.
APART: dict[str, tuple[Callable[[Any, Any], Any], tuple[complex, ...]]] = {
    "square of a complex size": (lambda f, x: f.sum(f.abs(x) * f.abs(x)), (1 + 2j,)),
    "real part of a cube": (lambda f, x: f.sum(f.real(x * x * x)), (1 + 2j,)),
    "complex size at zero": (lambda f, x: f.sum(f.abs(x)), (0j, 3 + 4j)),
    "x log x at zero": (lambda f, x: f.sum(f.xlogy(x, x)), (0.0, 1.0)),
    "running product with a zero": (lambda f, x: f.sum(f.cumprod(x, 0)), (2.0, 0.0, 3.0)),
    "log-gamma at its minimum": (lambda f, x: f.sum(f.lgamma(x)), (1.4616321, 50.0)),
    "scaled Bessel function": (lambda f, x: f.sum(f.i1e(x)), (300.0, 30.0)),
}


@dataclass(frozen=True)
class Answer:
    """What was said about one gradient."""

    verdict: str
    causes: tuple[str, ...]
    reference: tuple[complex, ...] | None
    observed: tuple[complex, ...] | None


def answer(framework: str, name: str) -> Answer:
    functions, enter = FRAMEWORKS[framework]
    function, point = {**FUNCTIONS, **APART}[name]
    dtype = np.complex64 if any(isinstance(number, complex) for number in point) else np.float32
    report = gradproof.check(lambda x: function(functions, x), enter(np.asarray(point, dtype)))
    (gradient,) = report.gradients
    causes = tuple(sorted({one.kind for one in gradient.diagnostics if one.severity != "note"}))
    return Answer(gradient.verdict.value, causes, *map(_numbers, (gradient.reference, gradient.observed)))


def _numbers(array: Any) -> tuple[complex, ...] | None:
    return None if array is None else tuple(np.asarray(array).reshape(-1).tolist())
