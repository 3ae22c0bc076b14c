"""Comparisons, selections, and the functions with kinks and jumps that are made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.frontends.torch.lower._table import is_complex, lower, number, pair
from gradproof.ir.shapes import joint_shape


def _compare(op: str, *names: str) -> None:
    @lower(*names)
    def compare(m: Any, e: Any, a: Any, b: Any) -> Any:
        return getattr(m, op)(*pair(m, a, b))


_compare("less", "lt")
_compare("less_equal", "le")
_compare("greater", "gt")
_compare("greater_equal", "ge")
_compare("equal", "eq")
_compare("not_equal", "ne")
_compare("logical_and", "logical_and", "bitwise_and", "__and__")
_compare("logical_or", "logical_or", "bitwise_or", "__or__")
_compare("logical_xor", "logical_xor", "bitwise_xor", "__xor__")


@lower("logical_not", "bitwise_not")
def _not(m: Any, e: Any, x: Any) -> Any:
    return m.logical_not(x) if x.value.dtype.kind == "b" else m.equal(x, 0)


@lower("isnan")
def _isnan(m: Any, e: Any, x: Any) -> Any:
    return m.is_nan(x)


@lower("isfinite")
def _isfinite(m: Any, e: Any, x: Any) -> Any:
    return m.is_finite(x)


@lower("where")
def _where(m: Any, e: Any, condition: Any, a: Any, b: Any) -> Any:
    like = a if isinstance(a, Traced) else b
    if not isinstance(like, Traced):
        return m.constant(np.asarray(e.outputs[0].array))
    a, b = (x if isinstance(x, Traced) else number(m, x, like) for x in (a, b))
    return m.select(condition, a, b)


@lower("masked_fill")
def _masked_fill(m: Any, e: Any, x: Any, mask: Any, value: Any) -> Any:
    return m.select(mask, number(m, value, x), x)


@lower("maximum", "fmax")
def _maximum(m: Any, e: Any, a: Any, b: Any) -> Any:
    return m.select(m.greater_equal(a, b), a, b)


@lower("minimum", "fmin")
def _minimum(m: Any, e: Any, a: Any, b: Any) -> Any:
    return m.select(m.less_equal(a, b), a, b)


@lower("max.other")
def _max_other(m: Any, e: Any, a: Any, b: Any) -> Any:
    return _maximum(m, e, a, b)


@lower("min.other")
def _min_other(m: Any, e: Any, a: Any, b: Any) -> Any:
    return _minimum(m, e, a, b)


@lower("clamp", "clip")
def _clamp(m: Any, e: Any, x: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        low = number(m, min, x)
        x = m.select(m.less(x, low), low, x)
    if max is not None:
        high = number(m, max, x)
        x = m.select(m.greater(x, high), high, x)
    return x


@lower("clamp_min")
def _clamp_min(m: Any, e: Any, x: Any, low: Any) -> Any:
    return _clamp(m, e, x, min=low)


@lower("clamp_max")
def _clamp_max(m: Any, e: Any, x: Any, high: Any) -> Any:
    return _clamp(m, e, x, max=high)


def _step(op: str, *names: str) -> None:
    """Piecewise constant functions: the integer is a decision, the result is that integer as a float."""

    @lower(*names)
    def step(m: Any, e: Any, x: Any, decimals: int = 0) -> Any:
        if is_complex(x):
            raise NotImplementedError("steps of complex numbers")
        if not decimals:
            return m.cast(getattr(m, op)(x), dtype=str(e.outputs[0].dtype))
        unit = number(m, 10.0**decimals, x)
        return m.div(m.cast(getattr(m, op)(m.mul(x, unit)), dtype=str(e.outputs[0].dtype)), unit)


_step("floor", "floor")
_step("ceil", "ceil")
_step("round", "round")
_step("truncate", "trunc", "fix")
_step("sign", "sign")


@lower("frac")
def _frac(m: Any, e: Any, x: Any) -> Any:
    return x - m.cast(m.truncate(x), dtype=str(e.outputs[0].dtype))


@lower("heaviside")
def _heaviside(m: Any, e: Any, x: Any, at_zero: Any) -> Any:
    one, zero = number(m, 1.0, x), number(m, 0.0, x)
    return m.select(m.equal(x, 0), at_zero, m.select(m.greater(x, 0), one, zero))


@lower("copysign")
def _copysign(m: Any, e: Any, x: Any, sign: Any) -> Any:
    x, sign = pair(m, x, sign)
    size = m.select(m.greater_equal(x, 0), x, -x)
    # The sign of a zero is a fact of the run: no number is behind it.
    negative = np.signbit(np.broadcast_to(sign.value, joint_shape(x.shape, sign.shape)))
    at_zero = m.select(m.literal(negative), -size, size)
    return m.select(m.greater(sign, 0), size, m.select(m.less(sign, 0), -size, at_zero))


@lower("nan_to_num")
def _nan_to_num(m: Any, e: Any, x: Any, nan: Any = None, posinf: Any = None, neginf: Any = None) -> Any:
    whole = m.is_finite(x)
    return m.select(whole, x, m.constant(np.asarray(e.outputs[0].array)))


@lower("any", "all", "isinf", "signbit", "equal", "is_nonzero", "isposinf", "isneginf", "isclose", "allclose")
def _fact(m: Any, e: Any, *_: Any, **__: Any) -> Any:
    """A question about all numbers at once: its answer is a fact of the run."""
    return m.constant(np.asarray(e.outputs[0].array))
