"""Builds one-op programs from the samples that stand beside each op."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Program
from gradproof.ops import TABLE, Kind, Op, Sample


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


def op_samples(*, smooth: bool, kinds: bool = False) -> list[Any]:
    """(op, sample) of every op in the table; smooth ones have a derivative rule.

    With `kinds` also the samples of further kinds: an op that takes complex numbers is tried with random ones at
    every sample it has for real numbers, with all its attributes, and with real and complex arguments mixed.
    """
    import pytest

    return [
        pytest.param(op, sample, id=f"{op.name}-{name}")
        for op in TABLE.values()
        if smooth == (op.slopes is not None or op.pullback is not None)
        for name, sample in (*_own(op), *(_further(op) if kinds else ()))
    ]


def kind_of(sample: Sample) -> Kind:
    """The kind of number a sample has; one complex argument makes it complex."""
    return "complex" if any(np.asarray(x).dtype.kind == "c" for x in sample.inputs) else "real"


def _own(op: Op) -> list[tuple[str, Sample]]:
    return [(str(k), sample) for k, sample in enumerate(op.samples)]


def _further(op: Op) -> list[tuple[str, Sample]]:
    found: list[tuple[str, Sample]] = []
    for k, sample in enumerate(op.samples):
        reals = [n for n, x in enumerate(sample.inputs) if np.asarray(x).dtype.kind == "f"]
        if "complex" not in op.kinds or not reals or "dtype" in sample.params:
            continue
        found.append((f"{k}-complex", _complexified(sample, reals, seed=k)))
        if len(reals) > 1:
            found += [(f"{k}-mixed-{n}", _complexified(sample, [n], seed=k)) for n in reals]
    return found


def _complexified(sample: Sample, places: list[int], seed: int) -> Sample:
    """The arguments at `places` with random imaginary parts of few bits, no two alike on purpose."""
    rng = np.random.default_rng(seed)
    inputs = [np.asarray(x) for x in sample.inputs]
    for n in places:
        shape = inputs[n].shape
        inputs[n] = inputs[n] + 1j * rng.integers(1, 8, shape) * rng.choice([-1, 1], shape) / 16.0
    return Sample(tuple(inputs), sample.params)
