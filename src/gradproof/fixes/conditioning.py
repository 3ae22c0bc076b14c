"""Whether the true gradient itself moves as much as the observed one is off, when its inputs move by one rounding."""

from __future__ import annotations

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import derive, vjp
from gradproof.engine.refine import entry_count
from gradproof.engine.run import run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Program

MOST_ENTRIES = 20_000  # numbers of a gradient program that is differentiated once more, in balls
PRECISION_BITS = 256  # where digits cancel, a second derivative loses them once more
SHARE = 0.1  # of the error: roundings of the inputs alone would have cost nearly as many digits


def is_sensitive(case: Case, program: Program) -> bool:
    """Then no way of writing the function helps: its inputs would have to be known to more digits."""
    wrt, comparison = case.source.node, case.judgement.comparison
    if (
        wrt is None
        or comparison is None
        or comparison.worst is None
        or not np.isfinite(comparison.relative_error)
    ):
        return False
    found = relative_growth(program, wrt, comparison.worst)
    unit = types.unit_roundoff(case.source.dtype)
    return found is not None and found * unit >= SHARE * comparison.relative_error


def relative_growth(program: Program, wrt: int, index: tuple[int, ...]) -> float | None:
    """By how much an entry of the gradient changes for a relative change of all inputs, relative to itself."""
    try:
        gradient = derive(program, [wrt]).program
        if entry_count(gradient) > MOST_ENTRIES:
            return None
        domain = BallDomain(PRECISION_BITS)
        with domain.active():
            result = run(domain, gradient)
            seed = np.zeros(gradient[gradient.outputs[0]].shape)
            seed[index] = 1.0
            rows = vjp(result, [result.m.literal(seed)], gradient.inputs)
            value = float(domain.leave(result.outputs()[0])[0][index])
            moves = [
                np.abs(domain.leave(row)[0] * gradient[id].value) for row, id in zip(rows, gradient.inputs)
            ]
    except (GradproofError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        return None
    total = float(sum(np.sum(move) for move in moves))
    return total / abs(value) if value and np.isfinite(total) else None
