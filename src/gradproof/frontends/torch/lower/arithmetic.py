"""Entrywise arithmetic: sums, products, quotients, powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.frontends.torch.lower._table import is_complex, lower, lower_to, number, pair
from gradproof.ir import types

lower_to("neg", "neg", "_neg_view")
lower_to("reciprocal", "reciprocal")
lower_to("square", "square")
lower_to("stop_gradient", "detach", "detach_copy")
lower_to("hypot", "hypot")


@lower("clone", "alias", "lift_fresh", "lift", "contiguous", "lift_fresh_copy", "alias_copy", "positive", "resolve_neg",
       "_conj_physical_if_not_view", "prims.view_of")  # fmt: skip
def _same(m: Any, e: Any, x: Any, *_: Any, **__: Any) -> Any:
    return m.identity(x)


def _times(m: Any, x: Any, factor: Any) -> Any:
    return x if not isinstance(factor, Traced) and factor == 1 else m.mul(x, number(m, factor, x))


@lower("add")
def _add(m: Any, e: Any, a: Any, b: Any, alpha: Any = 1) -> Any:
    a, b = pair(m, a, b)
    return m.add(a, _times(m, b, alpha))


@lower("sub")
def _sub(m: Any, e: Any, a: Any, b: Any, alpha: Any = 1) -> Any:
    a, b = pair(m, a, b)
    return m.sub(a, _times(m, b, alpha))


@lower("rsub")
def _rsub(m: Any, e: Any, a: Any, b: Any, alpha: Any = 1) -> Any:
    a, b = pair(m, a, b)
    return m.sub(b, _times(m, a, alpha))


@lower("mul")
def _mul(m: Any, e: Any, a: Any, b: Any) -> Any:
    return m.mul(*pair(m, a, b))


@lower("div", "true_divide")
def _div(m: Any, e: Any, a: Any, b: Any, rounding_mode: Any = None) -> Any:
    a, b = pair(m, a, b)
    if rounding_mode is None:
        return m.div(a, b)
    whole = m.floor(m.div(a, b)) if rounding_mode == "floor" else m.truncate(m.div(a, b))
    return m.cast(whole, dtype=str(e.outputs[0].dtype))


@lower("floor_divide")
def _floor_divide(m: Any, e: Any, a: Any, b: Any) -> Any:
    return _div(m, e, a, b, rounding_mode="floor")


@lower("remainder")
def _remainder(m: Any, e: Any, a: Any, b: Any) -> Any:
    a, b = pair(m, a, b)
    return a - b * m.cast(m.floor(m.div(a, b)), dtype=str(e.outputs[0].dtype))


@lower("fmod")
def _fmod(m: Any, e: Any, a: Any, b: Any) -> Any:
    a, b = pair(m, a, b)
    return a - b * m.cast(m.truncate(m.div(a, b)), dtype=str(e.outputs[0].dtype))


@lower("addcmul")
def _addcmul(m: Any, e: Any, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return m.add(x, _times(m, m.mul(a, b), value))


@lower("addcdiv")
def _addcdiv(m: Any, e: Any, x: Any, a: Any, b: Any, value: Any = 1) -> Any:
    return m.add(x, _times(m, m.div(a, b), value))


@lower("lerp")
def _lerp(m: Any, e: Any, a: Any, b: Any, weight: Any) -> Any:
    return m.add(a, m.mul(number(m, weight, a), m.sub(b, a)))


@lower("pow")
def _pow(m: Any, e: Any, a: Any, b: Any) -> Any:
    """A whole exponent that is a number of the program is repeated multiplication, defined for every base."""
    if not isinstance(b, Traced) and not isinstance(b, complex):
        return _power(m, a, float(b))
    a, b = pair(m, a, b)
    return m.power(a, b)


def _power(m: Any, x: Any, exponent: float) -> Any:
    if exponent == 2.0:
        return m.square(x)
    if exponent == 0.5:
        return m.sqrt(x)
    if exponent == int(exponent) and abs(exponent) <= 64:
        return m.integer_power(x, exponent=int(exponent))
    return m.power(x, number(m, exponent, x))


@lower("float_power")
def _float_power(m: Any, e: Any, a: Any, b: Any) -> Any:
    return _pow(m, e, a, b)


@lower("conj", "_conj", "conj_physical", "_conj_physical", "resolve_conj")
def _conj(m: Any, e: Any, x: Any) -> Any:
    # Resolving a conjugation changes how numbers are stored; the recorded ones are resolved already.
    return m.identity(x) if "resolve" in e.op or not is_complex(x) else m.conj(x)


@lower("_to_copy", "to", "prims.convert_element_type", "_autocast_to_reduced_precision", "_autocast_to_full_precision",
       "type_as")  # fmt: skip
def _to_copy(m: Any, e: Any, x: Any, *_: Any, **__: Any) -> Any:
    return converted(m, x, str(e.outputs[0].dtype))


def converted(m: Any, x: Any, target: str) -> Any:
    """Between floats a number stays what it is; to an integer is a decision; complex ones gain or lose a part."""
    if types.dtype_name(x.value) == target:
        return m.identity(x)
    if types.is_complex(target):
        # By its parts: to fewer digits they are rounded, which an identity would not be.
        parts = (m.real(x), m.imag(x)) if is_complex(x) else (m.cast(x, dtype="float64"), m.zeros(x.shape))
        return m.complex(*parts)
    x = m.real(x) if is_complex(x) else x
    if x.value.dtype.kind in "biu" or not types.is_discrete(target):
        return m.cast(x, dtype=target)
    return m.not_equal(x, 0) if target == "bool" else m.truncate(x)


@lower("copy", "copy_")
def _copy(m: Any, e: Any, x: Any, source: Any, *_: Any) -> Any:
    spread = m.broadcast(source, shape=x.shape)
    return converted(m, spread, str(e.outputs[0].dtype))


@lower("fill")
def _fill(m: Any, e: Any, x: Any, value: Any) -> Any:
    if not isinstance(value, Traced):
        return m.constant(np.asarray(e.outputs[0].array))
    return m.broadcast(converted(m, value, str(e.outputs[0].dtype)), shape=x.shape)


@lower("dot")
def _dot(m: Any, e: Any, a: Any, b: Any) -> Any:
    return m.sum(m.mul(a, b), axes=(0,))


@lower("vdot")
def _vdot(m: Any, e: Any, a: Any, b: Any) -> Any:
    return m.sum(m.mul(m.conj(a), b), axes=(0,))


@lower(
    "zeros_like", "ones_like", "full_like", "empty_like", "new_zeros", "new_ones", "new_full", "new_empty",
    "new_empty_strided", "zero", "zero_", "rand_like", "randn_like", "randint_like", "bernoulli", "bernoulli_",
    "normal_", "uniform_", "normal", "exponential_", "multinomial", "random_", "log_normal_", "cauchy_",
    "geometric_", "poisson", "_efficientzerotensor", "zeros", "ones", "full", "scalar_tensor",
    "sym_size", "_shape_as_tensor", "empty_strided", "binomial", "empty", "rand", "randn", "randint", "randperm",
)  # fmt: skip
def _given(m: Any, e: Any, *_: Any, **__: Any) -> Any:
    """What is filled with numbers of its own, drawn or fixed: nothing went into them but a shape."""
    return m.constant(np.asarray(e.outputs[0].array))
