"""Comparisons, selections, and the functions with kinks and jumps that are made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.errors import NotSupported
from gradproof.ops.complex import direction, equal_parts, is_zero, modulus
from gradproof.tape.functions._operands import common_dtype, operand, require_numbers, values
from gradproof.tape.functions._table import LOWERINGS, as_type_of, lowers

_COMPARISONS = {
    np.less: "less",
    np.less_equal: "less_equal",
    np.greater: "greater",
    np.greater_equal: "greater_equal",
    np.equal: "equal",
    np.not_equal: "not_equal",
}
_LOGIC = {
    np.logical_and: "logical_and",
    np.logical_or: "logical_or",
    np.logical_xor: "logical_xor",
    np.logical_not: "logical_not",
    np.bitwise_and: "logical_and",
    np.bitwise_or: "logical_or",
    np.bitwise_xor: "logical_xor",
    np.invert: "logical_not",
}


def _comparison(op: str) -> Any:
    def lower(m: Any, y: Any, a: Any, b: Any) -> Any:
        dtype = common_dtype(a, b)
        if dtype.kind == "c" and op in ("equal", "not_equal"):
            same = equal_parts(m, operand(m, a, dtype), operand(m, b, dtype))
            return same if op == "equal" else m.logical_not(same)
        if dtype.kind not in "fc":
            raise NotSupported("a comparison of integers is a fact of the run")
        return m.record(op, [operand(m, a, dtype), operand(m, b, dtype)], y, {})

    return lower


def _logic(op: str) -> Any:
    def lower(m: Any, y: Any, *xs: Any) -> Any:
        if y.dtype != bool:
            raise NotSupported("bits of integers")
        return m.record(op, [condition(m, x) for x in xs], y, {})

    return lower


for _ufunc, _op in _COMPARISONS.items():
    LOWERINGS[_ufunc] = _comparison(_op)
for _logical, _op in _LOGIC.items():
    LOWERINGS[_logical] = _logic(_op)


def condition(m: Any, x: Any) -> Traced:
    """A truth value per entry, as Python's and NumPy's conditions take it."""
    if not isinstance(x, Traced):
        return m.constant(np.asarray(x).astype(bool))  # type: ignore[no-any-return]
    if x.value.dtype == bool:
        return x
    if x.value.dtype.kind in "iu":
        return m.constant(x.value.astype(bool))  # type: ignore[no-any-return]
    if x.value.dtype.kind == "c":
        return m.logical_not(is_zero(m, x))  # type: ignore[no-any-return]
    return m.not_equal(x, 0)  # type: ignore[no-any-return]


@lowers(np.isnan)
def _isnan(m: Any, y: Any, x: Any) -> Any:
    return m.record("is_nan", [x], y, {})


@lowers(np.isfinite)
def _isfinite(m: Any, y: Any, x: Any) -> Any:
    return m.record("is_finite", [x], y, {})


@lowers(np.where)
def _where(m: Any, y: Any, choice: Any, x: Any, z: Any) -> Any:
    require_numbers(y)
    return m.select(condition(m, choice), operand(m, x, y.dtype), operand(m, z, y.dtype))


def _extreme(largest: bool, prefers_numbers: bool) -> Any:
    """The larger or smaller of two. A NaN wins, or with `prefers_numbers` loses.

    At a tie the larger is the first and the smaller the second, so that both together are still both operands.
    """

    def lower(m: Any, y: Any, a: Any, b: Any) -> Any:
        require_numbers(y)
        a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
        first = a.value >= b.value if largest else a.value < b.value
        first = first | np.isnan(b.value if prefers_numbers else a.value)
        decision = m.record("greater_equal" if largest else "less", [a, b], first, {})
        return m.select(decision, a, b)

    return lower


LOWERINGS |= {
    np.maximum: _extreme(True, False),
    np.minimum: _extreme(False, False),
    np.fmax: _extreme(True, True),
    np.fmin: _extreme(False, True),
}


@lowers(np.clip)
def _clip(
    m: Any,
    y: Any,
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    **options: Any,
) -> Any:
    require_numbers(y)
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    result = operand(m, a, y.dtype)
    if low is not None:
        result = _extreme(True, False)(m, y, result, low)
    if high is not None:
        result = _extreme(False, False)(m, y, result, high)
    return result if low is not None or high is not None else m.identity(result)


@lowers(np.absolute, np.fabs)
def absolute(m: Any, y: Any, x: Any) -> Any:
    """|x|; at 0 the slope taken is 0, the mean of both sides."""
    if np.asarray(values(x)).dtype.kind == "c":
        return modulus(m, x)
    require_numbers(y)
    x = operand(m, x, y.dtype)
    zero = m.constant(np.zeros((), y.dtype))
    return m.select(m.greater(x, 0), x, m.select(m.equal(x, 0), zero, m.neg(x)))


@lowers(np.sign)
def _sign(m: Any, y: Any, x: Any) -> Any:
    """-1, 0 or 1; of a complex number the number of length 1 in its direction."""
    require_numbers(y)
    x = operand(m, x, y.dtype)
    if y.dtype.kind != "c":
        return m.cast(m.sign(x), dtype=y.dtype.name)
    return direction(m, x, m.constant(np.ones((), y.real.dtype)))


@lowers(np.signbit)
def _signbit(m: Any, y: Any, x: Any) -> Any:
    return m.record("less", [x, m.constant(np.zeros((), x.value.dtype))], y, {})


@lowers(np.copysign)
def _copysign(m: Any, y: Any, a: Any, b: Any) -> Any:
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    zero = m.constant(np.zeros((), y.dtype))
    # The recorded decision is the sign bit, which also tells -0.0 from 0.0.
    flips = m.record("less", [m.mul(a, b), zero], np.signbit(a.value) != np.signbit(b.value), {})
    return m.select(flips, m.neg(a), a)


@lowers(np.heaviside)
def _heaviside(m: Any, y: Any, x: Any, at_zero: Any) -> Any:
    x = operand(m, x, y.dtype)
    one, zero = (m.constant(np.asarray(number, y.dtype)) for number in (1, 0))
    return m.select(m.greater(x, 0), one, m.select(m.less(x, 0), zero, operand(m, at_zero, y.dtype)))


_STEPS = {np.floor: "floor", np.ceil: "ceil", np.trunc: "truncate", np.rint: "round", np.fix: "truncate"}


def _step(op: str) -> Any:
    def lower(m: Any, y: Any, x: Any) -> Any:
        require_numbers(y)
        return m.cast(getattr(m, op)(operand(m, x, y.dtype)), dtype=y.dtype.name)

    return lower


for _staircase, _op in _STEPS.items():
    LOWERINGS[_staircase] = _step(_op)


@lowers(np.round, np.around)
def _round(m: Any, y: Any, a: Any, decimals: Any = 0) -> Any:
    require_numbers(y)
    decimals, x = int(values(decimals)), operand(m, a, y.dtype)
    scale = m.constant(np.asarray(10.0 ** abs(decimals), y.dtype))
    scaled = x if not decimals else m.mul(x, scale) if decimals > 0 else m.div(x, scale)
    steps = m.cast(m.round(scaled), dtype=y.dtype.name)
    return steps if not decimals else m.div(steps, scale) if decimals > 0 else m.mul(steps, scale)


def _whole(m: Any, op: str, a: Traced, b: Traced, taken: Any) -> Any:
    """How often `b` goes into `a`, with the decision as NumPy took it."""
    if not np.all(np.isfinite(taken)) or np.any(np.abs(taken) > 2.0**61):
        raise NotSupported("a quotient that is no integer below 2**61")
    quotient = m.div(a, b)
    return m.cast(m.record(op, [quotient], taken.astype(np.int64), {}), dtype=a.value.dtype.name)


@lowers(np.floor_divide)
def _floor_divide(m: Any, y: Any, a: Any, b: Any) -> Any:
    require_numbers(y)
    return _whole(m, "floor", operand(m, a, y.dtype), operand(m, b, y.dtype), y)


@lowers(np.remainder)
def _remainder(m: Any, y: Any, a: Any, b: Any) -> Any:
    require_numbers(y)
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    return m.sub(a, m.mul(b, _whole(m, "floor", a, b, np.floor_divide(a.value, b.value))))


@lowers(np.fmod)
def _fmod(m: Any, y: Any, a: Any, b: Any) -> Any:
    require_numbers(y)
    a, b = operand(m, a, y.dtype), operand(m, b, y.dtype)
    return m.sub(a, m.mul(b, _whole(m, "truncate", a, b, np.rint((a.value - y) / b.value))))


@lowers(np.divmod)
def _divmod(m: Any, y: Any, a: Any, b: Any) -> Any:
    return _floor_divide(m, y[0], a, b), _remainder(m, y[1], a, b)


@lowers(np.modf)
def _modf(m: Any, y: Any, x: Any) -> Any:
    whole = _step("truncate")(m, y[1], x)
    return m.sub(operand(m, x, y[0].dtype), whole), whole


@lowers(np.nan_to_num)
def _nan_to_num(m: Any, y: Any, x: Any, **options: Any) -> Any:
    """Numbers pass, everything else is replaced by the constant NumPy put there."""
    require_numbers(y)
    x = operand(m, x, y.dtype)
    return m.select(m.is_finite(x), x, m.constant(y))


@lowers(as_type_of)
def _astype(m: Any, y: Any, x: Any) -> Any:
    """To integers numbers are cut towards zero; to booleans it is asked whether they are zero."""
    if y.dtype == bool:
        return condition(m, x)
    if y.dtype.kind in "iu":
        if x.value.dtype.kind != "f":
            raise NotSupported("integers from integers")
        return m.truncate(x)
    return m.identity(x) if x.value.dtype == y.dtype else x
