"""Comparisons, selections, and the functions with kinks and jumps that are made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.jax.lower._table import is_discrete, is_fixed, lower
from gradproof.ir import types


def _comparison(name: str, op: str) -> None:
    @lower(name)
    def comparison(m: Any, event: Any, a: Any, b: Any) -> Any:
        return getattr(m, op)(a, b)


for _name, _op in {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}.items():
    _comparison(_name, _op)


def _equality(name: str, op: str, joined: str) -> None:
    """Complex numbers are equal where both of their parts are."""

    @lower(name)
    def equality(m: Any, event: Any, a: Any, b: Any) -> Any:
        if not np.iscomplexobj(a.value):
            return getattr(m, op)(a, b)
        return getattr(m, joined)(*(getattr(m, op)(part(a), part(b)) for part in (m.real, m.imag)))


_equality("eq", "equal", "logical_and")
_equality("ne", "not_equal", "logical_or")


def _logical(name: str, op: str) -> None:
    """On booleans a decision made of decisions; on integers a fact of the run."""

    @lower(name)
    def logical(m: Any, event: Any, *xs: Any) -> Any:
        if event.outputs[0].dtype != "bool":
            return m.constant(event.outputs[0].array)
        return getattr(m, op)(*xs)


for _name in ("and", "or", "xor", "not"):
    _logical(_name, f"logical_{_name}")


@lower("is_finite")
def _is_finite(m: Any, event: Any, x: Any) -> Any:
    return m.is_finite(x)


@lower("select_n")
def _select(m: Any, event: Any, which: Any, *cases: Any) -> Any:
    if len(cases) == 1:
        return m.identity(cases[0])
    handed_on = _index(m, event, cases)
    if handed_on is not None:
        return handed_on
    taken = _only_case(m, which, cases)
    if taken is not None:
        return m.identity(taken)
    if which.ndim == 0 and cases[0].ndim:
        which = m.broadcast(which, shape=tuple(cases[0].shape))
    if which.value.dtype.kind == "b":
        return m.select(which, cases[1], cases[0])
    y = cases[0]
    for k, case in enumerate(cases[1:], 1):
        y = m.select(m.equal(which, k), case, y)
    return y


def _index(m: Any, event: Any, cases: tuple[Any, ...]) -> Any | None:
    """JAX counts a negative index from the end; one that is none of these is handed on, with what has decided it."""
    if not is_discrete(cases[0]) or cases[0].value.dtype.kind == "b":
        return None
    returned = np.asarray(event.outputs[0].array)
    same = (case for case in cases if np.array_equal(np.asarray(case.value), returned))
    return next((m.identity(case) for case in same if not is_fixed(m, case)), None)


def _only_case(m: Any, which: Any, cases: tuple[Any, ...]) -> Any | None:
    """What never runs and is a constant, as the NaN of a mean of nothing, is no part of the function."""
    if len(cases) != 2 or which.value.dtype.kind != "b":
        return None
    for taken, other in ((1, 0), (0, 1)):
        is_lost = bool((np.asarray(which.value) == bool(taken)).all())
        is_nan = is_lost and bool(np.isnan(np.asarray(cases[other].value, complex)).any())
        if is_nan and is_fixed(m, which) and is_fixed(m, cases[other]):
            return cases[taken]
    return None


@lower("max")
def _max(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.select(m.greater_equal(a, b), a, b)


@lower("min")
def _min(m: Any, event: Any, a: Any, b: Any) -> Any:
    return m.select(m.less_equal(a, b), a, b)


@lower("abs")
def _abs(m: Any, event: Any, x: Any) -> Any:
    if x.value.dtype.kind == "c":
        return m.hypot(m.real(x), m.imag(x))
    return m.select(m.greater_equal(x, 0), x, -x)


@lower("clamp")
def _clamp(m: Any, event: Any, low: Any, x: Any, high: Any) -> Any:
    below = m.select(m.less(x, high), x, high)
    return m.select(m.greater(below, low), below, low)


@lower("sign")
def _sign(m: Any, event: Any, x: Any) -> Any:
    if is_discrete(x):
        return m.constant(event.outputs[0].array)
    if x.value.dtype.kind == "c":
        return m.div(x, m.complex(m.hypot(m.real(x), m.imag(x)), m.zeros(x.shape)))
    return m.cast(m.sign(x), dtype=str(x.value.dtype))


@lower("floor")
def _floor(m: Any, event: Any, x: Any) -> Any:
    return m.cast(m.floor(x), dtype=str(x.value.dtype))


@lower("ceil")
def _ceil(m: Any, event: Any, x: Any) -> Any:
    return m.cast(m.ceil(x), dtype=str(x.value.dtype))


@lower("round")
def _round(m: Any, event: Any, x: Any) -> Any:
    dtype = str(x.value.dtype)
    if event.attrs["rounding_method"].name == "TO_NEAREST_EVEN":
        return m.cast(m.round(x), dtype=dtype)
    is_positive = m.greater_equal(x, 0)  # halves go away from zero
    steps = m.cast(m.floor(m.select(is_positive, x, -x) + 0.5), dtype=dtype)
    return m.select(is_positive, steps, -steps)


@lower("argmax")
def _argmax(m: Any, event: Any, x: Any) -> Any:
    (axis,) = event.attrs["axes"]
    return m.cast(m.argmax(x, axis=axis), dtype=event.outputs[0].dtype)


@lower("argmin")
def _argmin(m: Any, event: Any, x: Any) -> Any:
    (axis,) = event.attrs["axes"]
    return m.cast(m.argmin(x, axis=axis), dtype=event.outputs[0].dtype)


@lower("convert_element_type")
def _convert(m: Any, event: Any, x: Any) -> Any:
    """Between floats the number stays what it is; to an integer is a decision; complex ones gain or lose a part."""
    target = str(event.outputs[0].dtype)
    if types.is_complex(target):
        part = str(np.zeros(0, target).real.dtype)
        if np.iscomplexobj(x.value):
            return m.complex(m.cast(m.real(x), dtype=part), m.cast(m.imag(x), dtype=part))
        return m.complex(m.cast(x, dtype="float64"), m.zeros(x.shape))
    x = m.real(x) if np.iscomplexobj(x.value) else x
    if x.value.dtype.kind in "biu" or not types.is_discrete(target):
        return m.cast(x, dtype=target)
    return m.not_equal(x, 0) if target == "bool" else m.cast(m.truncate(x), dtype=target)


@lower(
    "shift_left", "shift_right_logical", "shift_right_arithmetic", "population_count", "clz", "iota", "random_bits",
    "random_seed", "random_split", "random_wrap", "random_unwrap", "random_fold_in", "threefry2x32", "mulhi",
    "bitcast_convert_type", "random_clone", "empty", "create_token", "axis_index", "dce_sink", "debug_print",
    "debug_callback",
)  # fmt: skip
def _fact(m: Any, event: Any, *_: Any) -> Any:
    """Integers, keys and random numbers: facts of the run."""
    return tuple(None if output.dtype == "key" else m.constant(output.array) for output in event.outputs)
