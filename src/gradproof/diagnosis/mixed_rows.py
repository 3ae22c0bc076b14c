"""Jacobians example by example, of a function whose examples depend on each other: the op that mixes them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.engine.linearise import pull_back
from gradproof.engine.rounding import recorded_run
from gradproof.engine.run import Run
from gradproof.errors import GradproofError
from gradproof.ir.capture import Capture
from gradproof.ir.program import Node, descendants

MOST_NODES = 400  # each is asked once; in a longer program only that examples are mixed is said


def mixing_ops(capture: Capture) -> Iterator[Node | None]:
    """The first op that mixes examples, None where it is not looked for; nothing where no op does."""
    copies = capture.copies
    if copies is None or copies.rows_of is None:
        return
    program, source = copies.of, copies.rows_of
    try:
        at, moving = recorded_run(program), descendants(program, [source])
        if not _mixes(at, program[program.outputs[0]], source):
            return
        nodes = [node for node in program.nodes if node.id in moving and node.id != source]
        if len(nodes) > MOST_NODES:
            yield None
            return
        yield next((node for node in nodes if _mixes(at, node, source)), None)
    except GradproofError:
        return


def _mixes(at: Run, node: Node, source: int) -> bool:
    """Whether one entry of a node depends on more than one example."""
    if node.dtype == "tuple" or not np.size(node.value):
        return False
    seed = np.zeros(node.shape)
    seed.flat[0] = 1.0
    found = pull_back(at, {node.id: at.m.literal(seed)}, {source}).get(source)
    if found is None:
        return False
    rows = np.asarray(found).reshape(np.shape(found)[0], -1)
    return int(np.count_nonzero(np.any(rows != 0.0, axis=1))) > 1
