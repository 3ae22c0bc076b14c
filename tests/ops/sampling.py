"""Builds one-op programs from the samples that stand beside each op."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.run import run
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.ops import TABLE, Op, Sample


def program_of(op: Op, sample: Sample, dtype: str = "float64") -> Program:
    """inputs -> op -> (weighted) sum of all results, so that there is one scalar to differentiate."""
    builder = Builder()
    tracer = Tracer(builder, phase="forward")
    arguments = [_argument(builder, tracer, value, dtype) for value in sample.inputs]
    result = getattr(tracer, op.name)(*arguments, **sample.params)
    parts = [
        part for part in (result if isinstance(result, tuple) else (result,)) if part.value.dtype.kind in "fc"
    ]
    return builder.build([part.id for part in parts])


def _argument(builder: Builder, tracer: Tracer, value: Any, dtype: str) -> Traced:
    array = np.asarray(value)
    if array.dtype.kind in "biu":
        return Traced(tracer, builder.constant(array), array)
    array = array.astype(np.complex128 if array.dtype.kind == "c" else dtype)
    return Traced(tracer, builder.input(array), array)


def op_samples(*, smooth: bool) -> list[Any]:
    """(op, sample) of every op in the table; smooth ones have a derivative rule."""
    import pytest

    return [
        pytest.param(op, sample, id=f"{op.name}-{k}")
        for op in TABLE.values()
        for k, sample in enumerate(op.samples)
        if smooth == (op.slopes is not None or op.pullback is not None)
    ]


def rounded_outputs(program: Program) -> tuple[Any, ...]:
    return run(Ieee(), program).outputs()
