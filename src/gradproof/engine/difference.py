"""The slope of a program along a direction, found without any derivative rule.

The forward program alone is evaluated a step beside the point on both sides, in so many digits that the
difference keeps more of them than any dtype has. Decisions stay as taken and what is behind a stopped gradient stays
where it is, so that the function is the one whose derivative a gradient claims to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import acb, arb

from gradproof.clock import tick
from gradproof.domains.ball import BallDomain
from gradproof.engine.run import Policy, evaluate
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.types import Array
from gradproof.ops import Arithmetic

# A step of 2**-STEP_BITS: the slope is then right to about twice as many bits, and BITS leave it that many.
STEP_BITS = 110
BITS = 2 * STEP_BITS + 64
SMALLEST = 128  # steps follow the inputs down to 2**-SMALLEST, the least numbers of float32
FURTHER = 24  # how much smaller, in bits, the step is that tells a slope from what is left of a curve


@dataclass(frozen=True)
class AlongDirection:
    """A program with what moves it: a direction, the nodes that stay, and the decisions that were taken."""

    program: Program
    direction: Mapping[int, Array]
    decisions: Mapping[int, Any]

    def holds(self, node: Node) -> bool:
        """Whether a node stays though what it is computed from moves; a source that was made so moves itself."""
        return node.op == "stop_gradient" and node.id not in self.direction

    @property
    def shrink(self) -> int:
        """How many bits smaller the steps must be, since the smallest number that is moved is so small."""
        least = 1.0
        for id, direction in self.direction.items():
            x, d = np.abs(np.asarray(self.program[id].value, np.complex128)), np.abs(direction)
            moved = (x > 0.0) & (d > 0.0) & np.isfinite(x)
            least = min(least, float(np.min(x[moved] / d[moved], initial=1.0)))
        return int(min(max(0.0, -np.log2(max(least, 2.0**-SMALLEST))), SMALLEST))


def slope(along: AlongDirection, further: bool = False) -> arb:
    """That of an output of one number."""
    return slopes(along, further)[0]


def slopes(along: AlongDirection, further: bool = False) -> list[arb]:
    """Half the difference of the output's real part over one step, by entry; unbounded where a side has no value."""
    shrink = along.shrink
    step_bits = STEP_BITS + shrink + (FURTHER if further else 0)
    m = Arithmetic(BallDomain(BITS + shrink + 2 * FURTHER))
    with m.domain.active():
        still = _still(m, along)
        step = arb(2) ** -step_bits
        sides = [_output(m, along, still, sign * step) for sign in (1, -1)]
        return [(_real(one) - _real(other)) / (2 * step) for one, other in zip(*sides)]


def _moving(along: AlongDirection) -> list[Node]:
    program = along.program
    active = descendants(program, along.direction) & ancestors(program, program.outputs)
    return [node for node in program.nodes if node.id in active]


def _still(m: Arithmetic, along: AlongDirection) -> dict[int, Any]:
    """What does not move: everything that the direction does not reach, and what a stopped gradient holds."""
    program, policy = along.program, Policy(decisions=along.decisions)
    moving = {node.id for node in _moving(along)}
    stops = [node.id for node in program.nodes if node.id in moving and along.holds(node)]
    needed = ancestors(program, program.outputs)
    held = ancestors(program, stops) if stops else set()
    values: dict[int, Any] = {}
    for node in program.nodes:
        if node.id in needed and (node.id not in moving or node.id in held):
            tick()
            values[node.id] = evaluate(m, node, values, policy)
    return {id: value for id, value in values.items() if id not in moving or id in stops}


def _output(m: Arithmetic, along: AlongDirection, still: Mapping[int, Any], step: arb) -> Array:
    policy = Policy(decisions=along.decisions)
    values = dict(still)
    for node in _moving(along):
        if along.holds(node):
            continue
        tick()
        y = evaluate(m, node, values, policy)
        if node.id in along.direction:
            y = np.asarray(y + step * m.domain.enter(along.direction[node.id]), dtype=object)
        values[node.id] = y
    return np.asarray(values[along.program.outputs[0]], dtype=object).reshape(-1)


def _real(entry: Any) -> arb:
    return entry.real if isinstance(entry, acb) else entry


def random_direction(rng: np.random.Generator, node: Node, sizes: Array) -> Array:
    """Dyadic numbers of about the given sizes, so that moving along them is exact and every entry moves."""

    def draw() -> Array:
        parts = rng.integers(2**10, 2**11, node.shape) * rng.choice([-1.0, 1.0], node.shape) * 2.0**-11
        return np.asarray(np.ldexp(parts, np.asarray(np.round(np.log2(sizes)), np.int64)))

    return draw() + 1j * draw() if types.is_complex(node.dtype) else draw()
