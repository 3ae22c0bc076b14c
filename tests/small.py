"""Small programs for unit tests: a function of traced arrays, recorded, derived and judged in one line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gradproof.engine.derive import Derived, derive
from gradproof.engine.linearise import push_forward
from gradproof.engine.rounding import budget_of, error_adjoints, propagate_errors
from gradproof.engine.run import Run
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.ir.types import Array
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.options import Options


def program_of(function: Callable[..., Any], *values: Any, dtype: str | None = None) -> Program:
    """`function(m, *inputs)` as it runs on `values`."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    inputs = []
    for value in values:
        array = np.asarray(value) if dtype is None else np.asarray(value).astype(dtype)
        inputs.append(Traced(m, builder.input(array), array))
    result = function(m, *inputs)
    parts = result if isinstance(result, tuple) else (result,)
    return builder.build([part.id for part in parts])


def total(m: Any, x: Any) -> Any:
    return m.sum(x, axes=tuple(range(x.ndim)))


def observed(derived: Derived) -> tuple[Any, ...]:
    return tuple(np.asarray(derived.program[id].value) for id in derived.program.outputs)


def judge_own(program: Program, options: Options | None = None) -> tuple[Judgement, ...]:
    """The verdict on the program's own recorded gradient."""
    derived = derive(program)
    return judge_recorded(program, derived, observed(derived), options)


def judge_recorded(
    program: Program, derived: Derived, values: tuple[Any, ...], options: Options | None = None
) -> tuple[Judgement, ...]:
    evidence = Evidence(program, derived.wrt, values, derived.program.outputs, derived.program)
    return judge(evidence, options or Options())


def jvp(result: Run, tangents: Sequence[Any]) -> list[Any]:
    """Jacobian-vector product: one tangent per input."""
    program = result.program
    moved = push_forward(result, dict(zip(program.inputs, tangents)))
    return [moved.get(id, result.m.zeros(program[id].shape)) for id in program.outputs]


def push_errors(program: Program, errors: Mapping[int, Array], at: Run | None = None) -> dict[int, Array]:
    """The error of every entry of the outputs that the local errors explain, to first order (one JVP)."""
    moved = propagate_errors(program, errors, at)
    return {id: np.asarray(moved.get(id, np.zeros(program[id].shape))) for id in program.outputs}


def error_budget(program: Program, errors: Mapping[int, Array], weights: Sequence[Any]) -> dict[int, float]:
    """Each node's share in `sum(weights * error of output)`; the shares add up to it (one VJP)."""
    return budget_of(errors, error_adjoints(program, errors, weights))
