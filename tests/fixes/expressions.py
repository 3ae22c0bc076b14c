"""Programs from expressions: the text of a rule or a formula, computed as a framework would compute it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.fixes.pattern import COUNT, REDUCTIONS, SPREAD, Call, Number, Pattern, parse
from gradproof.ir.program import Builder, Program
from gradproof.ops.reduce import kept


def program_of(text: str, values: Mapping[str, Any], dtype: str = "float32", constants: Any = ()) -> Program:
    """The sum of an expression as a function of its names; reductions go over all axes."""
    builder = Builder()
    tracer = Tracer(builder, phase="forward")
    bound = {}
    for name, value in values.items():
        array = np.asarray(value, dtype)
        id = builder.constant(array) if name in constants else builder.input(array, name)
        bound[name] = Traced(tracer, id, array)
    y = _term(tracer, parse(text), bound, dtype)
    if y.ndim:
        y = tracer.sum(y, axes=tuple(range(y.ndim)))
    if y.id in builder.inputs:
        y = tracer.identity(y)
    return builder.build([y.id])


def _term(m: Tracer, pattern: Pattern, bound: Mapping[str, Traced], dtype: str) -> Any:
    if isinstance(pattern, Number):
        return m.constant(np.asarray(pattern.value, dtype))
    if not isinstance(pattern, Call):
        return bound[pattern.name]
    args = [_term(m, argument, bound, dtype) for argument in pattern.args]
    if pattern.op == SPREAD:
        inner = pattern.args[0]
        assert isinstance(inner, Call)
        return args[0] if args[0].ndim == 0 else m.reshape(args[0], shape=kept(args[0].shape, ()))
    if pattern.op == COUNT:
        return m.constant(np.asarray(math.prod(args[0].shape), dtype))
    params: dict[str, Any] = {}
    if pattern.op in REDUCTIONS:
        params["axes"] = tuple(range(args[0].ndim))
    if pattern.exponent is not None:
        params["exponent"] = pattern.exponent
    return getattr(m, pattern.op)(*args, **params)
