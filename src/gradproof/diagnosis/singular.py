"""Where a function is not smooth by its formula: the op whose slope is unbounded, or that has no value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.diagnosis.exact_entry import BITS, MAX_ENTRIES
from gradproof.diagnosis.flow import Faulty, Place, operand, places, trail
from gradproof.domains.ball import BallDomain
from gradproof.engine.hidden_infinities import unbounded_slopes
from gradproof.engine.linearise import pull_back
from gradproof.engine.refine import entry_count
from gradproof.engine.run import Run, run
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.ops import TABLE


@dataclass(frozen=True)
class Singular:
    """An op and the operand at which exact arithmetic finds no bound for its slope.

    `is_beside`: the op runs just beside the point, which the program itself treats apart.
    """

    node: int
    operand: Place
    is_beside: bool = False


def steepest(proven: Run, source: int) -> Singular | None:
    """The op nearest to the target through which a bounded gradient becomes unbounded on its way to the source."""
    found: list[Singular] = []

    def watch(node: Node, position: int, gy: Any, gx: Any) -> None:
        parts = gy if isinstance(gy, tuple) else (gy,)
        if found or any(_unbounded(proven, part).any() for part in parts):
            return
        bad = _unbounded(proven, gx)
        if bad.any():
            index = tuple(int(k) for k in np.argwhere(bad)[0])
            found.append(Singular(node.id, Place(node.inputs[position], index)))

    output = proven.program.outputs[0]
    try:
        pull_back(proven, {output: proven.m.literal(np.ones(()))}, [source], watcher=watch)
    except GradproofError:
        return None
    return _origin(proven, found[0]) if found else _hidden(proven, source)


def _origin(proven: Run, found: Singular) -> Singular:
    """Where an operand has no value itself, the op that has none is to blame, and not what is computed from it."""
    program, bad = proven.program, _without_bound(proven)
    lacking = _lacking(program, found, bad)
    if lacking is None:
        return found
    with proven.m.domain.active():
        first = trail(program, lacking, bad)[0]
    node = program[first.id]
    while len(node.inputs) == 1 and isinstance(
        proven.values.get(node.inputs[0]), tuple
    ):  # one of its results
        node = program[node.inputs[0]]
    if not node.inputs:
        return found
    op = TABLE.get(node.op)
    if node.id == first.id and op is not None and op.slopes is not None:  # entry by entry
        return Singular(node.id, operand(program, first, 0))
    shape = program[node.inputs[0]].shape
    return Singular(node.id, Place(node.inputs[0], (0,) * len(shape)))


def _lacking(program: Program, found: Singular, bad: Faulty) -> Place | None:
    """The operand without a value: the one that was found, or else another one that it is multiplied by."""
    faulty = bad(found.operand.id)
    if faulty is not None and faulty[found.operand.index]:
        return found.operand
    for id in program[found.node].inputs:
        faulty = None if program[id].is_discrete else bad(id)
        if faulty is not None and faulty.any():
            return Place(id, tuple(int(k) for k in np.argwhere(faulty)[0]))
    return None


def _hidden(proven: Run, source: int) -> Singular | None:
    """The op nearest to the target whose unbounded slope a zero has hidden."""
    events = unbounded_slopes(proven, [source])
    if not events:
        return None
    node, position, mask = events[-1]
    index = tuple(int(k) for k in np.argwhere(mask)[0])
    return Singular(node.id, operand(proven.program, Place(node.id, index), position))


def without_value(proven: Run) -> tuple[Place, ...]:
    """From the op that has no value in exact arithmetic to the target; empty where the target has a value.

    A run with few digits loses the bound of log(1 - sigmoid(120)) too, which has one with more.
    """
    proven = _with_more_digits(proven)
    bad = _without_bound(proven)
    end = Place(proven.program.outputs[0], ())
    faulty = bad(end.id)
    if faulty is None or not faulty.any():
        return ()
    with proven.m.domain.active():
        way = trail(proven.program, end, bad)
        # An op that is computed as a whole has no value in any entry where one of its operands lacks a single one.
        while (before := _lacking_anywhere(proven.program, way[0], bad)) is not None:
            way = (*trail(proven.program, before, bad), *way)
        return way


def _with_more_digits(proven: Run) -> Run:
    """The same point again, unless that takes too long only to name a cause."""
    value = proven.values.get(proven.program.outputs[0])
    with proven.m.domain.active():
        is_bounded = value is None or isinstance(value, tuple) or not _unbounded(proven, value).any()
    if is_bounded or entry_count(proven.program) > MAX_ENTRIES:
        return proven
    try:
        return run(BallDomain(BITS), proven.program)
    except GradproofError:
        return proven


def _lacking_anywhere(program: Program, place: Place, bad: Faulty) -> Place | None:
    for id in program[place.id].inputs:
        faulty = bad(id)
        if faulty is not None and faulty.any():
            return next(places(id, faulty))
    return None


def _without_bound(proven: Run) -> Faulty:
    """Which entries of a value exact arithmetic finds no bound for."""

    def bad(id: int) -> Array | None:
        value = proven.values.get(id)
        return None if value is None or isinstance(value, tuple) else _unbounded(proven, value)

    return bad


def _unbounded(proven: Run, x: Any) -> Array:
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([not entry.is_finite() for entry in x.reshape(-1)], bool).reshape(x.shape)
    mid, rad = proven.m.domain.leave(x)
    return np.asarray(~(np.isfinite(mid) & np.isfinite(rad)))
