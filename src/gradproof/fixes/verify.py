"""Whether a rewritten program is still the same function, and how many digits its gradient has."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from flint import arb

from gradproof.domains.ball import BallDomain
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import derive, vjp
from gradproof.engine.refine import Enclosure, entry_count
from gradproof.engine.run import AS_RECORDED, Policy, run
from gradproof.errors import GradproofError
from gradproof.fixes import allowance
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.judge.compare import compare
from gradproof.options import Options

PRECISIONS_BITS = (256, 1024, 4096)  # where balls are too wide to tell, the next precision is asked
EQUAL_BITS = 150  # a difference below 2**-150 of the values is the width of the balls, not of the formulas
N_NEARBY = 8
# How far from the inputs the nearby points lie, relative to them: from the last digits of a float32 to far away.
DISTANCES = (
    2.0**-20,
    2.0**-12,
    2.0**-7,
    2.0**-5,
    2.0**-4,
    2.0**-3,
    0.25,
    0.5,
    2.0**-16,
    2.0**-9,
    2.0**-6,
    0.375,
)
# For what has values only in a narrow place, as the area of a triangle like a needle.
CLOSE = tuple(2.0**-k for k in range(24, 48, 2))
MOST_ENTRIES = 200_000  # numbers in one run in balls; a larger program takes seconds for every point


@dataclass(frozen=True)
class GradientPair:
    """What is asked of a rewrite: the gradient for one node, its true value, and how it is measured."""

    wrt: int
    true: Enclosure
    dtype: str
    options: Options
    sizes: Array | None = None

    @property
    def tolerance(self) -> float:
        return self.options.tolerance(self.dtype)

    def digits(self, gradient: Any) -> float:
        """Correct digits of the worst entry; none where it is not finite."""
        found = compare(np.asarray(gradient), self.true, self.dtype, self.options, self.sizes)
        return 0.0 if found.outcome in ("nonfinite", "unbounded") else found.digits


def rounded_gradient(program: Program, wrt: int) -> Array | None:
    """The gradient as floating-point arithmetic computes it, each op in the dtype of its node."""
    found = rounded_gradients(program, [wrt])
    return None if found is None else found[0]


def rounded_gradients(program: Program, wrt: Sequence[int]) -> list[Array | None] | None:
    """The same for several sources in one sweep."""
    try:
        derived = derive(_unrecorded(program), wrt).program
    except (GradproofError, ValueError, TypeError, FloatingPointError):
        return None
    values = [derived[id].value for id in derived.outputs]
    return [None if value is None else np.asarray(value) for value in values]


def has_value(program: Program) -> bool:
    """Whether floating-point arithmetic computes numbers for what is differentiated."""
    try:
        values = run(Ieee(), _unrecorded(program)).outputs()
    except (GradproofError, ValueError, TypeError, FloatingPointError):
        return False
    return all(bool(np.isfinite(value).all()) for value in values)


def tightened(program: Program, wrt: int, true: Enclosure) -> Enclosure:
    """The true gradient as narrowly as float64 can hold it: a verdict needs less than a count of all digits."""
    if entry_count(program) > MOST_ENTRIES:
        return true
    domain = BallDomain(PRECISIONS_BITS[0])
    with domain.active():
        exact = _exact(domain, program, wrt, AS_RECORDED)
        return true if exact is None else Enclosure(*domain.leave(exact[1]))


def _unrecorded(program: Program) -> Program:
    """The values that a framework returned for the old program say nothing about the new one."""
    return replace(program, nodes=tuple(map(_without_value, program.nodes)))


def _without_value(node: Node) -> Node:
    keeps = node.op in ("input", "constant") or node.is_opaque or node.is_discrete
    return node if keeps else replace(node, value=None)


def is_equal(
    old: Program, new: Program, wrt: int, deadline: float | None = None, has_point: bool = True
) -> bool:
    """Whether both programs have the same value and gradient in exact arithmetic, here and at points nearby.

    A point at which the old program has no value says nothing; where the new one has none, it is another function.
    Without `has_point` the old one may have no gradient at the recorded inputs themselves: what was decided there, at
    an edge, is decided anew beside it.
    """
    if entry_count(old) + entry_count(new) > MOST_ENTRIES:
        return False
    nearby, end = 0, allowance.deadline() if deadline is None else deadline
    for k, point in enumerate(_points(old, wrt)):
        if time.thread_time() > end:
            return False
        agree = _agree_at(old, new, wrt, Policy(inputs=point, redecide=k > 0 and not has_point))
        if agree is False or (agree is None and k == 0 and has_point):
            return False
        if agree is None:
            continue
        nearby += k > 0
        if nearby == N_NEARBY:
            return True
    return False


def _points(program: Program, wrt: int) -> Iterator[dict[int, Array]]:
    """The inputs as recorded, then moved by chance, first a little, then far; what is a count stays one."""
    yield {}
    generator = np.random.default_rng(0)
    ids = [id for id in {*program.inputs, wrt} if not types.is_discrete(program[id].dtype)]
    for distance in (*DISTANCES, *DISTANCES, *CLOSE):
        yield {id: _moved(np.asarray(program[id].value), distance, generator) for id in sorted(ids)}


def _moved(value: Array, distance: float, generator: np.random.Generator) -> Array:
    """Relative to each entry; an entry that is zero moves by the distance itself."""
    wide = value.astype(np.complex128 if np.iscomplexobj(value) else np.float64)
    shift = generator.uniform(-1.0, 1.0, value.shape) * distance
    return np.asarray(np.where(wide == 0, shift, wide * (1.0 + shift)))


def _agree_at(old: Program, new: Program, wrt: int, at: Policy) -> bool | None:
    """Whether value and gradient agree at a point; None where the old program has none."""
    has_value = False
    for bits in PRECISIONS_BITS:
        domain = BallDomain(bits)
        with domain.active():
            expected = _exact(domain, old, wrt, at)
            if expected is None:  # a logarithm of 1 - p needs more bits than p has nines
                continue
            has_value, found = True, _exact(domain, new, wrt, at)
            if found is None or not all(map(_overlap, expected, found)):
                return False
            if all(map(_agree, expected, found)):
                return True
    return False if has_value else None


def _exact(domain: Any, program: Program, wrt: int, at: Policy) -> tuple[Any, Any] | None:
    """Value and gradient in balls; None where either is not bounded."""
    try:
        inputs = {id: domain.enter(value) for id, value in at.inputs.items()}
        result = run(domain, program, replace(at, inputs=inputs))
        gradient = vjp(result, [result.m.literal(np.ones(()))], [wrt])[0]
        value = np.asarray(result.outputs()[0])
    except (GradproofError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        return None
    both = value, np.asarray(gradient)
    # What comes by a way without balls (an empty part, several results as one) is not compared.
    known = all(part.dtype == object and hasattr(entry, "is_finite") for part in both for entry in part.flat)
    return both if known and all(entry.is_finite() for part in both for entry in part.flat) else None


def _overlap(a: Array, b: Array) -> bool:
    return all(bool(x.overlaps(y)) for x, y in zip(a.flat, b.flat))


def _agree(a: Array, b: Array) -> bool:
    """Whether balls are so close, beside the largest of them, that only one number can be meant by both."""
    largest = max((abs(x).upper() for x in a.flat), default=None)
    if largest is None:
        return True
    bound = largest * arb(2) ** -EQUAL_BITS
    return all(bool(abs(x - y) <= bound) for x, y in zip(a.flat, b.flat))
