"""Exponentials, logarithms, roots, powers, trigonometric and hyperbolic functions, and their backward ops."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.tensorflow.lower._table import lower, lower_to

for _op, _name in {
    "exp": "Exp",
    "expm1": "Expm1",
    "log": "Log",
    "log1p": "Log1p",
    "sqrt": "Sqrt",
    "rsqrt": "Rsqrt",
    "sin": "Sin",
    "cos": "Cos",
    "tan": "Tan",
    "asin": "Asin",
    "acos": "Acos",
    "atan": "Atan",
    "atan2": "Atan2",
    "sinh": "Sinh",
    "cosh": "Cosh",
    "tanh": "Tanh",
    "asinh": "Asinh",
    "acosh": "Acosh",
    "atanh": "Atanh",
    "sigmoid": "Sigmoid",
    "softplus": "Softplus",
    "power": "Pow",
    "xlogy": "Xlogy",
    "xlog1py": "Xlog1py",
    "xdivy": "Xdivy",
}.items():
    lower_to(_op, _name)


# Of complex numbers these two kernels conjugate the slope themselves; before TanhGrad and SigmoidGrad the rules do.
@lower("SqrtGrad")
def _sqrt_grad(m: Any, event: Any, y: Any, gy: Any) -> Any:
    # Division by y last: the kernel returns 0 for a zero gradient, and so does a product with exact zero.
    return m.mul(gy, 1 / (2 * m.conj(y)))


@lower("RsqrtGrad")
def _rsqrt_grad(m: Any, event: Any, y: Any, gy: Any) -> Any:
    y = m.conj(y)
    return m.mul(gy, -(y * y * y) / 2)


@lower("TanhGrad")
def _tanh_grad(m: Any, event: Any, y: Any, gy: Any) -> Any:
    return m.mul(gy, 1 - y * y)


@lower("SigmoidGrad")
def _sigmoid_grad(m: Any, event: Any, y: Any, gy: Any) -> Any:
    return m.mul(gy, y * (1 - y))


@lower("SoftplusGrad")
def _softplus_grad(m: Any, event: Any, gy: Any, x: Any) -> Any:
    return m.mul(gy, m.sigmoid(x))


@lower("Softsign")
def _softsign(m: Any, event: Any, x: Any) -> Any:
    return x / (1 + absolute(m, x))


@lower("SoftsignGrad")
def _softsign_grad(m: Any, event: Any, gy: Any, x: Any) -> Any:
    return m.mul(gy, 1 / m.square(1 + absolute(m, x)))


def absolute(m: Any, x: Any) -> Any:
    return m.select(m.greater_equal(x, 0), x, -x)
