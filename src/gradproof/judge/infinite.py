"""Infinite constants: masks of minus infinity, logarithms of zero that do not depend on the inputs.

No real number is infinite, so exact arithmetic has no meaning for them, and yet they are the usual way to exclude an
entry from a softmax or a maximum. What is meant is the limit: a number so large that it makes no difference how
large. The program is judged with two such numbers in the place of infinity; what both lead to counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.engine.refine import Enclosure
from gradproof.engine.run import Run, run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Node, Program, descendants, prune
from gradproof.ir.types import Array
from gradproof.judge.filled_nodes import with_fillers
from gradproof.judge.reference import Evidence, Reference

# So large that exp of its negative, and its reciprocal, vanish beside every number of a program; and so far apart that
# what depends on the size shows it. Their squares are finite in float64.
STAND_INS = (2.0**300, 2.0**400)
EXACT_BITS = 128  # enough to tell an overflow from an infinity
SAME = 2.0**-100  # what two gradients may differ by, relative to the largest entry: 1/inf is not quite 0

INFINITE_CONSTANT = "a constant of the function is infinite, which no real number is"
INFINITE_TARGET = "the target itself is infinite, by a constant that is, and what is infinite has no slope"


def with_stand_ins(evidence: Evidence) -> tuple[Evidence, ...]:
    """The evidence once for every stand-in; empty if no constant is infinite, or an input itself is."""
    program = evidence.program
    if any(_is_infinite(program[id]).any() for id in evidence.wrt):
        return ()
    fixed = _fixed_infinities(program, evidence.wrt)
    if not fixed:
        return ()
    whole = evidence.gradient_program
    also = () if whole is None else _fixed_infinities(whole, evidence.wrt)
    return tuple(
        replace(
            evidence,
            program=_replaced(program, fixed, size),
            gradient_program=None if whole is None else _replaced(whole, also, size),
        )
        for size in STAND_INS
    )


def agree(one: Enclosure | None, other: Enclosure | None) -> bool:
    """Whether it made no difference which stand-in was taken."""
    if one is None or other is None:
        return one is other
    if not (one.is_bounded and other.is_bounded):
        return one.is_bounded == other.is_bounded
    scale = float(np.max(np.abs(other.mid), initial=0.0))
    return bool((np.abs(one.mid - other.mid) <= one.rad + other.rad + SAME * scale).all())


def is_infinite(one: Reference | None, other: Reference | None) -> bool:
    """Whether the target itself depends on which stand-in was taken, and so is infinite in truth."""
    if one is None or other is None:
        return False
    (first, its_error), (last, last_error) = _target(one.run), _target(other.run)
    return bool((np.abs(first - last) > its_error + last_error + SAME * np.abs(last)).any())


def _target(result: Run) -> tuple[Array, Array]:
    with result.m.domain.active():
        middle, radius = result.m.domain.leave(result.outputs()[0])
        return middle, radius


def _fixed_infinities(program: Program, wrt: Sequence[int]) -> tuple[int, ...]:
    """Nodes that are infinite somewhere, in truth as in the run, and do not depend on what is differentiated for."""
    moving = descendants(program, wrt)
    found = [node for node in program.nodes if node.id not in moving and bool(_is_infinite(node).any())]
    leaves = tuple(node.id for node in found if node.op in ("constant", "input"))
    computed = [node for node in found if node.id not in leaves]
    if not computed:
        return leaves
    try:
        exact = run(BallDomain(EXACT_BITS), prune(program, [node.id for node in computed]))
    except GradproofError:
        return leaves
    # What only overflowed is a number, and exact arithmetic knows it.
    return (*leaves, *(node.id for node in computed if not _has_value(exact.values[node.id], node)))


def _has_value(balls: Array, node: Node) -> bool:
    return all(ball.is_finite() for ball in np.asarray(balls, object)[_is_infinite(node)].reshape(-1))


def _is_infinite(node: Node) -> Array:
    known = node.value is not None and not isinstance(node.value, tuple) and types.is_real(node.dtype)
    return np.isinf(np.asarray(node.value)) if known else np.zeros((), bool)


def _replaced(program: Program, fixed: Sequence[int], size: float) -> Program:
    """The stand-in where a node is infinite, the node itself elsewhere."""
    signs = {id: np.sign(np.asarray(program[id].value, np.float64)) for id in fixed}
    return with_fillers(program, {id: (_is_infinite(program[id]), signs[id] * size) for id in fixed})
