"""Comparisons, selections, and the functions with kinks and jumps that are made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import float_attr, ints, lower, lower_to
from gradproof.frontends.tensorflow.lower.elementary import absolute
from gradproof.ir import types
from gradproof.ops.complex import direction, equal_parts

for _op, _name in {
    "less": "Less",
    "less_equal": "LessEqual",
    "greater": "Greater",
    "greater_equal": "GreaterEqual",
    "is_nan": "IsNan",
    "is_finite": "IsFinite",
    "logical_and": "LogicalAnd",
    "logical_or": "LogicalOr",
    "logical_not": "LogicalNot",
}.items():
    lower_to(_op, _name)


def equal(m: Any, a: Any, b: Any) -> Any:
    """Whether numbers are the same, real or complex ones."""
    return equal_parts(m, a, b) if np.iscomplexobj(a.value) else m.equal(a, b)


@lower("Equal")
def _equal(m: Any, event: Any, a: Any, b: Any) -> Any:
    return equal(m, a, b)


@lower("NotEqual")
def _not_equal(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.logical_not(equal(m, a, b)) if np.iscomplexobj(a.value) else m.not_equal(a, b)


@lower("Select", "SelectV2")
def _select(m: Any, event: Any, condition: Any, a: Any, b: Any) -> Any:
    if event.op == "Select" and condition.ndim == 1 and a.ndim > 1:
        condition = m.reshape(condition, shape=(*condition.shape, *(1,) * (a.ndim - 1)))
    return m.select(condition, a, b)


@lower("Maximum")
def _maximum(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.select(m.greater_equal(a, b), a, b)


@lower("Minimum")
def _minimum(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.select(m.less_equal(a, b), a, b)


@lower("Abs")
def _abs(m: Any, event: Any, x: Any) -> Any:
    return absolute(m, x)


@lower("ClipByValue")
def _clip(m: Any, event: Any, x: Any, low: Any, high: Any) -> Any:
    below = m.select(m.less(x, high), x, high)
    return m.select(m.greater(below, low), below, low)


@lower("Relu")
def _relu(m: Any, event: Any, x: Any) -> Any:
    return m.select(m.greater(x, 0), x, m.zeros(()))


@lower("ReluGrad")
def _relu_grad(m: Any, event: Any, gy: Any, y: Any) -> Any:
    return _masked(m, gy, m.greater(y, 0))


def _masked(m: Any, gy: Any, mask: Any) -> Any:
    """The kernels multiply by 0 or 1: of an infinite gradient that a mask of 0 should drop, NaN is left."""
    return m.mul(gy, m.cast(mask, dtype=str(gy.value.dtype)))


@lower("Relu6")
def _relu6(m: Any, event: Any, x: Any) -> Any:
    low = m.select(m.greater(x, 0), x, m.zeros(()))
    return m.select(m.less(low, 6), low, m.literal(6.0))


@lower("Relu6Grad")
def _relu6_grad(m: Any, event: Any, gy: Any, y: Any) -> Any:
    return _masked(m, gy, m.logical_and(m.greater(y, 0), m.less(y, 6)))


@lower("LeakyRelu")
def _leaky_relu(m: Any, event: Any, x: Any) -> Any:
    return m.select(m.greater(x, 0), x, x * m.literal(float_attr(event, "alpha", x)))


@lower("LeakyReluGrad")
def _leaky_relu_grad(m: Any, event: Any, gy: Any, x: Any) -> Any:
    return m.select(m.greater(x, 0), gy, gy * m.literal(float_attr(event, "alpha", x)))


@lower("Elu")
def _elu(m: Any, event: Any, x: Any) -> Any:
    return m.select(m.less(x, 0), m.expm1(x), x)


@lower("EluGrad")
def _elu_grad(m: Any, event: Any, gy: Any, y: Any) -> Any:
    return m.select(m.less(y, 0), m.mul(gy, y + 1), gy)


# The constants of the Selu kernel, as it holds them.
_SELU_SCALE, _SELU_SCALE_ALPHA = 1.0507009873554805, 1.7580993408473766


@lower("Selu")
def _selu(m: Any, event: Any, x: Any) -> Any:
    scale, scale_alpha = (m.literal(np.asarray(c, x.value.dtype)) for c in (_SELU_SCALE, _SELU_SCALE_ALPHA))
    return m.select(m.less(x, 0), m.expm1(x) * scale_alpha, x * scale)


@lower("SeluGrad")
def _selu_grad(m: Any, event: Any, gy: Any, y: Any) -> Any:
    scale, scale_alpha = (m.literal(np.asarray(c, y.value.dtype)) for c in (_SELU_SCALE, _SELU_SCALE_ALPHA))
    return m.select(m.less(y, 0), m.mul(gy, y + scale_alpha), m.mul(gy, scale))


def _step(op: str, *names: str) -> None:
    """Piecewise constant functions: the integer is a decision, the float result is that integer."""

    @lower(*names)
    def step(m: Any, event: Any, x: Any) -> Any:
        return m.cast(getattr(m, op)(x), dtype=str(x.value.dtype))


_step("floor", "Floor")
_step("ceil", "Ceil")
_step("round", "Round", "Rint")


@lower("Sign")
def _sign(m: Any, event: Any, x: Any) -> Any:
    """-1, 0 or 1; of a complex number the number of length 1 in its direction."""
    if np.iscomplexobj(x.value):
        return direction(m, x, m.literal(np.ones((), x.value.real.dtype)))
    return m.cast(m.sign(x), dtype=str(x.value.dtype))


@lower("FloorDiv")
def _floor_div(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.cast(m.floor(a / b), dtype=str(a.value.dtype))


@lower("TruncateDiv")
def _truncate_div(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.cast(m.truncate(a / b), dtype=str(a.value.dtype))


@lower("FloorMod")
def _floor_mod(m: Any, event: Any, a: Any, b: Any) -> Any:
    return a - b * m.cast(m.floor(a / b), dtype=str(a.value.dtype))


@lower("Mod", "TruncateMod")
def _truncate_mod(m: Any, event: Any, a: Any, b: Any) -> Any:
    return a - b * m.cast(m.truncate(a / b), dtype=str(a.value.dtype))


@lower("ArgMax")
def _argmax(m: Any, event: Any, x: Any, axis: Any) -> Any:
    return m.argmax(x, axis=ints(axis)[0] % x.ndim)


@lower("ArgMin")
def _argmin(m: Any, event: Any, x: Any, axis: Any) -> Any:
    return m.argmin(x, axis=ints(axis)[0] % x.ndim)


@lower("Cast")
def _cast(m: Any, event: Any, x: Any) -> Any:
    """Between floats the number stays what it is; to an integer is a decision; complex ones gain or lose a part."""
    target = str(event.outputs[0].dtype)
    if types.is_complex(target):
        if np.iscomplexobj(x.value):
            return m.identity(x)
        return m.complex(m.cast(x, dtype="float64"), m.zeros(x.shape))
    x = m.real(x) if np.iscomplexobj(x.value) else x
    if x.value.dtype.kind in "biu" or not types.is_discrete(target):
        return m.cast(x, dtype=target)
    return m.not_equal(x, 0) if target == "bool" else m.truncate(x)
