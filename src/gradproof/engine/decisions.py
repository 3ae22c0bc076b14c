"""The slopes of all sides at a tie: whether a derivative exists there, and what it is.

A tie is not yet a kink. Just beside it, in almost every direction, all decisions are clear and the program is
a smooth function with a gradient. If the gradients of all sides agree, that is the derivative; if not, it is
a kink; if even the values differ, a jump.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.engine.directional import MAX_NUMBERS, Resolving, directional
from gradproof.engine.identity import with_proven_ties
from gradproof.engine.linearise import pull_back
from gradproof.engine.margins import Decision, margins
from gradproof.engine.refine import Enclosure, entry_count
from gradproof.engine.run import run
from gradproof.engine.sides import (
    Beside,
    Fact,
    SideComparison,
    Tied,
    besides,
    compare,
    differences,
    enclosed,
    jump,
    opposite_sides,
)
from gradproof.errors import GradproofError, NotScalar
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.ops import TABLE

__all__ = ["Decision", "Side", "Sides", "directional", "margins", "sides"]

MAX_ENTRIES = 64  # entries whose left and right slopes are worked out one by one
MAX_SUSPECTS = 16  # decisions that are resolved one by one to find the guilty
# Numbers in the programs run for either: what a check costs does not grow with the number of ties.
WORK = 10**5
NODE = 300  # a node of few numbers takes as long as one of so many
CHECKED_ENTRIES = 8  # entries probed alone although random directions agree: narrow wedges hide from those


@dataclass(frozen=True, eq=False)
class Side:
    """One entry of an input, moved alone: the slopes on either side, and the jumps of the value."""

    input: int
    index: tuple[int, ...]
    left: Enclosure
    right: Enclosure
    jump_left: float
    jump_right: float


@dataclass(frozen=True, eq=False)
class Sides:
    """What happens around the ties of a program with one scalar output.

    If the sides agree, the gradient under `decisions` (for the policy of a run) is the derivative. If not,
    `guilty` are the decisions to blame, and `differing` tells the entries whose gradient depends on the side.
    """

    fact: Fact
    reason: str | None  # why it cannot be told
    ties: tuple[int, ...]  # decisions at a tie, or not to be told from one
    decisions: Mapping[int, Array]
    guilty: tuple[int, ...]
    differing: Mapping[int, Array]  # input -> mask of its entries
    slopes: tuple[Side, ...]  # of the first of these entries
    jump: float  # the largest jump of the value


def sides(
    program: Program, domain: Any, wrt: Sequence[int] | None = None, max_entries: int = MAX_ENTRIES
) -> Sides:
    """Compare the sides of all ties on the way from `wrt` to the scalar output."""
    wanted = program.inputs if wrt is None else wrt
    tied = _examine(program, domain, tuple(id for id in wanted if not program[id].is_discrete))
    nothing = Sides("agree", None, tied.ties, {}, (), {}, (), 0.0)
    if not tied.ties:
        return nothing
    try:
        return _judge(tied, nothing, max_entries)
    except GradproofError as error:  # an op on the way without a derivative, or beyond the domain
        return replace(nothing, fact="cannot tell", reason=str(error))


def _examine(program: Program, domain: Any, wrt: tuple[int, ...]) -> Tied:
    output = program.outputs[0]
    if program[output].shape != ():
        shape = program[output].shape
        raise NotScalar(f"the sides of a tie need a single number, but node %{output} has shape {shape}")
    base = run(domain, program)
    found = with_proven_ties(base, margins(base))
    near = tuple(d.node for d in found if d.moves and bool((d.ties | d.is_unclear).any()))
    return Tied(program, domain, wrt, base, {d.node: d for d in found}, near)


def _judge(tied: Tied, nothing: Sides, max_entries: int) -> Sides:
    found, comparison = _compared(tied)
    if comparison.fact == "cannot tell":
        decisions = found[0].along.decisions  # of one side: what is too steep there is found by them
        return replace(nothing, fact="cannot tell", reason=comparison.reason, decisions=decisions)
    if comparison.fact == "agree":
        probed = 0 if entry_count(tied.program) > MAX_NUMBERS else CHECKED_ENTRIES
        slopes = tuple(_side(tied, *place) for place in _places(_influence(tied))[:probed])
        odd = tuple(side for side in slopes if _is_odd(found[0], side))
        if not odd:
            return replace(nothing, decisions=found[0].along.decisions)
        comparison = SideComparison("jump" if any(map(_jumps, odd)) else "kink", _mask(tied, odd))
    differing = _influence(tied) if comparison.fact == "jump" else comparison.differing
    places = _places(differing)
    work = entry_count(tied.program) + NODE * len(tied.program.nodes)
    max_entries = min(max_entries, 1 + WORK // work)
    slopes = tuple(_side(tied, *place) for place in places[:max_entries])
    return replace(
        nothing,
        fact=comparison.fact,
        guilty=_guilty(tied) or tied.ties,
        differing=differing,
        slopes=slopes,
        jump=_largest_jump(found, slopes) if comparison.fact == "jump" else 0.0,
    )


def _compared(tied: Tied) -> tuple[list[Beside], SideComparison]:
    found = besides(tied, clear_only=False)
    comparison = compare(tied, found)
    unclear = [id for id in tied.ties if bool(tied.decisions[id].is_unclear.any())]
    if comparison.fact not in ("kink", "jump") or not unclear:
        return found, comparison
    # The difference may come from numbers that are near a tie and not at it: look at the sure ties alone.
    found = besides(tied, clear_only=True)
    comparison = compare(tied, found)
    if comparison.fact == "agree":
        reason = f"{tied.base.m.domain.name} cannot tell whether node %{unclear[0]} is at a tie"
        comparison = SideComparison("cannot tell", comparison.differing, reason)
    return found, comparison


def _places(masks: Mapping[int, Array]) -> list[tuple[int, tuple[int, ...]]]:
    return [(id, tuple(int(k) for k in place)) for id, mask in masks.items() for place in np.argwhere(mask)]


def _side(tied: Tied, id: int, index: tuple[int, ...]) -> Side:
    slopes, jumps = [], []
    for sign in (-1.0, 1.0):
        unit = np.zeros(tied.program[id].shape)
        unit[index] = sign
        along = directional(tied.program, {id: unit}, tied.domain, tied.decisions)
        with along.run.m.domain.active():
            slope = enclosed(along.run.m, along.run.m.mul(along.slope(tied.output), sign))
        slopes.append(Enclosure(slope.mid + 0.0, slope.rad))  # no negative zeros
        gap = jump(tied, along)
        jumps.append(float(gap.mid) if abs(gap.mid) > gap.rad else 0.0)
    return Side(id, index, slopes[0], slopes[1], jumps[0], jumps[1])


def _is_odd(beside: Beside, side: Side) -> bool:
    """Whether an entry moved alone finds a side that the random directions have missed."""
    gradient = beside.gradient[side.input]
    # The entry moves along the real axis; of a complex gradient that is the real part.
    expected = Enclosure(np.real(gradient.mid[side.index]), gradient.rad[side.index])
    return _jumps(side) or any(bool(differences(expected, slope)[0]) for slope in (side.left, side.right))


def _jumps(side: Side) -> bool:
    return side.jump_left != 0.0 or side.jump_right != 0.0


def _mask(tied: Tied, found: Sequence[Side]) -> dict[int, Array]:
    masks = {id: np.zeros(tied.program[id].shape, bool) for id in tied.wrt}
    for side in found:
        masks[side.input][side.index] = True
    return masks


def _largest_jump(found: Sequence[Beside], slopes: Sequence[Side]) -> float:
    ahead = [abs(float(beside.jump.mid)) for beside in found]
    return max(ahead + [abs(size) for side in slopes for size in (side.jump_left, side.jump_right)])


def _influence(tied: Tied) -> dict[int, Array]:
    """The entries of the inputs that move what is compared at a tie."""
    m, program = tied.base.m, tied.program
    rng = np.random.default_rng(1)
    seeds: dict[int, Array] = {}
    for node in (program[id] for id in tied.ties):
        decision = tied.decisions[node.id]
        near = decision.ties | decision.is_unclear
        for id in node.inputs:
            weight = rng.uniform(
                1.0, 2.0, program[id].shape
            )  # random, so that two ways to a tie do not cancel
            if TABLE[node.op].compares in ("pair", "grid"):
                weight = weight * _shrunk(near, program[id].shape)
            seeds[id] = weight + seeds.get(id, 0.0)
    pulled = pull_back(tied.base, {id: m.literal(seed) for id, seed in seeds.items()}, tied.wrt)
    influence = {id: np.zeros(program[id].shape, bool) for id in tied.wrt}
    with m.domain.active():
        for id, gradient in pulled.items():
            mid, rad = m.domain.leave(gradient)
            influence[id] = (mid != 0.0) | (rad > 0.0)
    return influence


def _shrunk(mask: Array, shape: tuple[int, ...]) -> Array:
    """A mask of the broadcast result as a mask of one operand."""
    lead = mask.ndim - len(shape)
    axes = tuple(k for k in range(mask.ndim) if k < lead or shape[k - lead] == 1)
    return np.asarray(np.any(mask, axis=axes, keepdims=True)).reshape(shape)


def _guilty(tied: Tied) -> tuple[int, ...]:
    """The tied decisions that, resolved alone, already make the sides differ."""
    rng = np.random.default_rng(2)
    guilty = []
    for id in tied.ties[:MAX_SUSPECTS]:
        pair = opposite_sides(tied, rng, Resolving(frozenset([id])))
        if compare(tied, pair).fact in ("kink", "jump"):
            guilty.append(id)
    return tuple(guilty)
