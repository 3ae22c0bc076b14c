"""How far a rounded run of one op may lie from the exact value."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import jacobian
from gradproof.engine.run import run
from gradproof.errors import NoDerivative
from gradproof.ir import types
from gradproof.ops import Op, Sample

from .sampling import program_of

# Library functions are good to a few units in the last place; composite forwards round a few times more.
ROUNDINGS = 64


def assert_within_rounding(op: Op, sample: Sample, dtype: str) -> None:
    program = program_of(op, sample, dtype)
    rounded = run(Ieee(), program)
    exact = run(BallDomain(200), program)
    unit = types.unit_roundoff(dtype)
    for id in program.outputs:
        truth, _ = exact.m.domain.leave(exact.values[id])
        found = np.asarray(rounded.values[id])
        wide: Any = np.complex128 if np.iscomplexobj(truth) else np.float64
        error = np.abs(found.astype(wide) - truth)
        allowed = (
            ROUNDINGS
            * unit
            * (np.abs(truth) + _sensitivity(exact, id) + np.max(np.abs(truth), initial=0.0) * 0.25)
        )
        smallest = (
            float(np.finfo(types.numpy_dtype(dtype)).smallest_subnormal) if dtype != "bfloat16" else 1e-40
        )
        assert (error <= allowed + 8 * smallest).all(), (op.name, dtype, found, truth, error, allowed)


def _sensitivity(exact: Any, id: int) -> Any:
    """Sum over the inputs of |x * slope|: what one rounding of every input may do."""
    try:
        jacobians = jacobian(exact, id)
    except NoDerivative:
        return np.inf
    total: Any = 0.0
    shape = exact.program[id].shape
    for slopes, source in zip(jacobians, exact.program.inputs):
        size = np.abs(exact.m.domain.leave(slopes)[0]) * np.abs(
            np.asarray(exact.program[source].value, np.complex128)
        )
        total = total + size.sum(axis=tuple(range(len(shape), size.ndim)))
    return total
