"""Entrywise arithmetic and its backward ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.assemble.lists import TensorList
from gradproof.frontends.tensorflow.lower._table import lower, lower_to
from gradproof.frontends.tensorflow.lower.tensor_list import add_lists
from gradproof.ops.complex import is_zero

lower_to("sub", "Sub")
lower_to("mul", "Mul")
lower_to("div", "Div", "RealDiv")
lower_to("neg", "Neg")
lower_to("square", "Square")
lower_to("reciprocal", "Reciprocal", "Inv")
lower_to("stop_gradient", "StopGradient")


@lower("AddN")
def _add_n(m: Any, event: Any, *xs: Any) -> Any:
    total = xs[0]
    for x in xs[1:]:
        total = add_lists(m, total, x) if isinstance(total, TensorList) else m.add(total, x)
    return total if len(xs) > 1 or isinstance(total, TensorList) else m.identity(total)


@lower("Add", "AddV2")
def _add(m: Any, event: Any, a: Any, b: Any) -> Any:
    return add_lists(m, a, b) if isinstance(a, TensorList) else m.add(a, b)


def _same(m: Any, x: Any) -> Any:
    return x if isinstance(x, TensorList) else m.identity(x)


@lower(
    "Identity", "Snapshot", "PreventGradient", "CheckNumerics", "CheckNumericsV2", "EnsureShape", "DebugIdentityV2",
    "DebugGradientIdentity", "PlaceholderWithDefault", "Print",
)  # fmt: skip
def _identity(m: Any, event: Any, x: Any, *_: Any) -> Any:
    return _same(m, x)


@lower("SquaredDifference")
def _squared_difference(m: Any, event: Any, a: Any, b: Any) -> Any:
    """Of complex numbers the square of their distance."""
    apart = a - b
    return m.mul(m.conj(apart), apart) if np.iscomplexobj(a.value) else m.square(apart)


@lower("InvGrad", "ReciprocalGrad")
def _reciprocal_grad(m: Any, event: Any, y: Any, gy: Any) -> Any:
    y = m.conj(y)  # the kernel conjugates the slope
    return -(gy * y * y)


def _is_zero(m: Any, x: Any) -> Any:
    return is_zero(m, x) if np.iscomplexobj(x.value) else m.equal(x, 0)


@lower("DivNoNan")
def _div_no_nan(m: Any, event: Any, a: Any, b: Any) -> Any:
    zero = _is_zero(m, b)
    return m.select(zero, m.zeros(()), a / m.select(zero, m.literal(1.0), b))


@lower("MulNoNan")
def _mul_no_nan(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.select(_is_zero(m, b), m.zeros(()), m.mul(a, b))


@lower("Cross")
def _cross(m: Any, event: Any, a: Any, b: Any) -> Any:
    along = {"axis": a.ndim - 1}
    next_a, next_b = (m.take(x, np.asarray([1, 2, 0]), **along) for x in (a, b))
    last_a, last_b = (m.take(x, np.asarray([2, 0, 1]), **along) for x in (a, b))
    return m.mul(next_a, last_b) - m.mul(last_a, next_b)


@lower("NextAfter")
def _next_after(m: Any, event: Any, a: Any, b: Any) -> Any:
    """The first number and a step to its neighbour, which does not depend on it anywhere near."""
    step = np.asarray(event.outputs[0].array, np.float64) - np.asarray(a.value, np.float64)
    return a + m.literal(step)
