"""What enclosures in float64 do not show: true gradients too large for it, and targets that have no value."""

from __future__ import annotations

import sys

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.engine.hidden_infinities import absorbed
from gradproof.engine.refine import gradient_measure
from gradproof.engine.run import Run, run
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.judge.reference import Evidence
from gradproof.judge.without_value import BITS, first_nans
from gradproof.ops.decide import LARGEST

STEPS = frozenset({"floor", "ceil", "round", "truncate"})
PARTLY = "an entry that has a derivative is not finite; another entry has none"


def known_in_balls(evidence: Evidence, k: int) -> tuple[Array, Array]:
    """Which entries of a gradient are numbers in exact arithmetic, and which of these are too large for a float64."""
    balls = in_balls(evidence.program, evidence.wrt[k])
    flat = balls.reshape(-1)
    known = [ball is not None for ball in flat]
    large = [ball is not None and bool(abs(ball) > sys.float_info.max) for ball in flat]
    return np.array(known, bool).reshape(balls.shape), np.array(large, bool).reshape(balls.shape)


def in_balls(program: Program, wrt: int) -> Array:
    """The gradient of a program for one node as balls, which may be larger than any float64; None where it is none."""
    domain = BallDomain(BITS)
    try:
        result = run(domain, program)
        with domain.active():
            (gradient,) = gradient_measure((wrt,))(result)
            hidden = absorbed(result, (wrt,)).get(wrt, np.False_)
    except GradproofError:
        return np.full(program[wrt].shape, None, object)
    balls = np.array(gradient, object)
    finite = np.array([bool(ball.is_finite()) for ball in balls.reshape(-1)]).reshape(balls.shape)
    balls[~(finite & ~hidden)] = None
    return balls


def without_value(evidence: Evidence, proven: Run) -> str | None:
    """The op that makes a target NaN, or infinite, and has no value in exact arithmetic either; None if it has one.

    In exact arithmetic zero absorbs what it is multiplied by, as a gradient of zero must. So a target may have a
    slope by its formula, though a part of it has no value.
    """
    program = evidence.program
    target = np.asarray(program[program.outputs[0]].value)
    if target.dtype.kind not in "fc" or not np.isnan(target).any():
        return evidence.op_without_value
    return next((node.op for node in first_nans(program) if not _is_known(proven, node)), None)


def no_value(evidence: Evidence) -> str | None:
    """Why NaN or infinity is no wrong answer: a target that has no value for certain has no slope either.

    The slope of the variance of one number (0/0) is a zero that has absorbed it, and so is that of the logarithm of
    a product with zero.
    """
    op = evidence.op_without_value
    return None if op is None else f"the function has no value at this point: `{op}` has none"


def boundless_step(program: Program) -> str | None:
    """The step of an infinite number that a target without a value was built on; None if there is none.

    Exact arithmetic has a number in its place, so what it says about slopes is about another function.
    """
    target = np.asarray(program[program.outputs[0]].value)
    if target.dtype.kind not in "fc" or np.isfinite(target).all():
        return None
    return next((node.op for node in program.nodes if _is_boundless(node)), None)


def _is_boundless(node: Node) -> bool:
    """Whether a step was taken of an infinite number: none is as large as what stands for it."""
    return node.op in STEPS and bool((np.abs(np.asarray(node.value)) >= LARGEST).any())


def _is_known(proven: Run, node: Node) -> bool:
    value = proven.values.get(node.id)
    if value is None or isinstance(value, tuple):
        return True
    with proven.m.domain.active():
        return all(bool(np.isfinite(part).all()) for part in proven.m.domain.leave(value))
