"""Entrywise arithmetic and its backward ops."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.tensorflow.lower._table import lower, lower_to

lower_to("add", "Add", "AddV2")
lower_to("sub", "Sub")
lower_to("mul", "Mul")
lower_to("div", "Div", "RealDiv")
lower_to("neg", "Neg")
lower_to("square", "Square")
lower_to("reciprocal", "Reciprocal", "Inv")
lower_to(
    "identity", "Identity", "Snapshot", "PreventGradient", "CheckNumerics", "EnsureShape"
)
lower_to("stop_gradient", "StopGradient")


@lower("AddN", "AccumulateNV2")
def _add_n(m: Any, event: Any, *xs: Any) -> Any:
    total = xs[0]
    for x in xs[1:]:
        total = m.add(total, x)
    return total if len(xs) > 1 else m.identity(total)


@lower("SquaredDifference")
def _squared_difference(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.square(a - b)


@lower("IdentityN", "gradproof.Return")
def _identity_n(m: Any, event: Any, *xs: Any) -> Any:
    return tuple(m.identity(x) for x in xs)


@lower("InvGrad", "ReciprocalGrad")
def _reciprocal_grad(m: Any, event: Any, y: Any, gy: Any) -> Any:
    return -(gy * y * y)


@lower("DivNoNan")
def _div_no_nan(m: Any, event: Any, a: Any, b: Any) -> Any:
    zero = m.equal(b, 0)
    return m.select(zero, m.zeros(()), a / m.select(zero, m.literal(1.0), b))


@lower("MulNoNan")
def _mul_no_nan(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.select(m.equal(b, 0), m.zeros(()), m.mul(a, b))
