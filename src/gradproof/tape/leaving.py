"""Numbers that leave the tape and come back as constants, so that a part of the function has no gradient.

`x * float(x)` is recorded as x times a number. Whether such a number matters is found by running the function again
a little further on: if what was recorded first, with its constants, leads elsewhere, then the constants move with the
arguments. The largest entry that `logsumexp` takes out does not matter, and raises no alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.engine.refine import entry_count
from gradproof.engine.run import Policy, run
from gradproof.errors import GradproofError
from gradproof.frontends.check.request import Left
from gradproof.frontends.record.place import span_of
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.tape.program import build
from gradproof.tape.proof import Proof
from gradproof.tape.record import ancestors
from gradproof.tape.state import TapeExit, roots_of
from gradproof.tape.target import is_leaf, weighted_sum
from gradproof.tape.variable import Variable

BITS = 128
MAX_NUMBERS = 200_000  # in larger programs two runs in balls would take seconds
STEPS = {2: 2.0**-5, 4: 2.0**-11, 8: 2.0**-20}  # by the size of the dtype: small, and far from its last digit
# The share of the change of the value that constants must have. What has settled, as the result of an iteration
# does, moves in second order only.
MATTERS = 1e-4


def left_part(
    proof: Proof,
    leaves: Sequence[TapeExit],
    variables: Sequence[Variable],
    again: Callable[[list[Array]], Proof | None],
) -> Left | None:
    """The first door through which numbers left that the target needs; `again` repeats the call elsewhere."""
    own = {variable._identity for variable in variables}
    doors = [leave for leave in leaves if roots_of(leave.record) & own]
    # Constants that are meant as such move with the arguments too, and cannot be told from the others.
    is_meant = any(record.origin is not None for record in ancestors(proof.targets))
    if not doors or is_meant or not proof.sources:
        return None
    second = again([_moved(variable) for variable in variables])
    try:
        matters = second is not None and bool(second.sources) and _matters(_program(proof), _program(second))
    except GradproofError:
        return None
    if not matters:
        return None
    roots = frozenset[object]().union(*(roots_of(leave.record) for leave in doors))
    names = tuple(str(variable.name) for variable in variables if variable._identity in roots)
    return Left(doors[0].how, span_of(doors[0].place), names)


def _moved(variable: Variable) -> Array:
    value = np.asarray(variable._value)
    real = np.dtype(value.real.dtype)
    step = STEPS.get(real.itemsize, STEPS[8])
    return np.asarray(value + step * np.where(value == 0, 1.0, np.abs(value)), value.dtype)


def _program(proof: Proof) -> Program:
    leaves = [source for source in proof.sources if is_leaf(source)]
    return build([weighted_sum(proof.targets, proof.seeds, proof.branches)], leaves).program


def _matters(first: Program, second: Program) -> bool:
    if not _same_steps(first, second) or entry_count(first) > MAX_NUMBERS:
        return False
    domain = BallDomain(BITS)
    with domain.active():
        inputs = {id: domain.enter(np.asarray(second[id].value)) for id in first.inputs}
    here, there = run(domain, first), run(domain, second)
    expected = run(domain, first, Policy(inputs=inputs))
    output = first.outputs[0]
    with domain.active():
        start, real, along = (np.ravel(one.values[output])[0] for one in (here, there, expected))
        gap, change = abs(real - along), abs(real - start) + abs(along - start)
        return bool(gap.is_finite() and change.is_finite() and gap > MATTERS * change)


def _same_steps(first: Program, second: Program) -> bool:
    """The same ops with the same decisions: otherwise it is other code that makes the difference."""
    if len(first.nodes) != len(second.nodes) or first.outputs != second.outputs:
        return False
    return all(
        (one.op, one.inputs, one.shape, one.dtype) == (other.op, other.inputs, other.shape, other.dtype)
        and (not one.is_discrete or np.array_equal(one.value, other.value))
        for one, other in zip(first.nodes, second.nodes)
    )
