"""How large the terms are that a gradient is the sum of.

A true gradient of zero that is a sum of terms of size 1 (the bias before a batch normalisation, say) can only be
found up to rounding of those terms; this is what its error has to be measured against.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import input_gradient, pull_back
from gradproof.engine.run import Run
from gradproof.ir.program import Node
from gradproof.ops import TABLE, Arithmetic

Array = np.ndarray[Any, Any]


def term_sizes(result: Run, wrt: Sequence[int]) -> list[Array]:
    """For each of `wrt`, the sum of the sizes of what its consumers send back, entry by entry."""
    program = result.program
    wanted = set(wrt)
    plain = Arithmetic(Ieee("float64"))
    totals = {id: np.zeros(program[id].shape) for id in wrt}

    def note(node: Node, index: int, gy: Any, gx: Any) -> None:
        source = node.inputs[index]
        if source in wanted:
            totals[source] = totals[source] + _size(result, plain, node, index, gy, gx)

    seeds = {program.outputs[0]: result.m.literal(np.ones(program[program.outputs[0]].shape))}
    pull_back(result, seeds, wrt, watcher=note)
    return [totals[id] for id in wrt]


def _size(result: Run, plain: Arithmetic, node: Node, index: int, gy: Any, gx: Any) -> Array:
    """|gx|, or for rules that sum over entries, the same sum over sizes."""
    op = TABLE[node.op]
    if op.linear is None or isinstance(gy, tuple):
        return np.abs(_mid(result, gx))
    xs = [np.abs(_mid(result, result.values[id])) if not _is_discrete(result.values[id]) else result.values[id] for id in node.inputs]
    with plain.domain.active():
        size = input_gradient(plain, node, index, np.abs(_mid(result, gy)), np.abs(_mid(result, result.values[node.id])), xs)
    return np.abs(np.asarray(size, np.float64))


def _is_discrete(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "biu"


def _mid(result: Run, x: Any) -> Array:
    mid = result.m.domain.leave(x)[0]
    return np.abs(mid) if np.iscomplexobj(mid) else mid
