"""Numbers that are zero whatever the inputs are: the distance of a point to itself, written as a sum of products.

`|a|**2 - 2 a.b + |b|**2` is zero where a and b are the same point, and stays so when it moves. Balls around it are
never exactly zero, so that a root of it seems to have any slope. Fingerprints of the same steps on random inputs
prove that it is zero everywhere: with a chance of 2**-61 a computation that is not would have one of zero. Such
entries are constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gradproof.domains.fingerprint import Fingerprint, Residue
from gradproof.engine.run import Policy, run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Node, Program
from gradproof.ir.types import Array
from gradproof.judge.filled_nodes import with_fillers
from gradproof.judge.reference import Evidence

SEED = 61
_CANCELLING = frozenset({"add", "sub", "sum"})  # what can be zero though none of its operands is


def with_zeros_fixed(evidence: Evidence) -> Evidence | None:
    """The evidence with these entries as constants; None where there are none."""
    program = evidence.program
    suspects = [node for node in _undecided(program, evidence.wrt) if _may_vanish(node)]
    if not suspects:
        return None
    rng = np.random.default_rng(SEED)
    inputs = {id: _random(rng, program[id].shape) for id in evidence.wrt}
    try:
        marks = run(Fingerprint(), program, Policy(inputs=inputs))
    except (GradproofError, ArithmeticError, AttributeError):  # an op without fingerprints: nothing is proven
        return None
    fillers = {}
    for node in suspects:
        mask = marks.m.domain.leave(marks.values[node.id])[0] == 0.0
        if mask.any():
            fillers[node.id] = (mask, np.zeros(node.shape))
    return replace(evidence, program=with_fillers(program, fillers)) if fillers else None


def _may_vanish(node: Node) -> bool:
    known = node.value is not None and not isinstance(node.value, tuple) and types.is_real(node.dtype)
    return known and node.op in _CANCELLING


def _undecided(program: Program, wrt: Sequence[int]) -> Iterator[Node]:
    """What moves with the inputs, and no decision that moves with them has a part in, nor anything held still.

    On the other side of a decision other steps are computed, which these fingerprints know nothing of. And x minus
    what `stop_gradient` makes of it is zero everywhere, with a slope of one.
    """
    moving, decided = set(wrt), set[int]()
    for node in program.nodes:
        if not any(id in moving for id in node.inputs):
            continue
        moving.add(node.id)
        if node.is_discrete or node.op == "stop_gradient" or any(id in decided for id in node.inputs):
            decided.add(node.id)
        else:
            yield node


def _random(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    numbers = rng.integers(1, 2**60, shape)
    return np.asarray(np.frompyfunc(lambda one: Residue(int(one)), 1, 1)(numbers), dtype=object).reshape(
        shape
    )
