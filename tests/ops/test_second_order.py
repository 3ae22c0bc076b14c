"""The gradient of every op is itself differentiable: its forward mode equals a high-precision difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import derive
from gradproof.engine.run import run
from gradproof.engine.trace import Tracer
from gradproof.ir.program import Builder, Program
from gradproof.ops import Op, Sample

from ..small import jvp
from . import test_contract as contract
from .sampling import _argument, op_samples


def _squared_sum(op: Op, sample: Sample) -> Program:
    """A weighted sum of the squares of all results, so that also linear ops have second derivatives."""
    builder = Builder()
    m = Tracer(builder, phase="forward")
    result = getattr(m, op.name)(
        *(_argument(builder, m, value, "float64") for value in sample.inputs), **sample.params
    )
    total: Any = m.zeros(())
    for part in result if isinstance(result, tuple) else (result,):
        if part.value.dtype.kind in "fc":
            weights = np.random.default_rng(6).integers(1, 9, part.shape) / 8.0
            term = m.mul(m.mul(part, part), weights * (1 - 0.5j) if part.value.dtype.kind == "c" else weights)
            term = m.sum(term, axes=tuple(range(term.ndim)))
            total = m.add(total, m.real(term) if term.value.dtype.kind == "c" else term)
    return builder.build([total.id])


@pytest.mark.parametrize(("op", "sample"), op_samples(smooth=True, kinds=True))
def test_second_derivatives_equal_a_high_precision_difference(op: Op, sample: Sample) -> None:
    program = contract._or_skip(lambda: derive(_squared_sum(op, sample)).program)
    directions = contract._directions(program, seed=4)
    result = run(BallDomain(contract.BITS), program)
    found = contract._or_skip(lambda: jvp(result, [result.m.literal(direction) for direction in directions]))
    for one, other in zip(found, contract._difference_quotient(program, directions), strict=True):
        contract._assert_close(one, other)
