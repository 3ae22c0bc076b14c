"""The gradient at a point where its formula breaks down though it exists: the limit of gradients nearby.

Functions of eigenvectors at equal eigenvalues, |x|**2 by way of |x| at zero, sin(x)/x at zero: every rule on
the way is right, and 0/0 stands at the point itself. Close to the point the gradient can be proven with many
digits. If it tends to the same numbers from different sides, and the value does not jump, these are the
gradient. The error given is an estimate from how fast it tends there, not a proof.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from flint import arb

from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import vjp
from gradproof.engine.directional import directional
from gradproof.engine.outside import is_outside
from gradproof.engine.refine import Enclosure
from gradproof.engine.run import Policy, held, run
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.types import Array

PRECISION_BITS = 1280
# Steps of 2**-s relative to the size of each input: far below any length that matters in a program. The
# square of the smallest may be divided by, which costs 640 bits and leaves as many.
STEP_BITS = (192, 256, 320)
# From one step to the next an error shrinks by 2**-64 where the gradient is smooth, by 2**-32 where it goes
# with a square root. It hardly shrinks at a kink, at a pole, or where logarithms decide.
SHRINKS = 2.0**-8
GROWS = 1.1  # from step to step a logarithm grows by 4/3 and 5/4, a pole by powers of two
NEGLIGIBLE = 2.0**-70  # errors so far below an entry that has a limit count as none
SMALLEST = 2.0**-400  # and so do errors below this, which is no more than the noise of the balls
VANISHES = 2.0**-200  # what is no larger two steps of 2**-64 further on, and still shrinks, tends to zero
SEED = 20

LEAPS = 2.0**8  # what grows so much from step to step is no oscillation: a pole, a root, their powers
STEADY = 2.0**-20  # nor is what grows by the same amount, as a logarithm does; so equal are they by no chance

Kind = Literal["limit", "no value", "jump", "sides differ", "unbounded", "one side", "undecided"]

REASONS: dict[Kind, str] = {
    "no value": "the function has no real value on any side of this point",
    "jump": "the value tends to different numbers from different sides",
    "sides differ": "the gradient tends to different numbers from different sides",
    "unbounded": "the gradient grows without bound towards this point",
    "one side": "the gradient is known on one side of this point only",
    "undecided": "whether the gradient tends to a limit at this point could not be decided",
}


@dataclass(frozen=True)
class Limit:
    """Gradients for each input asked for; the radius is estimated, and infinite where there is no limit.

    `one_sided`: the slopes from below and from above where the input is one number and each side has a limit.
    """

    enclosures: tuple[Enclosure, ...]
    kind: Kind
    one_sided: tuple[float, float] | None = None

    @property
    def exists(self) -> bool:
        return self.kind == "limit"

    @property
    def reason(self) -> str | None:
        """Why there is no limit, where there is none."""
        return REASONS.get(self.kind)


@dataclass(frozen=True)
class _Nearby:
    """Outputs and gradients at one point near the one in question, as flat arrays of balls.

    `is_outside`: the function has no value there, for certain.
    """

    values: Array
    gradients: tuple[Array, ...]
    is_outside: bool


def limit_gradient(program: Program, wrt: Sequence[int] | None = None, at_tie: bool = False) -> Limit:
    """The limit of the gradient of a number at the recorded inputs, with all decisions as recorded.

    `at_tie`: but for those at a tie, which are settled on every side by where that side leads.
    """
    wrt = tuple(program.inputs if wrt is None else wrt)
    domain = BallDomain(PRECISION_BITS)
    sides = _directions(program, wrt)
    decided = [directional(program, side, domain).decisions if at_tie else {} for side in sides]
    still = held(domain, program)
    nearby = [
        [_evaluate(domain, program, wrt, still, *side, bits) for side in zip(sides, decided)]
        for bits in STEP_BITS
    ]
    with domain.active():
        values = _tends_to([[point.values for point in step] for step in nearby])
        if at_tie:  # on the tie itself other code runs than beside it
            values = _beside_own(values, _flat(run(domain, program).outputs()))
        gradients = [
            _tends_to([[point.gradients[k] for point in step] for step in nearby]) for k in range(len(wrt))
        ]
        alone = all(point.is_outside for step in nearby for point in step)
        kind = "no value" if alone else _kind(values, gradients)
        one_sided = _one_sided(domain, program, wrt, sides, nearby) if kind == "sides differ" else None
        enclosures = tuple(
            # Without a value nearby (the log of -1) there is no derivative, though its formula may go on.
            _enclosure(domain, one, program[id].shape, not np.isfinite(values.error).all())
            for one, id in zip(gradients, wrt)
        )
    return Limit(enclosures, kind, one_sided)


def _one_sided(
    domain: BallDomain,
    program: Program,
    wrt: tuple[int, ...],
    sides: list[dict[int, Array]],
    nearby: list[list[_Nearby]],
) -> tuple[float, float] | None:
    """Where the gradient tends to from below, and from above."""
    if len(wrt) != 1 or program[wrt[0]].shape != () or not types.is_real(program[wrt[0]].dtype):
        return None
    slopes: list[float] = []
    for sign in (-1.0, 1.0):
        own = [k for k, side in enumerate(sides) if float(side[wrt[0]]) * sign > 0.0]
        tendency = _tends_to([[step[k].gradients[0] for k in own] for step in nearby])
        found = _enclosure(domain, tendency, (), False)
        if not found.is_bounded:
            return None
        slopes.append(float(found.mid))
    return slopes[0], slopes[1]


@dataclass(frozen=True)
class _Tendency:
    """Where entries tend to, how far that may be off, and which of them do what instead."""

    mean: Array
    error: Array  # infinite without a limit
    differs: Array
    grows: Array
    has_one_side: Array
    leaps: Array  # on one side at least, so fast or so steadily that it is beyond doubt


def _kind(values: _Tendency, gradients: list[_Tendency]) -> Kind:
    if values.differs.any():
        return "jump"
    if all(np.isfinite(one.error).all() for one in (values, *gradients)):
        return "limit"
    if any(one.differs.any() for one in gradients):
        return "sides differ"
    if any(one.grows.any() or one.leaps.any() for one in gradients):
        return "unbounded"
    return "one side" if any(one.has_one_side.any() for one in gradients) else "undecided"


def _directions(program: Program, wrt: tuple[int, ...]) -> list[dict[int, Array]]:
    """Directions in which no entry stands still, and their opposites. Entries are dyadic.

    In the last one all entries grow: where a function is defined for positive numbers only, others leave it.
    """
    rng = np.random.default_rng(SEED)

    def draw(shape: tuple[int, ...], signs: tuple[float, ...]) -> Array:
        return rng.choice(signs, shape) * rng.integers(32, 97, shape) / 64.0

    sides: list[dict[int, Array]] = []
    for signs in ((-1.0, 1.0), (-1.0, 1.0), (1.0,)):
        ahead: dict[int, Array] = {}
        for id in wrt:
            node = program[id]
            if not node.is_discrete:
                size = float(np.max(np.abs(np.asarray(node.value, np.complex128)), initial=0.0)) or 1.0
                unit = 2.0 ** np.floor(np.log2(size)) if np.isfinite(size) else 1.0
                ahead[id] = unit * (
                    draw(node.shape, signs)
                    + (1j * draw(node.shape, signs) if types.is_complex(node.dtype) else 0)
                )
        sides += [ahead, {id: -direction for id, direction in ahead.items()}]
    return sides


def _evaluate(
    domain: BallDomain,
    program: Program,
    wrt: tuple[int, ...],
    still: Mapping[int, Any],
    side: dict[int, Array],
    decisions: Mapping[int, Array],
    step_bits: int,
) -> _Nearby:
    with domain.active():
        step = arb(2) ** -step_bits
        inputs = {
            id: np.asarray(domain.enter(program[id].value) + domain.enter(direction) * step, dtype=object)
            for id, direction in side.items()
        }
    result = run(domain, program, Policy(inputs={**still, **inputs}, decisions=decisions))
    gradients = vjp(result, [result.m.literal(np.ones(())) for _ in program.outputs[:1]], wrt)
    values = _flat(result.outputs())
    return _Nearby(
        values,
        tuple(np.asarray(gradient, dtype=object).reshape(-1) for gradient in gradients),
        not any(entry.is_finite() for entry in values) and is_outside(result),
    )


def _flat(outputs: Sequence[Any]) -> Array:
    return np.concatenate([np.asarray(value, dtype=object).reshape(-1) for value in outputs])


def _beside_own(values: _Tendency, own: Array) -> _Tendency:
    """A value that the function has at the point, and does not tend to, is a jump."""
    allowed = 2.0 * values.error + NEGLIGIBLE * _sizes(values.mean) + SMALLEST
    jumps = (_distance(values.mean, own) > allowed) & np.isfinite(
        _sizes(own)
    )  # eigenvectors of the identity are none
    return replace(values, differs=values.differs | jumps, error=np.where(jumps, np.inf, values.error))


def _tends_to(steps: list[list[Array]]) -> _Tendency:
    """What entries do from step to step, on each side and among the sides."""
    means = [sum(sides[1:], sides[0]) / len(sides) for sides in steps]
    moved = [np.array([_distance(*pair) for pair in zip(*steps[k : k + 2])]) for k in (0, 1)]
    sizes = [np.array([_sizes(side) for side in step]) for step in steps]
    known = np.isfinite(moved[1])
    alone = _settles(moved[1], moved[0], sizes[2])
    early, late = (moved[k].max(axis=0) + _spread(steps[k + 1]) for k in (0, 1))
    settles = _settles(late, early, sizes[2].max(axis=0))
    grows = (sizes[2] > GROWS * sizes[1]) & (sizes[1] > GROWS * sizes[0]) & ~alone
    return _Tendency(
        mean=means[2],
        # What is still missing is a geometric series that the last difference dominates.
        error=np.where(settles, 2.0 * late, np.inf),
        differs=alone.all(axis=0) & ~settles,
        grows=known.any(axis=0) & (grows | ~known).all(axis=0),
        leaps=np.asarray((grows & (_leaps(*sizes) | _is_steady(*sizes))).any(axis=0)),
        has_one_side=~known.all(axis=0) & known.any(axis=0) & (alone | ~known).all(axis=0),
    )


def _leaps(first: Array, second: Array, third: Array) -> Array:
    return np.asarray((third > LEAPS * second) & (second > LEAPS * first))


def _is_steady(first: Array, second: Array, third: Array) -> Array:
    with np.errstate(invalid="ignore"):  # where nothing is known there is no difference either
        early, late = second - first, third - second
    return np.asarray((early > 0.0) & (np.abs(late - early) <= STEADY * early))


def _settles(late: Array, early: Array, sizes: Array) -> Array:
    """Errors that shrink, or are negligible beside their own entry or beside another one that settles."""
    finite = np.isfinite(late)
    settles = finite & ((late <= early * SHRINKS) | (late <= sizes * NEGLIGIBLE) | (late <= SMALLEST))
    scale = float(np.max(sizes, where=settles, initial=0.0))
    return np.asarray(settles | (finite & (late <= scale * NEGLIGIBLE)))


def _spread(sides: list[Array]) -> Array:
    gaps = [_distance(one, other) for one, other in combinations(sides, 2)]
    return np.asarray(np.max(gaps, axis=0))


def _distance(one: Array, other: Array) -> Array:
    """The most by which two balls may differ; infinite where one of them is not known."""
    return _sizes(np.asarray(one - other, dtype=object))


def _sizes(x: Array) -> Array:
    return np.array([_size(entry) for entry in x], np.float64)


def _size(entry: Any) -> float:
    return float(abs(entry).abs_upper()) if entry.is_finite() else np.inf


def _enclosure(domain: BallDomain, one: _Tendency, shape: tuple[int, ...], has_no_value: bool) -> Enclosure:
    mid, rounding = domain.leave(one.mean)
    rad = one.error + rounding
    known = np.isfinite(rad) & ~np.full(rad.shape, has_no_value)
    # A gradient that goes to zero with the step is as small as the step. One that tends to another number has an
    # error far below that number.
    vanishes = (np.abs(mid) <= rad) & (rad <= VANISHES)
    mid, rad = np.where(vanishes, 0.0, mid), np.where(vanishes, 0.0, rad)
    return Enclosure(np.where(known, mid, 0.0).reshape(shape), np.where(known, rad, np.inf).reshape(shape))
