"""Programs from expressions: the text of a rule or a formula, computed as a framework would compute it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.fixes.pattern import COUNT, MOVED, REDUCTIONS, SPREAD, Number, Pattern, PatternCall, parse
from gradproof.ir.program import Builder, Program

Axes = Callable[[Any], tuple[int, ...]]


def program_of(text: str, values: Mapping[str, Any], dtype: str = "float32", constants: Any = ()) -> Program:
    """The sum of an expression as a function of its names; reductions go over all axes."""
    return _program(text, values, dtype, constants, all_axes)


def entries_of(text: str, values: Mapping[str, Any]) -> Program:
    """An expression in float64, entry by entry; reductions go along the last axis. The output is not summed."""
    return _program(text, values, "float64", (), last_axis, is_summed=False)


def all_axes(x: Any) -> tuple[int, ...]:
    return tuple(range(x.ndim))


def last_axis(x: Any) -> tuple[int, ...]:
    return (x.ndim - 1,)


def _program(
    text: str, values: Mapping[str, Any], dtype: str, constants: Any, axes: Axes, is_summed: bool = True
) -> Program:
    builder = Builder()
    tracer = Tracer(builder, phase="forward")
    bound = {}
    for name, value in values.items():
        array = np.asarray(value, dtype)
        id = builder.constant(array) if name in constants else builder.input(array, name)
        bound[name] = Traced(tracer, id, array)
    y = _term(tracer, parse(text), bound, dtype, axes)
    if y.ndim and is_summed:
        y = tracer.sum(y, axes=tuple(range(y.ndim)))
    if y.id in builder.inputs:
        y = tracer.identity(y)
    return builder.build([y.id])


def _term(m: Tracer, pattern: Pattern, bound: Mapping[str, Traced], dtype: str, axes: Axes) -> Any:
    if isinstance(pattern, Number):
        return m.constant(np.asarray(pattern.value, dtype))
    if not isinstance(pattern, PatternCall):
        return bound[pattern.name]
    args = [_term(m, argument, bound, dtype, axes) for argument in pattern.args]
    if pattern.op == SPREAD:
        return args[0] if args[0].ndim == 0 else m.reshape(args[0], shape=(*args[0].shape, 1))
    if pattern.op == MOVED:
        return m.reverse(args[0], axes=(args[0].ndim - 1,))
    if pattern.op == COUNT:
        return m.constant(np.asarray(math.prod(args[0].shape[axis] for axis in axes(args[0])), dtype))
    params: dict[str, Any] = {}
    if pattern.op in REDUCTIONS:
        params["axes"] = axes(args[0])
    if pattern.exponent is not None:
        params["exponent"] = pattern.exponent
    return getattr(m, pattern.op)(*args, **params)
