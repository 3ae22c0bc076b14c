"""One-sided slopes: a run and its tangents in one sweep, tied decisions resolved by where the tangents lead.

At a tie the branch just ahead is chosen by comparing values first and tangents second. Where the tangents
tie too (x**2 against 0 at 0), a second sweep looks at the point a tiny exact step ahead, in high precision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.domains.ball import BallDomain
from gradproof.engine.hidden_infinities import absorbed
from gradproof.engine.linearise import push_node
from gradproof.engine.margins import Decision, assess, bounds, can_switch, margins, moving_nodes
from gradproof.engine.refine import entry_count
from gradproof.engine.run import Policy, Run, evaluate, held, run
from gradproof.engine.ties import gaps, nudges, snapped
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic, Op

# The step ahead: so small that only ties can switch, with bits enough to see its effect of third order.
STEP = 2.0**-200
STEP_BITS = 1024
MAX_NUMBERS = 200_000  # in larger programs the step ahead would take many seconds


@dataclass(frozen=True, eq=False)
class Along:
    """A program an instant further in one direction: values, tangents, and what is decided there."""

    run: Run
    tangents: Mapping[int, Any]
    decisions: Mapping[int, Array]  # the discrete nodes that differ from what was recorded
    unresolved: tuple[int, ...]  # decisions that tie in their tangents too, and were not looked at further

    def value(self, output: int) -> Any:
        return self.run.values[output]

    def slope(self, output: int) -> Any:
        """The one-sided derivative of an output in the direction."""
        slope = self.tangents.get(output)
        return self.run.m.zeros(self.run.program[output].shape) if slope is None else slope


@dataclass(frozen=True)
class Resolving:
    """Which ties are resolved and how; all others stay as recorded."""

    nodes: frozenset[int] | None = None  # all decisions, if None
    clear_only: bool = False  # what is surely a tie, not what may be one
    lean: float = 0.0  # 1 or -1: ties that the tangents leave open fall to one side or the other


ALL_TIES = Resolving()


@dataclass
class _Sweep:
    """What a sweep has worked out so far."""

    run: Run
    values: dict[int, Any]
    direction: Mapping[int, Array]
    base: Mapping[int, Decision]
    resolving: Resolving
    moving: set[int]
    ahead: _Ahead | None
    tangents: dict[int, Any] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)  # nodes that may differ from the recorded run
    unresolved: list[int] = field(default_factory=list)


@dataclass
class _Ahead:
    """The same program at the point one step ahead."""

    m: Arithmetic
    still: Policy  # what stays as it is at the point
    values: dict[int, Any] = field(default_factory=dict)


def directional(
    program: Program,
    direction: Mapping[int, Array],
    domain: Any,
    base: Mapping[int, Decision] | None = None,
    resolving: Resolving = ALL_TIES,
) -> Along:
    """Values and one-sided slopes of all nodes when the inputs start to move in `direction` (id to array).

    `base` are the margins of the recorded run, if known. Ties that the tangents leave open are looked at one
    step ahead, unless nothing depends on them or the program is too large for that.
    """
    m = Arithmetic(domain)
    if base is None:
        base = {decision.node: decision for decision in margins(run(m, program))}

    moving = moving_nodes(program)

    def sweep(lean: float = resolving.lean, ahead: _Ahead | None = None) -> Along:
        values: dict[int, Any] = {}
        how = replace(resolving, lean=lean)
        return _swept(_Sweep(Run(program, m, values), values, direction, base, how, moving, ahead))

    along = sweep()
    if not along.unresolved or entry_count(program) > MAX_NUMBERS:
        return along
    ways = [sweep(lean=1.0), sweep(lean=-1.0)]
    # As recorded is a third way: two numbers that are equal here may part on both sides, or nowhere. A slope of zero
    # that hides an unbounded one is like no other: the angle between equal vectors is not flat, though its cosine is.
    hides = any(absorbed(way.run, tuple(direction)) for way in (*ways, along))
    if not hides and all(_lead_to_the_same(ways[0], other) for other in (ways[1], along)):
        return ways[0]
    further = Arithmetic(BallDomain(STEP_BITS))
    return sweep(ahead=_Ahead(further, Policy(inputs=held(further, program))))


def _lead_to_the_same(one: Along, other: Along) -> bool:
    """Whether values and slopes of all outputs are equal, as far as can be seen."""
    m = one.run.m
    with m.domain.active():
        return all(
            bool((np.abs(a - b) <= a_rad + b_rad).all())
            for output in one.run.program.outputs
            for (a, a_rad), (b, b_rad) in (
                (m.domain.leave(one.value(output)), m.domain.leave(other.value(output))),
                (m.domain.leave(one.slope(output)), m.domain.leave(other.slope(output))),
            )
        )


def _swept(sweep: _Sweep) -> Along:
    program = sweep.run.program
    for node in program.nodes:
        tick()
        if node.is_discrete and node.inputs and node.op != "item":
            _sweep_discrete(sweep, node)
        else:
            _sweep_real(sweep, node)
    overrides = {id: sweep.values[id] for id in sweep.changed if program[id].is_discrete}
    return Along(sweep.run, sweep.tangents, overrides, tuple(sweep.unresolved))


def _sweep_real(sweep: _Sweep, node: Node) -> None:
    m = sweep.run.m
    if any(id in sweep.changed for id in node.inputs):
        sweep.changed.add(node.id)
    with m.domain.active():
        sweep.values[node.id] = evaluate(m, node, sweep.values, Policy())
        tangent = push_node(sweep.run, node, sweep.tangents)
        if node.id in sweep.direction:
            tangent = m.literal(np.asarray(sweep.direction[node.id]))
    if tangent is not None:
        sweep.tangents[node.id] = tangent
    if sweep.ahead is not None:
        _step_ahead(sweep.ahead, sweep, node)


def _step_ahead(ahead: _Ahead, sweep: _Sweep, node: Node) -> None:
    with ahead.m.domain.active():
        y = evaluate(ahead.m, node, ahead.values, ahead.still)
        if node.id in sweep.direction:
            y = ahead.m.add(y, ahead.m.mul(ahead.m.literal(np.asarray(sweep.direction[node.id])), STEP))
        ahead.values[node.id] = y


def _sweep_discrete(sweep: _Sweep, node: Node) -> None:
    """Recorded, unless something it depends on has changed or it is at a tie that is to be resolved."""
    program, m = sweep.run.program, sweep.run.m
    touched = any(id in sweep.changed for id in node.inputs)
    with m.domain.active():
        recorded = evaluate(m, node, sweep.values, Policy())
        y = recorded
        op = TABLE.get(node.op)
        if op is not None and touched and all(program[id].is_discrete for id in node.inputs):
            y = evaluate(m, node, sweep.values, Policy(redecide=True))
        elif op is not None and op.is_decision and can_switch(program, node) and node.id in sweep.base:
            y = _decided(sweep, node, op, recorded, touched)
    y = np.asarray(y, np.asarray(recorded).dtype)
    if not np.array_equal(y, recorded):
        sweep.changed.add(node.id)
    sweep.values[node.id] = y
    if sweep.ahead is not None:
        sweep.ahead.values[node.id] = y


def _decided(sweep: _Sweep, node: Node, op: Op, y: Any, touched: bool) -> Any:
    m, base = sweep.run.m, sweep.base[node.id]
    xs = [sweep.values[id] for id in node.inputs]
    decision = base
    # A number compared with itself, or with what stands still as it does, stays so on whatever side of other ties.
    settled = np.isposinf(base.margin)
    if touched:
        # What a jump upstream has overturned is decided anew; what rounding had overturned before stays.
        overturned = assess(m, node, y, xs, sweep.moving).flips & ~base.flips & ~settled
        y = np.where(overturned, getattr(m, node.op)(*xs, **node.params), y)
        decision = assess(m, node, y, xs, sweep.moving)
    tied = (decision.ties if sweep.resolving.clear_only else decision.ties | decision.is_unclear) & ~settled
    moved = any(id in sweep.tangents for id in node.inputs)
    nodes = sweep.resolving.nodes
    if (nodes is not None and node.id not in nodes) or not moved or not tied.any():
        return y
    return _resolved(sweep, node, op, y, tied)


def _resolved(sweep: _Sweep, node: Node, op: Op, y: Any, tied: Array) -> Any:
    """The decision just ahead, at the entries that tie."""
    enclosures = [bounds(sweep.run.m, sweep.values[id]) for id in node.inputs]
    rates = [_rates(sweep, id) for id in node.inputs]
    tied = _whole_orders(node, op, enclosures[0][0], tied)
    xs = snapped(node, op, enclosures, tied)
    assert op.decide_near is not None
    xs_dot = [rate for rate, _ in rates]
    near = np.where(tied, op.decide_near(y, xs, xs_dot, **node.params), y)
    noise = nudges(rates, [id in sweep.tangents for id in node.inputs])
    either = [
        op.decide_near(y, xs, [rate + sign * part for rate, part in zip(xs_dot, noise)], **node.params)
        for sign in (1.0, -1.0)
    ]
    differ = (either[0] != either[1]) | (either[0] != near)
    unsettled = _whole_orders(node, op, enclosures[0][0], tied & differ)
    if not unsettled.any():
        return near
    if sweep.resolving.lean:
        return np.where(unsettled, either[0 if sweep.resolving.lean > 0.0 else 1], near)
    if sweep.ahead is None:
        sweep.unresolved.append(node.id)
        return near
    # Numbers that tie one step ahead too are the same function: they leave the decision as it is.
    with sweep.ahead.m.domain.active():
        there = [sweep.ahead.values[id] for id in node.inputs]
        apart = gaps(sweep.ahead.m, node, op, there, enclosures, tied)
    return np.where(unsettled, op.decide_near(y, xs, apart, **node.params), near)


def _whole_orders(node: Node, op: Op, x: Array, tied: Array) -> Array:
    """An order is resolved as a whole, so that it stays an order."""
    if op.compares != "line" or tied.ndim != x.ndim or "axis" not in node.params:
        return tied
    return np.broadcast_to(tied.any(axis=node.params["axis"], keepdims=True), tied.shape)


def _rates(sweep: _Sweep, id: int) -> tuple[Array, Array]:
    if id not in sweep.tangents:
        still = np.zeros(np.shape(sweep.values[id]))
        return still, still
    rate, radius = sweep.run.m.domain.leave(sweep.tangents[id])
    # An unbounded slope leads nowhere that could be compared: left open, it is looked at one step ahead.
    known = np.isfinite(rate) & np.isfinite(radius)
    return np.where(known, rate, 0.0), np.where(known, radius, 0.0)
