"""The value witness of decisions: what was decided is what the decision means, on the numbers it had.

A decision is followed as it was taken, so a lowering that means another one changes no value behind it. It shows on the
recorded numbers alone, where a comparison has no rounding: what exact arithmetic decides otherwise from the inputs of
the program on is another matter, of which `branch-flip` tells.
"""

from __future__ import annotations

import numpy as np

from gradproof.clock import tick
from gradproof.domains.ball64 import BallDomain64
from gradproof.domains.ieee import Ieee
from gradproof.engine.allowance import share, smallest
from gradproof.engine.margins import assess, can_switch
from gradproof.engine.run import decisions
from gradproof.engine.value_witness import Misread
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, Program, ancestors
from gradproof.ir.types import Array
from gradproof.ops import Arithmetic

_AS_IS, _BALLS = Arithmetic(Ieee()), Arithmetic(BallDomain64())


def misdecided(program: Program) -> Misread | None:
    """The first decision on the way to the outputs that is not what its meaning gives."""
    reaches = ancestors(program, program.outputs)
    for node in decisions(program):
        if node.id in reaches and can_switch(program, node):
            tick()
            found = _at(program, node)
            if found is not None:
                return found
    return None


def _at(program: Program, node: Node) -> Misread | None:
    decided = np.asarray(node.value)
    values = [np.asarray(program[id].value) for id in node.inputs]
    try:
        with _AS_IS.domain.active():
            meant = np.asarray(getattr(_AS_IS, node.op)(*map(_AS_IS.literal, values), **node.params))
        if meant.shape != decided.shape or np.array_equal(meant, decided):
            return None
        bad = (meant != decided) & _surely_otherwise(node, values)
    except (GradproofError, ValueError, TypeError, ArithmeticError):
        return None  # numbers of another kind, or none: nothing is compared
    if not bad.any():
        return None
    place = tuple(np.argwhere(bad)[0])
    return Misread(node, complex(decided[place]), complex(meant[place]))


def _surely_otherwise(node: Node, values: list[Array]) -> Array:
    """Where another decision is further away than a lowering's own roundings, and the smallest numbers, reach."""
    with _BALLS.domain.active():
        xs = [_BALLS.literal(value) for value in values]
        found = assess(_BALLS, node, np.asarray(node.value), xs, set())
    return np.asarray(
        found.margin < -(found.radius + share(node, values) * found.size + smallest(node, values))
    )
