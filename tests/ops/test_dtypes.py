"""An op on float32 gives float32, forward and backward: no constant inside a rule widens a program."""

from __future__ import annotations

import numpy as np
import pytest

from gradproof.engine.derive import derive
from gradproof.engine.trace import Tracer
from gradproof.ir.program import Builder
from gradproof.ops import Op, Sample

from . import test_contract as contract
from .sampling import _argument, op_samples


@pytest.mark.parametrize(("op", "sample"), op_samples(smooth=True))
def test_float32_stays_float32(op: Op, sample: Sample) -> None:
    builder = Builder()
    m = Tracer(builder, phase="forward")
    arguments = [_argument(builder, m, value, "float32") for value in sample.inputs]
    if op.name == "cast" or any(np.iscomplexobj(argument.value) for argument in arguments):
        pytest.skip("a cast changes the dtype by intent, and complex samples have 128 bits")
    result = getattr(m, op.name)(*arguments, **sample.params)
    total = m.zeros(())
    for part in result if isinstance(result, tuple) else (result,):
        if part.value.dtype.kind == "c":
            assert part.value.dtype == np.complex64
            part = m.real(part)
        if part.value.dtype.kind == "f":
            assert part.value.dtype == np.float32
            total = m.add(total, m.sum(part, axes=tuple(range(part.ndim))))
    derived = contract._or_skip(lambda: derive(builder.build([total.id])).program)
    assert {derived[id].dtype for id in derived.outputs} == {"float32"}
