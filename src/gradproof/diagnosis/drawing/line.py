"""A straight line through the point: the target and its slope there, proven and in floating point."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import vjp
from gradproof.engine.margins import margins
from gradproof.engine.run import Policy, Run, run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Program, descendants, prune
from gradproof.ir.types import Array

PRECISE_BITS = 256  # shows any function of float64 numbers to the digits that a picture has
SHARP = 1e-4  # a curve is drawn to about this share of its height
TRIALS = 3  # the first is slower than those to come
SHORTEST = 1e-6  # seconds; what a clock cannot see
# What an op may raise on numbers it was not recorded with; such a point has no value.
FAILURES = (GradproofError, ArithmeticError, ValueError, TypeError, IndexError)


@dataclass(frozen=True, eq=False)
class Line:
    """The line on which one entry of one source moves and everything else stays.

    `program` is the forward program, `gradient_program` the recorded one that ends in the gradient for the source.
    """

    program: Program
    gradient_program: Program | None
    source: int
    index: tuple[int, ...]

    @property
    def point(self) -> Array:
        return np.asarray(self.program[self.source].value)

    @property
    def x(self) -> float:
        """Where the moving entry stands."""
        return float(self.point[self.index])

    @property
    def spacing(self) -> float:
        """The distance from one number of the source's dtype to the next, here; at zero that of the number 1."""
        bits = types.precision_bits(types.dtype_name(self.point))
        size = abs(self.x) or 1.0
        return float(2.0 ** (np.floor(np.log2(size)) + 1 - bits))

    def moved(self, x: float) -> Array:
        """The source with its moving entry at the number of its dtype next to `x`."""
        moved = np.array(self.point)
        with np.errstate(all="ignore"):
            moved[self.index] = x
        return moved

    def nearest(self, xs: Array) -> Array:
        """The numbers of the source's dtype next to these: where both curves are computed. It ends at its largest."""
        with np.errstate(all="ignore"):
            near = np.unique(xs.astype(self.point.dtype).astype(np.float64))
        return np.asarray(near[np.isfinite(near)])


def line_through(
    program: Program,
    gradient_program: Program | None,
    source: int,
    recorded: int | None,
    index: tuple[int, ...],
) -> Line:
    """The line for one entry of a source, with only the ops that it needs."""
    backward = None
    if gradient_program is not None and recorded is not None:
        backward = prune(gradient_program, [recorded])
    return Line(prune(program, program.outputs[:1]), backward, source, index)


def obstacle(line: Line) -> str:
    """Why nothing can be computed beside the point; empty where something can."""
    if not types.is_real(types.dtype_name(line.point)):
        return "only a source of real numbers can be moved along a line"
    if not np.isfinite(line.x):
        return "the point itself is not finite"
    moving = descendants(line.program, [line.source])
    for node in line.program.nodes:
        if node.is_opaque and moving.intersection(node.inputs):
            return f"the meaning of the op `{node.op.partition(':')[2]}` is not known, so it cannot be run elsewhere"
    return ""


@dataclass(frozen=True, eq=False)
class Bounds:
    """Value and slope at each of some points: midpoints and radii, a radius of infinity where nothing is known."""

    value: Array
    value_radius: Array
    slope: Array
    slope_radius: Array


def proven(line: Line, xs: Array, domain: Any) -> Bounds:
    """Enclosures of the target and of its slope; every decision is taken anew at each point."""
    rows = np.array([_proven_at(line, float(x), domain) for x in xs]).reshape(len(xs), 4)
    return Bounds(*rows.T)


def sharpest_domain(line: Line) -> Any:
    """Float64 balls, or wider ones where those are too coarse for a picture at the point itself."""
    value, value_radius, slope, slope_radius = _proven_at(line, line.x, BallDomain64())
    is_sharp = slope_radius <= SHARP * abs(slope) and value_radius <= SHARP * abs(value)
    return BallDomain64() if is_sharp else BallDomain(PRECISE_BITS)


def _proven_at(line: Line, x: float, domain: Any) -> tuple[float, float, float, float]:
    try:
        moved = {line.source: domain.enter(line.moved(x))}
        result = run(domain, line.program, Policy(inputs=moved, redecide=True))
        ties, unclear = _doubts(result)
        with domain.active():
            (value,) = (domain.leave(y) for y in result.outputs())
            (gradient,) = vjp(result, [result.m.literal(np.ones(()))], [line.source])
            mid, rad = domain.leave(gradient)
    except FAILURES:
        return np.nan, np.inf, np.nan, np.inf
    value_radius = np.inf if unclear else float(value[1])
    if not np.isfinite(value_radius):
        return np.nan, np.inf, np.nan, np.inf
    # At a tie the value is that of the branch taken, but the slope of that branch need not be a derivative.
    slope_radius = np.inf if ties else float(rad[line.index])
    return float(value[0]), value_radius, float(mid[line.index]), slope_radius


def _doubts(result: Run) -> tuple[bool, bool]:
    """Whether a decision that moves with the source is a tie, and whether one is not clear at all."""
    found = [decision for decision in margins(result) if decision.moves]
    ties = any(bool(decision.ties.any()) for decision in found)
    return ties, any(bool((decision.is_unclear | decision.flips).any()) for decision in found)


def values(line: Line, xs: Array) -> Array:
    """The target as NumPy computes it with the recorded ops, each in the dtype it was recorded in."""
    return np.array([_output(line.program, line, float(x)) for x in xs])


def slopes(line: Line, xs: Array) -> Array:
    """The gradient's entry as NumPy computes it with the recorded ops; NaN where no gradient was recorded."""
    program = line.gradient_program
    return np.array([np.nan if program is None else _output(program, line, float(x)) for x in xs])


def seconds_of(work: Callable[[], Any]) -> float:
    """How long a piece of work takes, without the time in which the machine did something else."""
    taken = []
    for _ in range(TRIALS):
        start = time.thread_time()
        work()
        taken.append(time.thread_time() - start)
    return max(min(taken), SHORTEST)


def _output(program: Program, line: Line, x: float) -> float:
    try:
        policy = Policy(inputs={line.source: line.moved(x)}, redecide=True)
        (y,) = run(Ieee(), program, policy).outputs()
        array = np.asarray(y)
        return float(array[line.index] if array.shape == line.point.shape else array)
    except FAILURES:
        return np.nan
