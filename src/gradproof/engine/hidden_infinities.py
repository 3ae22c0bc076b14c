"""Unbounded slopes that a zero has hidden: gradients which the chain rule only seems to know.

In exact arithmetic a branch that was not taken contributes nothing, so zero times anything is zero. But a factor
may also be zero by its value: the slope of |x|**2 at 0, in the norm of x - y at x = y. There the product of zero and an
unbounded slope says nothing; the gradient may be any number, or not exist. This finds the entries it reaches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back
from gradproof.engine.run import Run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Node, descendants
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic

_SEED = 11


def absorbed(result: Run, wrt: Sequence[int]) -> dict[int, Array]:
    """Per input the mask of the entries that an unbounded slope reaches; inputs that none reaches are absent."""
    program = result.program
    events = unbounded_slopes(result, wrt)
    if not events:
        return {}
    try:
        with np.errstate(all="ignore"):
            return _reached(result, descendants(program, wrt), events, wrt)
    except (
        GradproofError,
        ArithmeticError,
        ValueError,
    ):  # arbitrary numbers may suit an op as badly as these
        return {id: np.ones(program[id].shape, bool) for id in wrt}


def unbounded_slopes(result: Run, wrt: Sequence[int]) -> list[tuple[Node, int, Array]]:
    """The entrywise ops, in program order, whose slope for the input at a position has no bound at some entries."""
    moving = descendants(result.program, wrt)
    return [
        (node, position, mask)
        for node in result.program.nodes
        for position, mask in _unbounded_slopes(result, node, moving)
    ]


def _unbounded_slopes(result: Run, node: Node, moving: set[int]) -> list[tuple[int, Array]]:
    """The inputs of an entrywise op for which its slope has no bound, with the entries of the result where."""
    op = TABLE.get(node.op)
    if op is None or op.slopes is None or not op.edges or node.id not in moving:
        return []
    xs = [result.values[id] for id in node.inputs]
    if not any(_touches(result, x, op.edges) for x in xs):
        return []
    found = []
    with result.m.domain.active():
        for position, id in enumerate(node.inputs):
            rule = op.slopes[position]
            if id in moving and rule is not None:
                slope = rule(result.m, result.values[node.id], *xs, **node.params)
                mask = np.broadcast_to(_unbounded(result, slope), node.shape)
                if mask.any():
                    found.append((position, mask))
    return found


def _touches(result: Run, x: Any, edges: Sequence[float]) -> bool:
    """Whether an entry may be one of the numbers where a slope can be unbounded, or is unknown itself."""
    if types.is_discrete_array(x):
        mid, rad = x.astype(np.float64), np.zeros(x.shape)
    else:
        with result.m.domain.active():
            mid, rad = result.m.domain.leave(x)
    return any(bool((~(np.abs(mid - edge) > rad)).any()) for edge in edges)


def _unbounded(result: Run, x: Any) -> Array:
    """A rule may return plain numbers too, such as a slope that is 1 whatever its input is."""
    if isinstance(x, int | float | np.number):
        return np.asarray(not np.isfinite(x))
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([not _is_finite(entry) for entry in x.reshape(-1)], bool).reshape(x.shape)
    if isinstance(x, np.ndarray) and not types.is_discrete_array(x):
        return np.asarray(~np.isfinite(x))
    if isinstance(x, np.ndarray):
        return np.zeros(x.shape, bool)
    mid, rad = result.m.domain.leave(x)
    return np.asarray(~(np.isfinite(mid) & np.isfinite(rad)))


def _is_finite(entry: Any) -> bool:
    return bool(entry.is_finite()) if hasattr(entry, "is_finite") else bool(np.isfinite(entry))


def _reached(
    result: Run, moving: set[int], events: Sequence[tuple[Node, int, Array]], wrt: Sequence[int]
) -> dict[int, Array]:
    """Two sweeps at arbitrary numbers: which events the output sees, and which entries of the inputs they see."""
    program = result.program
    structure = _at_arbitrary_numbers(result, moving)
    output = {program.outputs[0]: np.ones(program[program.outputs[0]].shape)}
    seen = pull_back(structure, output, wrt, keep_all=True)
    seeds: dict[int, Array] = {}
    for node, position, mask in events:
        gradient = seen.get(node.id)
        if gradient is None:
            continue
        event = (mask & (np.asarray(gradient) != 0.0)).astype(np.float64)
        id = node.inputs[position]
        seeds[id] = seeds.get(id, 0.0) + structure.m.sum_to(event, shape=program[id].shape)
    seeds = {id: seed for id, seed in seeds.items() if np.any(seed)}
    reached: Mapping[int, Any] = pull_back(structure, seeds, wrt) if seeds else {}
    masks = {id: np.asarray(gradient) != 0.0 for id, gradient in reached.items()}
    return {id: mask for id, mask in masks.items() if mask.any()}


def _at_arbitrary_numbers(result: Run, moving: set[int]) -> Run:
    """The program with numbers in the place of all that moves: what is zero there is zero by structure.

    The decisions are those of the run, which beside a tie are not the recorded ones.
    """
    rng = np.random.default_rng(_SEED)
    program, m = result.program, Arithmetic(Ieee("float64"))

    def arbitrary(node: Node, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(arbitrary(node, part) for part in value)
        value = np.asarray(value)
        if value.dtype.kind in "biu":
            return result.values[node.id] if node.is_discrete else m.literal(value)
        return rng.uniform(1.0, 2.0, value.shape) if node.id in moving else m.literal(value)

    return Run(program, m, {node.id: arbitrary(node, node.value) for node in program.nodes})
