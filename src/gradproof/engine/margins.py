"""How far every decision of a run is from switching, and whether exact arithmetic decides the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.engine.alike import SameFunctions
from gradproof.engine.fixed_ties import Moving, unbreakable
from gradproof.engine.origins import Origins, with_itself
from gradproof.engine.run import Run, decisions
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic


@dataclass(frozen=True, eq=False)
class Decision:
    """One decision node, entry by entry: its margin lies within `radius` of `margin`.

    Positive: exact arithmetic decides as was decided. Negative: it decides otherwise. Zero: a tie.
    """

    node: int
    margin: Array
    radius: Array
    size: Array  # the magnitude of what was compared
    moves: bool  # whether what was compared depends on the inputs of the program

    @property
    def agrees(self) -> Array:
        return np.asarray(self.margin > self.radius)

    @property
    def flips(self) -> Array:
        return np.asarray(self.margin < -self.radius)

    @property
    def ties(self) -> Array:
        return np.asarray((self.margin == 0.0) & (self.radius == 0.0))

    @property
    def is_unclear(self) -> Array:
        return ~(self.agrees | self.flips | self.ties)


def margins(result: Run) -> list[Decision]:
    """The margin of every decision on which the outputs depend, the decisions being taken as recorded."""
    program = result.program
    needed = ancestors(program, program.outputs)
    moving = moving_nodes(program)
    with result.m.domain.active():
        found = [
            assess(result.m, node, result.values[node.id], [result.values[id] for id in node.inputs], moving)
            for node in decisions(program)
            if node.id in needed and can_switch(program, node)
        ]
    entries = Moving(result, moving)
    found = _without_unbreakable(result, [_beside_infinity(result, decision) for decision in found], entries)
    return _without_alike(result, found, entries)


def _without_unbreakable(result: Run, found: list[Decision], entries: Moving) -> list[Decision]:
    """What stands still on both sides of a tie stays as it was decided: such a decision is clear."""
    tied = [one.node for one in found if one.moves and bool((one.ties | one.is_unclear).any())]
    if not tied:
        return found
    by_node = {decision.node: decision for decision in found}
    origins = Origins(result, entries.unsure)
    with result.m.domain.active():
        for node in result.program.nodes:
            if node.id > tied[-1]:
                break
            decision = by_node.get(node.id)
            if decision is None:
                entries.follow(node)
                entries.hold(node, origins)
                origins.follow(node)
                continue
            if node.id in tied:
                clear = unbreakable(entries, node, decision.ties, lambda x: bounds(result.m, x))
                clear = clear | (~decision.agrees & with_itself(origins, node))
                decision = by_node[node.id] = replace(
                    decision,
                    margin=np.where(clear, np.inf, decision.margin),
                    radius=np.where(clear, 0.0, decision.radius),
                )
            if not decision.agrees.all():
                entries.unsure[node.id] = ~decision.agrees
    return [by_node[decision.node] for decision in found]


def _without_alike(result: Run, found: list[Decision], entries: Moving) -> list[Decision]:
    """Where all that may be larger is the same function as what was taken, a decision is clear."""
    program = result.program
    wanted = [one.node for one in found if one.moves and TABLE[program[one.node].op].knows_alike]
    by_node = {decision.node: decision for decision in found}
    wanted = [id for id in wanted if not by_node[id].agrees.all()]
    if not wanted:
        return found
    labels, behind = SameFunctions(result, dict(entries.unsure)), ancestors(program, wanted)
    with result.m.domain.active():
        for node in program.nodes:
            if node.id in wanted:
                decision = by_node[node.id]
                xs, alike = [result.values[id] for id in node.inputs], labels.of(node.inputs[0])
                apart = assess(result.m, node, result.values[node.id], xs, entries.active, alike=alike)
                by_node[node.id] = replace(
                    decision,
                    margin=np.where(decision.agrees, decision.margin, apart.margin),
                    radius=np.where(decision.agrees, decision.radius, apart.radius),
                )
                labels.settle(node.id, by_node[node.id].agrees)
            if node.id in behind:
                labels.follow(node)
    return [by_node[decision.node] for decision in found]


def _beside_infinity(result: Run, decision: Decision) -> Decision:
    """What is known is on the near side of an infinite constant, however it moves: such a decision is clear."""
    program, node = result.program, result.program[decision.node]
    if TABLE[node.op].compares != "pair" or not any(_is_infinite(program[id]).any() for id in node.inputs):
        return decision
    with result.m.domain.active():
        known = [np.isfinite(bounds(result.m, result.values[id])[1]) for id in node.inputs]
    a, b = (program[id] for id in node.inputs)
    clear = (_is_infinite(a) & known[1]) | (_is_infinite(b) & known[0])
    return replace(
        decision,
        margin=np.where(clear, np.inf, decision.margin),
        radius=np.where(clear, 0.0, decision.radius),
    )


def _is_infinite(node: Node) -> Array:
    is_constant = node.op == "constant" and not node.is_discrete
    return np.isinf(np.asarray(node.value)) if is_constant else np.zeros(node.shape, bool)


def moving_nodes(program: Program) -> set[int]:
    """The nodes whose real or complex values depend on the real or complex inputs of the program."""
    return descendants(program, [id for id in program.inputs if not program[id].is_discrete])


def can_switch(program: Program, node: Node) -> bool:
    """Integers are exact, and a number compared with itself (`x == x`, a test for NaN) never changes."""
    if all(program[id].is_discrete for id in node.inputs):
        return False
    return TABLE[node.op].compares != "pair" or node.inputs[0] != node.inputs[1]


def assess(m: Arithmetic, node: Node, y: Any, xs: Sequence[Any], moving: set[int], **known: Any) -> Decision:
    """The margin of one decision, given its operands and what was decided. The domain must be active."""
    op = TABLE[node.op]
    assert op.margin is not None
    mid, rad = m.domain.leave(op.margin(m, y, *xs, **node.params, **known))
    moves = any(id in moving for id in node.inputs)
    return Decision(node.id, mid, rad, _size(m, node, y, xs), moves)


def _size(m: Arithmetic, node: Node, y: Any, xs: Sequence[Any]) -> Array:
    sizes = [np.abs(m.domain.leave(x)[0]) for x in xs if not types.is_discrete_array(x)]
    compares = TABLE[node.op].compares
    if compares in ("pair", "grid"):
        largest = sizes[0] if len(sizes) == 1 else np.maximum(sizes[0], sizes[1])
    elif compares == "line":
        largest = np.max(sizes[0], axis=node.params.get("axis", 0), keepdims=True, initial=0.0)
        if np.ndim(y) < largest.ndim:
            largest = np.squeeze(largest, axis=node.params.get("axis", 0))
    else:
        largest = np.asarray(max(float(np.max(size, initial=0.0)) for size in sizes))
    return np.broadcast_to(largest, np.shape(y))


def bounds(m: Arithmetic, x: Any) -> tuple[Array, Array]:
    """Midpoints and radii in float64, of integers too."""
    if types.is_discrete_array(x):
        return np.asarray(x, np.float64), np.zeros(x.shape)
    mid, rad = m.domain.leave(x)
    return mid, rad
