"""A derivative rule taken out of its program: what it returns and what is right, at any point and upstream."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import Edit, pull_back
from gradproof.engine.refine import Enclosure, entry_count
from gradproof.engine.run import Policy, Run, run
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.ops import Arithmetic

EXACT_BITS = 256  # differences of neighbouring slopes are taken, which costs half of them
N_ELSEWHERE = 3  # points nearby at which a rule is tried
CHEAP_ENTRIES = 20_000  # up to so many numbers `arb` answers at once; beyond, float64 balls do


@dataclass(frozen=True, eq=False)
class Point:
    """Where a rule is tried: values of its inputs and of its upstream gradient.

    `shift` is added to the inputs in the arithmetic of the trial, so that it may be far below their spacing.
    """

    inputs: tuple[Array, ...]
    upstream: tuple[Array, ...]
    shift: tuple[Array, ...] = ()


@dataclass(frozen=True, eq=False)
class Reading:
    """One trial: per input what the rule returned (None: nothing), what is right, and their difference."""

    point: Point
    meant: tuple[Enclosure | None, ...]
    true: tuple[Enclosure, ...]
    difference: tuple[Enclosure | None, ...]
    decisions: tuple[Array, ...] = ()

    @property
    def is_finite(self) -> bool:
        known = [*self.true, *(part for part in self.meant if part is not None)]
        return all(part.is_bounded and bool(np.isfinite(part.mid).all()) for part in known)


@dataclass(frozen=True, eq=False)
class HandWrittenRule:
    """A piece of a program from `inputs` to `outputs`, and the nodes `results` that claim to be its pullback.

    `upstream` are the nodes with the gradients of the outputs. A gradient written by hand has none: it answers
    for a function with one number as its result, whose own gradient is 1.
    """

    program: Program
    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    upstream: tuple[int, ...]
    results: tuple[int | None, ...]

    @property
    def has_upstream(self) -> bool:
        return bool(self.upstream)

    @cached_property
    def here(self) -> Point:
        """The point at which the program used the rule."""
        ups = tuple(_floats(self.program[id]) for id in self.upstream)
        return Point(tuple(_floats(self.program[id]) for id in self.inputs), ups or self._ones)

    @property
    def _ones(self) -> tuple[Array, ...]:
        return tuple(np.ones(self.program[id].shape) for id in self.outputs)

    @cached_property
    def ends(self) -> tuple[int, ...]:
        return (*self.outputs, *(id for id in self.results if id is not None))

    @cached_property
    def piece(self) -> Program:
        """The nodes from the inputs and the upstream gradient to the outputs and the results.

        What does not follow from the inputs is a constant with the value it had.
        """
        start = {*self.inputs, *self.upstream}
        moving = _followers(self.program, start)
        wanted = needed(self.program, self.ends, lambda id: id in start or id not in moving)
        nodes = [node for node in self.program.nodes if node.id in wanted]
        still = [
            replace(n, op="constant", inputs=()) if n.id in start or n.id not in moving else n for n in nodes
        ]
        return Program(tuple(still), tuple(dict.fromkeys((*self.inputs, *self.upstream))), self.ends)

    @cached_property
    def forward(self) -> Program:
        """The part of the piece that computes the outputs."""
        wanted = needed(self.piece, self.outputs, lambda id: False)
        return replace(
            self.piece, nodes=tuple(n for n in self.piece.nodes if n.id in wanted), outputs=self.outputs
        )

    @cached_property
    def decisions(self) -> tuple[Node, ...]:
        """The discrete nodes of the forward that depend on its inputs."""
        return tuple(n for n in self.forward.nodes if n.is_discrete and n.op not in ("constant", "input"))

    @cached_property
    def uses_upstream(self) -> bool:
        """Whether some result was computed from the upstream gradient."""
        wanted = needed(self.piece, [id for id in self.results if id is not None], lambda id: False)
        return bool(wanted & set(self.upstream))

    @cached_property
    def uses_inputs(self) -> bool:
        """Whether the results were computed from the inputs; a slope kept as a plain number is frozen."""
        wanted = needed(
            self.piece, [id for id in self.results if id is not None], lambda id: id in self.upstream
        )
        return bool(wanted & set(self.inputs))

    @cached_property
    def is_followed(self) -> bool:
        """Whether the results were computed in sight of the record; bare constants have come from outside."""
        return all(
            self.piece[id].op != "constant" or id in self.piece.inputs
            for id in self.results
            if id is not None
        )


def read(rule: HandWrittenRule, point: Point, exact: bool = False, edit: Edit | None = None) -> Reading:
    """One trial. Exact ones take the decisions as they were; others, in float64, decide anew."""
    m = Arithmetic(_exact_domain(rule) if exact else Ieee("float64"))
    result = run(m, rule.piece, Policy(inputs=_entered(m, rule, point), redecide=not exact))
    true = _true(rule, result, point, edit)
    with m.domain.active():
        meant = [None if id is None else result.values[id] for id in rule.results]
        apart = [None if part is None else m.sub(part, t) for part, t in zip(meant, true)]
        return Reading(
            point,
            tuple(None if part is None else Enclosure(*m.domain.leave(part)) for part in meant),
            tuple(Enclosure(*m.domain.leave(part)) for part in true),
            tuple(None if part is None else Enclosure(*m.domain.leave(part)) for part in apart),
            tuple(np.asarray(result.values[node.id]) for node in rule.decisions),
        )


def outputs_at(rule: HandWrittenRule, point: Point) -> tuple[Run, tuple[Any, ...]]:
    """The results of the forward at a point, in exact arithmetic, as numbers of the domain."""
    m = Arithmetic(_exact_domain(rule))
    result = run(m, rule.forward, Policy(inputs=_entered(m, rule, point)))
    return result, tuple(result.values[id] for id in rule.outputs)


def _exact_domain(rule: HandWrittenRule) -> Any:
    return BallDomain(EXACT_BITS) if entry_count(rule.piece) <= CHEAP_ENTRIES else BallDomain64()


def _entered(m: Arithmetic, rule: HandWrittenRule, point: Point) -> dict[int, Any]:
    values = {id: m.literal(array) for id, array in zip(rule.inputs, point.inputs)}
    with m.domain.active():
        for id, shift in zip(rule.inputs, point.shift):
            values[id] = m.add(values[id], m.literal(shift))
    return values | {id: m.literal(array) for id, array in zip(rule.upstream, point.upstream)}


def _true(rule: HandWrittenRule, result: Run, point: Point, edit: Edit | None) -> list[Any]:
    m = result.m
    seeds: dict[int, Any] = {}
    for id, array in zip(rule.outputs, point.upstream):
        seed = m.literal(array)
        seeds[id] = seed if id not in seeds else m.add(seeds[id], seed)
    # Only the forward: what the rule itself computed from the inputs has no part in the derivative.
    found = pull_back(Run(rule.forward, m, result.values), seeds, rule.inputs, edit=edit)
    return [found.get(id, m.zeros(rule.program[id].shape)) for id in rule.inputs]


def _floats(node: Node) -> Array:
    return np.asarray(node.value, np.complex128 if np.iscomplexobj(node.value) else np.float64)


def _followers(program: Program, start: set[int]) -> set[int]:
    """Everything computed from `start`, also through decisions: a trial may decide anew."""
    reached = set(start)
    for node in program.nodes:
        if any(id in reached for id in node.inputs):
            reached.add(node.id)
    return reached


def needed(program: Program, ends: Sequence[int], stops: Callable[[int], bool]) -> set[int]:
    """The nodes that `ends` were computed from, not looking behind those that stop it."""
    found: set[int] = set()
    pending = list(ends)
    while pending:
        id = pending.pop()
        if id not in found:
            found.add(id)
            pending.extend(() if stops(id) else program[id].inputs)
    return found


@dataclass(frozen=True, eq=False)
class Trials:
    """A rule at the point of its use, exactly, and at others around it, in float64.

    `other_upstream` are at the same inputs; `elsewhere` have both moved. A rule whose slope is frozen has
    nothing to say elsewhere.
    """

    here: Reading
    other_upstream: tuple[Reading, ...] = ()
    elsewhere: tuple[Reading, ...] = field(default_factory=tuple)


def try_out(rule: HandWrittenRule) -> Trials:
    """The trials from which a mistake is read off; always the same ones for the same rule."""
    rng = np.random.default_rng(0)
    here = read(rule, rule.here, exact=True)
    ups = [_random_upstream(rule, rng) for _ in range(2)] if rule.has_upstream else []
    others = tuple(read(rule, Point(rule.here.inputs, up)) for up in ups)
    elsewhere = []
    for _ in range(N_ELSEWHERE if rule.uses_inputs else 0):
        up = _random_upstream(rule, rng) if rule.has_upstream else rule.here.upstream
        moved = tuple(moved_near(array, rng) for array in rule.here.inputs)
        elsewhere.append(read(rule, Point(moved, up)))
    return Trials(
        here,
        tuple(reading for reading in others if reading.is_finite),
        tuple(reading for reading in elsewhere if reading.is_finite),
    )


def _random_upstream(rule: HandWrittenRule, rng: np.random.Generator) -> tuple[Array, ...]:
    return tuple(
        rng.uniform(0.5, 1.5, array.shape) * rng.choice([-1, 1], array.shape) for array in rule.here.upstream
    )


def moved_near(array: Array, rng: np.random.Generator) -> Array:
    """Another point nearby, far enough that no formula looks like another one by chance."""
    size = np.abs(array).max(initial=0.0) or 1.0
    step = 0.125 * rng.uniform(0.5, 1.0, array.shape) * rng.choice([-1, 1], array.shape)
    return np.asarray(array + step * (0.5 * np.abs(array) + 0.05 * size))
