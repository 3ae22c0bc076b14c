"""The user's own run, where no mode returns its bits: what was recorded of it, and where it parts from the modes.

A framework may compute several ops in one piece: a kernel of its own, or a function that it compiles by itself. Then
only what the piece returned was seen; what stands for its inner steps was computed by NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from gradproof.diagnosis.parting import Parting, Whose
from gradproof.domains.ieee import Ieee
from gradproof.errors import GradproofError
from gradproof.ir.capture import Capture
from gradproof.ir.program import Node, Program, prune
from gradproof.ir.types import Array
from gradproof.modes.feed import Feed
from gradproof.modes.model import Mode, NotRun
from gradproof.modes.op_seen import number_shown
from gradproof.modes.parting import TwoRuns
from gradproof.modes.rows import Returned, same_bits
from gradproof.modes.run_errors import Values
from gradproof.ops import Arithmetic

AS_IT_RAN = "as it ran"
ONE_PIECE = (
    "in your run this was computed in one piece with the ops before it, or by another function of the framework, which "
    "rounds in other places"
)
_UNCHANGED = ("identity", "reshape", "cast")  # a cast within one dtype


def own_run(capture: Capture) -> Mode:
    """A mode that knows what each op of the gradient returned in the user's run, and can run nothing else."""
    name = f"{capture.run.mode}, {AS_IT_RAN}"
    program = capture.gradient_program
    known = {} if program is None else returned(program)
    return Mode(capture.framework, name, partial(_values, known), _gradient, title=AS_IT_RAN)


def returned(program: Program) -> dict[int, Array]:
    """What each op returned; of a piece that was compiled by itself the last op has what the piece returned."""
    known = {
        node.id: np.asarray(node.value)
        for node in program.nodes
        if node.value is not None and not isinstance(node.value, tuple)
    }
    for node in reversed(program.nodes):
        if node.op in _UNCHANGED and node.id in known and node.inputs[0] in known:
            before = known[node.inputs[0]]
            if before.dtype == known[node.id].dtype:
                known[node.inputs[0]] = known[node.id].reshape(before.shape)
    return known


def own_parting(program: Program, single: Values, known: Values, output: int) -> tuple[Parting, ...]:
    """The first result that was seen in the user's run and is another op by op."""
    own = prune(program, [output])
    for node in own.nodes:
        if node.id not in single or node.id not in known or not node.inputs:
            continue
        if not same_bits(single[node.id], known[node.id]) and _is_seen(own, node, known):
            return (_parting(own, node, single, known),)
    return ()


def _is_seen(program: Program, node: Node, known: Values) -> bool:
    """Whether a value is the framework's: NumPy would have made another one of what went in."""
    inputs = [known.get(id, program[id].value) for id in node.inputs]
    m = Arithmetic(Ieee())
    try:
        with np.errstate(all="ignore"), m.domain.active():
            computed = getattr(m, node.op)(*map(m.literal, inputs), **node.params)
    except (GradproofError, ValueError, TypeError, FloatingPointError, AttributeError):
        return False
    return not same_bits(np.asarray(computed), known[node.id])


def _parting(program: Program, node: Node, single: Values, known: Values) -> Parting:
    found = TwoRuns(program, single, known, "").parting(node)
    if all(same_bits(single[id], known[id]) for id in node.inputs if id in single and id in known):
        return found
    value = number_shown(np.asarray(single[node.id]), found.index, node.dtype)
    return replace(found, inputs=(), exact="", single=value, whose=Whose("one-piece", ONE_PIECE))


def _values(known: dict[int, Array], feed: Feed, outputs: Sequence[int]) -> list[Array]:
    if any(id not in known for id in outputs):
        raise NotRun("not every op of the run was recorded")
    return [known[id] for id in outputs]


def _gradient(feed: Feed, target: int, wrt: Sequence[int]) -> Returned:
    raise NotRun("the user's program is not run again")
