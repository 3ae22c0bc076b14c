"""Where two modes part inside a framework's own derivative of one op, which the recorded ops do not show.

A framework may have one kernel for the derivative of an op in eager mode and compute another formula where it compiles:
the derivative of `sqrt` at 0 for an upstream gradient of 0 is 0 by the one and NaN by the other. Two frameworks have
formulas of their own for many ops. So the derivative of every op is run by itself, in both modes, on what it had.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from gradproof.clock import tick
from gradproof.diagnosis import words
from gradproof.diagnosis.parting import Parting, Whose
from gradproof.domains.ball import BallDomain
from gradproof.engine.derive import vjp
from gradproof.engine.rounding import LOCAL_BITS
from gradproof.engine.run import run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.capture import Capture
from gradproof.ir.program import Builder, Node, Program, ancestors, descendants
from gradproof.ir.types import Array
from gradproof.modes.model import Mode, NotRun
from gradproof.modes.op_seen import ExactResult, exact_shown, inputs_shown, number_shown
from gradproof.modes.rows import asked_of, gradients_in, gradients_of, same_bits
from gradproof.modes.units import furthest, smallest_normal, unit, wide

MATERIAL = 64.0  # ulp of the largest entry: less is rounding, which needs no rule of its own
MOST_RULES = 60  # each is a program to be compiled
MOST_SLOW = 20  # where that takes seconds

VANISHES = "on the way to the derivative of `{op}` a number leaves the range of {dtype} in this mode, and 0 is returned"

Alone = tuple[Program, list[int]]  # an op as a program of its own, and what it is differentiated for


@dataclass(frozen=True, eq=False)
class RuleSearch:
    """The derivatives of a program's ops, in the order of the backward pass, by `single` and by another mode."""

    capture: Capture
    wrt: Sequence[int]
    single: Mode
    other: Mode
    beside: str = ""  # the framework of `single`, where it is another
    _parts: dict[int, list[Array]] = field(default_factory=dict)

    def found(self) -> tuple[Parting | None, Parting | None]:
        """The first rule that gives something else by more than rounding; and the first that rounds otherwise.

        Where each rule takes seconds, the first that differs at all has to do.
        """
        if self.capture.program is None or len(self._rules) > (
            MOST_SLOW if self.other.is_slow else MOST_RULES
        ):
            return None, None
        nearly: Parting | None = None
        for node, alone in self._alone():
            tick()
            try:
                one, two = (gradients_in(mode, *alone)[1] for mode in (self.single, self.other))
            except NotRun:
                continue
            for k, (a, b) in enumerate(zip(one, two)):
                if a is None or b is None:
                    continue
                self._parts.setdefault(alone[1][k], []).append(a)
                if is_material(a, b):
                    return self._parting(node, alone, k, a, b), nearly
                lost = _vanished(alone, k, a, b)
                if lost is not None:
                    whose = Whose("derivative-rule", VANISHES.format(op=node.op, dtype=types.dtype_name(b)))
                    return replace(self._parting(node, alone, k, a, b, lost), whose=whose), nearly
                if nearly is None and not same_bits(a, b):
                    nearly = self._parting(node, alone, k, a, b)
            if nearly is not None and self.other.is_slow:
                break
        return None, nearly or (self._added() if self.other.is_single else None)

    @property
    def _program(self) -> Program:
        assert self.capture.program is not None
        return self.capture.program

    @cached_property
    def _rules(self) -> list[Node]:
        """The ops between what is differentiated for and the target, the last first."""
        program = self._program
        between = descendants(program, self.wrt) & ancestors(program, program.outputs)
        chosen = [node for node in program.nodes if node.id in between and node.id not in self.wrt]
        return [node for node in reversed(chosen) if node.dtype != types.TUPLE and not node.is_opaque]

    @property
    def _reached(self) -> list[Node]:
        return [*self._rules, *(self._program[id] for id in self.wrt)]

    @cached_property
    def _upstream(self) -> Mapping[int, Array]:
        return upstream_of(self._program, self._reached, self.single)

    def _alone(self) -> Iterator[tuple[Node, Alone]]:
        moving = descendants(self._program, self.wrt)
        for node in self._rules:
            alone = _alone(self._program, node, moving, self._upstream.get(node.id))
            if alone is not None:
                yield node, alone

    def _parting(
        self, node: Node, alone: Alone, k: int, a: Array, b: Array, index: tuple[int, ...] | None = None
    ) -> Parting:
        source = alone[0][alone[1][k]]
        index = furthest(a, b) if index is None else index
        upstream = self._upstream[node.id]
        given = [
            *(
                np.asarray(self._program[id].value)
                for id in node.inputs
                if self._program[id].value is not None
            )
        ]
        place = _largest_there(upstream, source.shape, index)
        shown = [*inputs_shown(node, given, place), f"upstream {_entry(upstream, place)}"]
        return Parting(
            node=node.id,
            op=node.op,
            phase="backward",
            span=node.span,
            dtype=source.dtype,
            index=index,
            inputs=tuple(shown),
            exact=_exact(alone, k, index),
            single=number_shown(a, index, source.dtype),
            other=number_shown(b, index, source.dtype),
            whose=self._whose(node, is_material(a, b)),
            share=None,
            beside=self.beside,
        )

    def _whose(self, node: Node, is_another: bool) -> Whose:
        if is_another:
            text = f"the derivative of `{node.op}` is computed by another formula in this mode"
            return Whose("derivative-rule", text)
        alone = "" if self.other.is_single else ", also when it is compiled by itself"
        text = f"the derivative of `{node.op}` is rounded in other places in this mode{alone}"
        return Whose("derivative-rounding", text)

    def _added(self) -> Parting | None:
        """Every rule returns the same: then the parts that come back to a number are added in another order."""
        other = upstream_of(self._program, self._reached, self.other)
        for node in self._reached:
            one, two = self._upstream.get(node.id), other.get(node.id)
            parts = self._parts.get(node.id, [])
            if one is None or two is None or same_bits(one, two) or len(parts) < 2:
                continue
            index = furthest(one, two)
            numbers = [number_shown(part, index, node.dtype) for part in parts]
            exact = sum(part.astype(np.float64)[index] for part in parts)
            return Parting(
                node.id, "add", "backward", node.span, node.dtype, index, tuple(numbers),
                words.number(float(exact)), number_shown(two, index, node.dtype),
                Whose("sum-order", f"the {len(parts)} parts that come back to it are added in another order"), None,
                number_shown(one, index, node.dtype), self.beside,
            )  # fmt: skip
        return None


def upstream_of(program: Program, nodes: Sequence[Node], mode: Mode) -> dict[int, Array]:
    """The gradient of the target for every node, by one run of the mode: that of a zero which is added to it.

    Minus zero changes no number, not even a zero; and a gradient passes through an addition as it is.
    """
    made, zeros = Builder(), {}
    renamed: dict[int, int] = {}
    made.next_id = max(node.id for node in program.nodes) + 1
    asked = {node.id for node in nodes}
    for node in program.nodes:
        made.nodes.append(replace(node, inputs=tuple(renamed.get(id, id) for id in node.inputs)))
        if node.id in asked and node.value is not None:
            zero = np.full(node.shape, -0.0).astype(types.numpy_dtype(node.dtype))
            zeros[node.id] = made.input(zero)
            renamed[node.id] = made.add("add", node.id, zeros[node.id], dtype=node.dtype, shape=node.shape)
    made.inputs += program.inputs
    try:
        outputs = [renamed.get(id, id) for id in program.outputs]
        fed = asked_of(made.build(outputs), list(zeros.values()))
        # What leads to a decision alone is not needed: decisions are as they were taken.
        led = {id: zero for id, zero in zeros.items() if zero in fed.given}
        found = gradients_of(mode, fed, list(led.values()))[1]
    except (NotRun, GradproofError):
        return {}
    return {id: one for id, one in zip(led, found) if one is not None}


def is_material(a: Array, b: Array) -> bool:
    """More than rounding: small entries of a sum bear the roundings of large ones, in whatever order it is added."""
    x, y = np.asarray(a, np.complex128), np.asarray(b, np.complex128)
    is_finite = np.isfinite(x) & np.isfinite(y)
    if not np.array_equal(np.isfinite(x), np.isfinite(y)):
        return True
    size = np.max(np.abs(x[is_finite]), initial=0.0)
    unit = 2.0 ** (1 - types.precision_bits(types.dtype_name(a))) * size
    return bool(np.max(np.abs(x - y)[is_finite], initial=0.0) > MATERIAL * unit)


def _alone(program: Program, node: Node, moving: set[int], upstream: Array | None) -> Alone | None:
    """The op as a program of its own: the sum of its result times the upstream gradient that it had."""
    needed = {node.id, *_parents(program, node)}
    inputs = {id for id in needed if id != node.id and id in moving and program[id].dtype != types.TUPLE}
    if upstream is None or upstream.shape != node.shape or not inputs:
        return None
    made = Builder()
    for one in program.nodes:
        if one.id not in needed:
            continue
        is_leaf = one.id != node.id and one.dtype != types.TUPLE
        if is_leaf and one.value is None:
            return None
        op = ("input" if one.id in inputs else "constant") if is_leaf else one.op
        made.nodes.append(
            replace(one, op=op, inputs=() if is_leaf else one.inputs, params={} if is_leaf else one.params)
        )
    made.next_id = max(one.id for one in program.nodes) + 1
    made.inputs = sorted(inputs)
    weight = made.constant(upstream)
    product = made.add("mul", node.id, weight, dtype=node.dtype, shape=node.shape)
    axes = tuple(range(len(node.shape)))
    total = made.add("sum", product, params={"axes": axes}, dtype=node.dtype, shape=())
    return made.build([total]), list(made.inputs)


def _parents(program: Program, node: Node) -> set[int]:
    """What an op reads; an op with several results is one with those that take them apart."""
    found = set(node.inputs)
    for id in node.inputs:
        if program[id].dtype == types.TUPLE:
            found |= _parents(program, program[id])
    return found


def _largest_there(upstream: Array, shape: tuple[int, ...], index: tuple[int, ...]) -> tuple[int, ...]:
    """The entry of a result that an entry of an operand reaches; the largest of several, and of all where it is not
    known which."""
    reached = np.zeros(shape, bool)
    reached[index] = True
    size = np.abs(upstream)
    with suppress(ValueError):
        size = np.where(np.broadcast_to(reached, size.shape), size, -1.0)
    return furthest(size, np.full_like(size, -1.0))


def _entry(value: Array, index: tuple[int, ...]) -> str:
    return number_shown(value, index, types.dtype_name(value))


def _vanished(alone: Alone, k: int, a: Array, b: Array) -> tuple[int, ...] | None:
    """An entry that is right in `a` and 0 in `b`, be it small beside others: what follows may multiply it by much.

    The exact value decides: what is left of a sum that cancels may be 0 in one order of adding, and noise in another.
    """
    dtype = types.dtype_name(a)
    if not types.is_real(dtype):
        return None
    one = np.where(wide(b) == 0, wide(a), 0.0)
    index = furthest(one, 0 * one)
    if not abs(one[index]) >= smallest_normal(dtype):
        return None
    exact = _derivative(alone, k)
    if exact is None:
        return None
    off = abs(one[index] - exact.mid[index]) + exact.rad[index]
    return index if off <= MATERIAL * unit(float(one[index]), dtype) else None


def _exact(alone: Alone, k: int, index: tuple[int, ...]) -> str:
    found = _derivative(alone, k)
    if found is None:
        return ""
    return exact_shown(found.mid[index].item(), float(found.rad[index]), found.balls[index])


def _derivative(alone: Alone, k: int) -> ExactResult | None:
    """What the rule gives in exact arithmetic."""
    domain = BallDomain(LOCAL_BITS)
    try:
        with domain.active():
            result = run(domain, alone[0])
            balls = np.asarray(vjp(result, [result.m.literal(np.ones(()))], [alone[1][k]])[0])
            mid, rad = domain.leave(balls)
    except (GradproofError, ValueError, TypeError, ZeroDivisionError, OverflowError):
        return None
    return ExactResult(mid, rad, balls)
