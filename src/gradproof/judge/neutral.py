"""A `stop_gradient` inside a library that is meant to change nothing: no gradient would pass it anyway.

The variance does not change with the mean that it is taken around, so a library may hold the mean fixed. To a first
derivative that is the same; the derivative of that derivative lacks what the mean contributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.linearise import pull_back
from gradproof.engine.refine import Enclosure, entry_count
from gradproof.engine.run import Policy, Run, run
from gradproof.errors import GradproofError
from gradproof.ir.capture import Inner
from gradproof.ir.program import Program, ancestors, descendants, prune
from gradproof.judge.rule import CHEAP_ENTRIES, EXACT_BITS
from gradproof.ops import Arithmetic

# The test is made here and a little beside: what is zero at both is zero as a function, and not by chance.
SHIFT = 2.0**-10
# So much smaller than the gradients beside it is zero: in exact arithmetic, and in float64 balls.
ZERO_EXACT, ZERO_FLOAT64 = 2.0**-60, 2.0**-24


def neutral_stops(pool: Program, inner: Sequence[Inner], stops: Iterable[int]) -> frozenset[int]:
    """Those of `stops` that no gradient which the program took inside itself would have passed."""
    found = frozenset(stops)
    for call, reached in _first_calls(pool, inner, found):
        try:
            found -= reached - _vanishing(pool, call, reached)
        except GradproofError:
            found -= reached
    used = {id for _, reached in _first_calls(pool, inner, found) for id in reached}
    return found & used  # one that no gradient call has met has proven nothing


def _first_calls(
    pool: Program, inner: Sequence[Inner], stops: frozenset[int]
) -> Iterator[tuple[Inner, frozenset[int]]]:
    """The gradient calls that differentiate each stop for the first time, with the stops that lead to them."""
    for stop in stops:
        after = descendants(pool, [stop])
        for call in inner:
            before = ancestors(pool, call.targets)
            again = any(set(one.results) & before & after for one in inner if one is not call)
            if set(call.targets) & after and not again:
                yield call, frozenset({stop})


def _vanishing(pool: Program, call: Inner, stops: frozenset[int]) -> frozenset[int]:
    """The stops at which the gradient of a call is zero, at the point and beside it."""
    program = prune(pool, (*call.targets, *(id for id in call.weights if id is not None)))
    exact = entry_count(program) <= CHEAP_ENTRIES
    m = Arithmetic(BallDomain(EXACT_BITS) if exact else BallDomain64())
    here = run(m, program)
    beside = run(m, program, Policy(inputs=_moved(m, program)))
    small = ZERO_EXACT if exact else ZERO_FLOAT64
    return frozenset(s for s in stops if all(_is_zero(at, call, s, small) for at in (here, beside)))


def _moved(m: Arithmetic, program: Program) -> dict[int, object]:
    rng = np.random.default_rng(5)
    values = {}
    with m.domain.active():
        for id in program.inputs:
            value = np.asarray(program[id].value)
            if not program[id].is_discrete:
                size = float(np.abs(value).max(initial=0.0)) or 1.0
                step = SHIFT * size * rng.uniform(0.5, 1.0, value.shape)
                values[id] = m.add(m.literal(value), m.literal(step.astype(np.float64)))
    return values


def _is_zero(at: Run, call: Inner, stop: int, small: float) -> bool:
    beside = _beside(at.program, stop)
    gradients = pull_back(at, _seeds(at, call), {stop, *beside})
    with at.m.domain.active():
        sizes = {id: Enclosure(*at.m.domain.leave(part)) for id, part in gradients.items()}
    if stop not in sizes:
        return False
    size = max((float(np.abs(sizes[id].mid).max(initial=0.0)) for id in beside if id in sizes), default=0.0)
    own = sizes[stop]
    bound = float((np.abs(own.mid) + own.rad).max(initial=0.0))
    return size > 0.0 and bound <= small * size


def _seeds(at: Run, call: Inner) -> dict[int, object]:
    rng = np.random.default_rng(7)
    seeds: dict[int, object] = {}
    for target, weight in zip(call.targets, call.weights):
        shape = at.program[target].shape
        ones = rng.uniform(0.5, 1.5, shape) if call.is_jacobian else np.ones(shape)
        seed = at.m.literal(ones) if weight is None else at.values[weight]
        seeds[target] = seed if target not in seeds else at.m.add(seeds[target], seed)
    return seeds


def _beside(program: Program, stop: int) -> set[int]:
    """What the stopped value meets: the other numbers of the ops that use it, whose gradients have its scale."""
    reached, met = {stop}, set()
    for node in program.nodes:
        if not reached & set(node.inputs) or node.is_discrete:
            continue
        others = {id for id in node.inputs if id not in reached and not program[id].is_discrete}
        met |= others
        if not others:
            reached.add(node.id)
    return met
