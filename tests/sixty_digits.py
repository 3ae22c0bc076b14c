"""An independent meaning of programs: mpmath numbers of many digits, and derivatives by tiny differences.

It shares with the product only what moves entries about; every function comes from `tests/ops/references`,
and no derivative rule is used at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import mpmath
import numpy as np
from mpmath import mpf

from gradproof.ir.program import Node, Program
from gradproof.ops import TABLE, Arithmetic

from .ops.references import REFERENCES

Array = np.ndarray[Any, Any]

DIGITS = 150
# A central difference over this share of an input is right to its square, 90 digits, and 100 digits of the
# difference are left after cancellation.
STEP = mpf(10) ** -45


class Digits:
    """Object arrays of mpf. What is not defined (the log of 0 in a branch not taken) is not a number."""

    name = "mpmath"

    def enter(self, array: Any) -> Array:
        array = np.asarray(array)
        return array if array.dtype == object else _each(lambda entry: mpf(float(entry)))(array)

    def settle(self, y: Any, dtype: str) -> Array:
        del dtype
        return np.asarray(y, dtype=object)

    def lift(self, function: Callable[..., Array], *xs: Any) -> Array:
        return function(*(np.asarray(x, dtype=object) for x in xs))

    def sum(self, x: Array, axes: tuple[int, ...]) -> Array:
        return np.asarray(np.sum(x, axis=axes) if x.size else np.sum(x, axis=axes, initial=mpf(0)), object)

    def running_sum(self, x: Array, axis: int) -> Array:
        return np.cumsum(x, axis=axis)

    def scatter_add(self, x: Array, indices: Any, size: int) -> Array:
        y = np.full((size, *np.shape(x)[np.ndim(indices) :]), mpf(0), dtype=object)
        np.add.at(y, indices, x)
        return y

    def matmul(self, a: Array, b: Array) -> Array:
        return np.asarray(np.matmul(a, b), dtype=object)

    def pi(self) -> Array:
        return np.asarray(+mpmath.pi, dtype=object)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in REFERENCES:
            raise AttributeError(name)
        return REFERENCES[name]


def _each(function: Callable[..., Any]) -> Callable[..., Array]:
    return lambda *xs: np.asarray(np.frompyfunc(function, len(xs), 1)(*xs), dtype=object)


def can_evaluate(name: str) -> bool:
    """Whether there is an independent value, or at least the op's own composition of ops that have one."""
    own = name in REFERENCES or name in vars(Digits)
    return own or (TABLE[name].forward is not None and TABLE[name].linear is not None)


def evaluate(program: Program, inputs: Mapping[int, Any] | None = None) -> dict[int, Any]:
    """Every node's value with `DIGITS` digits; decisions are taken as recorded."""
    m = Arithmetic(Digits())
    values: dict[int, Any] = {}
    with mpmath.workdps(DIGITS):
        for node in program.nodes:
            values[node.id] = _value(m, node, values, inputs or {})
    return values


def _value(m: Arithmetic, node: Node, values: dict[int, Any], inputs: Mapping[int, Any]) -> Any:
    if node.id in inputs:
        return inputs[node.id]
    if node.is_discrete:
        return node.value
    if node.op in ("input", "constant"):
        return m.literal(node.value)
    if node.op == "item":
        return np.reshape(values[node.inputs[0]][node.params["index"]], node.shape)
    try:
        y = getattr(m, node.op)(*(values[id] for id in node.inputs), **node.params)
    except (ValueError, ZeroDivisionError, OverflowError):
        y = _entry_by_entry(m, node, [values[id] for id in node.inputs])
    return y if isinstance(y, tuple) else np.reshape(np.asarray(y, dtype=object), node.shape)


def _entry_by_entry(m: Arithmetic, node: Node, xs: list[Any]) -> Array:
    """A function that is undefined at some entry, applied to each alone."""

    def one(*entries: Any) -> Any:
        try:
            return np.asarray(
                getattr(m, node.op)(*map(_alone, entries), **node.params), dtype=object
            ).reshape(-1)[0]
        except (ValueError, ZeroDivisionError, OverflowError):
            return mpf("nan")

    assert TABLE[node.op].slopes is not None, node
    return _each(one)(*xs)


def _alone(entry: Any) -> Array:
    return np.asarray(entry, dtype=object)


def directional_derivative(program: Program, directions: Mapping[int, Any]) -> tuple[Any, Any]:
    """d output / d step along `directions` (arrays of mpf), and a bound of what rounding did to it."""
    with mpmath.workdps(DIGITS):
        ahead = evaluate(program, _moved(program, directions, STEP))
        behind = evaluate(program, _moved(program, directions, -STEP))
        output = program.outputs[0]
        slope = (ahead[output][()] - behind[output][()]) / (2 * STEP)
        largest = max((size(entry) for y in ahead.values() for entry in _real_entries(y)), default=mpf(0))
        return slope, (largest + size(slope)) * mpf(10) ** -60


def _moved(program: Program, directions: Mapping[int, Any], step: Any) -> dict[int, Any]:
    m = Arithmetic(Digits())
    return {id: np.asarray(m.literal(program[id].value) + step * d, object) for id, d in directions.items()}


def _real_entries(y: Any) -> list[Any]:
    parts = y if isinstance(y, tuple) else (y,)
    return [e for part in parts if np.asarray(part).dtype == object for e in np.asarray(part).reshape(-1)]


def size(entry: Any) -> Any:
    magnitude = abs(entry)
    return magnitude if mpmath.isfinite(magnitude) else mpf(0)
