"""The independent witness of a find: differences of the op's exact meaning in hundreds of bits, for one entry."""

from __future__ import annotations

import math

import numpy as np

from gradproof.clock import TimeIsOver
from gradproof.domains.ball import BallDomain
from gradproof.engine.difference import BITS, AlongDirection, slope
from gradproof.engine.run import Policy, run
from gradproof.errors import GradproofError
from gradproof.ir.capture import Capture

AGREES = 1e-12  # of two ways to the true value, which have no step in common


def by_differences(capture: Capture, place: int, entry: tuple[int, ...]) -> float | None:
    """The slope of the captured forward program along one entry of a source; None where it cannot be taken.

    No derivative rule has a part in it: the meaning of each op is evaluated beside the point on both sides. A smaller
    step has to give the same.
    """
    program, node = capture.program, capture.sources[place].node
    if program is None or node is None:
        return None
    direction = np.zeros(capture.sources[place].shape)
    direction[entry] = 1.0
    taken = {one.id: one.value for one in program.nodes if one.is_discrete and one.value is not None}
    along = AlongDirection(program, {node: direction}, taken)
    try:
        found = [float(slope(along, further).mid()) for further in (False, True)]
    except (GradproofError, TimeIsOver, ArithmeticError, ValueError):
        return None
    return found[1] if agree(*found) else None


def exact_value(capture: Capture) -> float | None:
    """What the captured program computes in exact arithmetic; None where that has no value."""
    program = capture.program
    assert program is not None
    taken = {one.id: one.value for one in program.nodes if one.is_discrete and one.value is not None}
    try:
        at = run(BallDomain(BITS), program, Policy(decisions=taken))
    except (GradproofError, TimeIsOver, ArithmeticError, ValueError):
        return None
    value = np.asarray(at.values[program.outputs[0]], dtype=object).reshape(-1)[0].real
    return float(value.mid()) if value.is_finite() else None


def agree(one: float, other: float) -> bool:
    """Whether two numbers are the same for every purpose of a float64."""
    if not (math.isfinite(one) and math.isfinite(other)):
        return False
    return abs(one - other) <= AGREES * max(abs(one), abs(other)) or one == other
