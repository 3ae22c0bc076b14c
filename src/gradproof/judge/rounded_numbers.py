"""Numbers that a rule is written with, as the 2/3 in the slope of a variance: what their rounding does to a gradient.

They are rounded once, to the dtype of the rule. Where the terms of a gradient cancel, what is left of them may be
mostly that rounding; more precision mends it, so that the rule is right.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.engine.refine import Enclosure, entry_count
from gradproof.engine.run import Policy, run
from gradproof.errors import NotSupported
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.judge.reference import CHEAP_ENTRIES, Reference
from gradproof.ops import Arithmetic

BITS = 256  # differences of neighbouring runs are taken, which costs half of them
MOST_NUMBERS = 64  # each takes a run of its own
# A number of so few binary digits is one that was written, as 2 or 0.75, and not one that was rounded.
SHORT = 12
SAFETY = 2.0  # a quotient of two numbers, each of which was rounded, may be off by both


def by_rounded_numbers(program: Program, outputs: Mapping[int, int], reference: Reference) -> Collection[int]:
    """The sources whose recorded gradient is off by no more than the rounding of its rules' numbers explains."""
    if not outputs or entry_count(program) > CHEAP_ENTRIES:
        return ()
    numbers = _rounded_numbers(program)
    if not numbers or len(numbers) > MOST_NUMBERS:
        return ()
    try:
        plain = _gradients(program, tuple(outputs.values()), None)
        moved = [_gradients(program, tuple(outputs.values()), number) for number in numbers]
    except NotSupported:
        return ()
    return [
        k
        for place, k in enumerate(outputs)
        if _is_explained(plain[place], [one[place] for one in moved], reference.enclosures[k])
    ]


def _is_explained(plain: Array, moved: Sequence[Array], true: Enclosure) -> bool:
    explained = SAFETY * sum(np.abs(one - plain) for one in moved) + true.rad
    return bool(np.all(np.abs(plain - true.mid) <= explained))  # not where one of them is NaN


def _rounded_numbers(program: Program) -> list[Node]:
    """Single numbers of the backward ops that are not whole, short, or numbers of the function itself."""
    own = {abs(number) for node in program.nodes if node.phase == "forward" for number in _number(node)}
    return [
        node
        for node in program.nodes
        if node.phase == "backward"
        for number in _number(node)
        if abs(number) not in own and not _is_short(number)
    ]


def _number(node: Node) -> tuple[float, ...]:
    if node.op != "constant" or not types.is_real(node.dtype) or np.size(node.value) != 1:
        return ()
    number = float(np.reshape(node.value, ()))
    return (number,) if np.isfinite(number) else ()


def _is_short(number: float) -> bool:
    return bool((np.frexp(number)[0] * 2.0**SHORT).is_integer())


def _gradients(program: Program, outputs: Sequence[int], moved: Node | None) -> list[Array]:
    """What the program computes in exact arithmetic, with one number of it moved by as much as rounding may have."""
    m = Arithmetic(BallDomain(BITS))
    with m.domain.active():
        inputs = {} if moved is None else {moved.id: _beside(m, moved)}
        result = run(m, program, Policy(inputs=inputs))
        return [m.domain.leave(result.values[id])[0] for id in outputs]


def _beside(m: Arithmetic, node: Node) -> Any:
    number = m.literal(node.value)
    return m.add(number, m.mul(number, m.literal(np.asarray(types.unit_roundoff(node.dtype)))))
