"""Gradients that are zero because decisions are off on every way to the target: a layer whose `relu` is dead.

A gradient can be zero for honest reasons: a kernel that starts at zero, a mask among the data, a margin that every
example keeps. They are told apart by structure. All that moves gets arbitrary numbers while the decisions stay as they
were: what is zero then is zero by decisions and masks, and not by the values of weights. If it is no longer so once
the constant sides of decisions are led around, it was the decisions. And what a loss itself cuts off, behind the last
weights, is no dead layer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back
from gradproof.engine.run import Run
from gradproof.errors import GradproofError
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic

MIN_OFF = 32  # decisions; a few units may well be off for the few examples of one batch
_SEED = 13
_PRODUCTS = frozenset({"matmul", "einsum", "convolution", "mul"})


@dataclass(frozen=True, eq=False)
class Closed:
    """The selection that sends nothing back, which of its entries took their constant side, what made it.

    `behind` is the place among the sources of the weight that entered last before it. `is_layer` says that so many
    units are off, with weights behind them, that a layer is dead; a bound that one number has passed is less.
    """

    node: Node
    off: Array
    behind: int
    is_layer: bool

    @property
    def n_off(self) -> int:
        return int(np.count_nonzero(self.off))


@dataclass(frozen=True, eq=False)
class _Ways:
    """What of a program lets gradients through: the sources they arrive at as the decisions are and with the doors
    open, and for each door what of it they arrive at."""

    doors: tuple[Node, ...]
    arrives: frozenset[int]
    arrives_if_open: frozenset[int]
    at_doors: dict[int, Array]


# The same for every source of a call, of which many may have no gradient: looked for once.
_WAYS: WeakKeyDictionary[Program, dict[tuple[int | None, ...], _Ways | None]] = WeakKeyDictionary()


def closed_at(program: Program, sources: Sequence[int | None], k: int) -> Closed | None:
    """What closes every way from source `k` to the target; None where it is zero for another reason, or not known."""
    source, known = sources[k], _WAYS.setdefault(program, {})
    if source is None:
        return None
    if tuple(sources) not in known:
        known[tuple(sources)] = _ways(program, [id for id in sources if id is not None])
    ways = known[tuple(sources)]
    if ways is None or source in ways.arrives or source not in ways.arrives_if_open:
        return None
    return _largest(program, ways, sources, k)


def _ways(program: Program, wrt: Sequence[int]) -> _Ways | None:
    """None where there are no doors, or arbitrary numbers do not suit an op."""
    moving = descendants(program, wrt)
    decided = _decided(program, moving)
    doors = [node for node in program.nodes if _is_door(node, moving, decided)]
    if not doors:
        return None
    try:
        with np.errstate(all="ignore"):
            found = _sweep(program, moving, [*wrt, *(node.id for node in doors)], ())
            arrives = frozenset(id for id in wrt if _passes(found, id))
            at_doors = {
                node.id: np.asarray(found[node.id]) != 0.0 for node in doors if _passes(found, node.id)
            }
            opened = _sweep(program, moving, wrt, doors)
    except (GradproofError, ArithmeticError, ValueError):
        return None
    return _Ways(tuple(doors), arrives, frozenset(id for id in wrt if _passes(opened, id)), at_doors)


def _decided(program: Program, moving: set[int]) -> set[int]:
    """The decisions, and what was made of them, that depend on something that moves."""
    found: set[int] = set()
    for node in program.nodes:
        if node.is_discrete and any(id in moving or id in found for id in node.inputs):
            found.add(node.id)
    return found


def _is_door(node: Node, moving: set[int], decided: set[int]) -> bool:
    """A selection between something that moves and a constant, by a condition on something that moves."""
    if node.op != "select" or node.id not in moving or node.inputs[0] not in decided:
        return False
    return sum(id in moving for id in node.inputs[1:]) == 1


def _sweep(program: Program, moving: set[int], wrt: Sequence[int], doors: Sequence[Node]) -> dict[int, Any]:
    """The gradients at arbitrary numbers for all that moves; `doors` let through whatever comes."""
    rng = np.random.default_rng(_SEED)
    m = Arithmetic(Ieee("float64"))
    open_ids = {node.id for node in doors}

    def arbitrary(node: Node, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(arbitrary(node, part) for part in value)
        number = np.asarray(value)
        if node.id not in moving or number.dtype.kind in "biu":
            return value if node.is_discrete else m.literal(number)
        return rng.uniform(1.0, 2.0, number.shape)

    def let_through(node: Node, position: int, gy: Any, gx: Any) -> Any:
        if node.id not in open_ids or position == 0:
            return gx
        return m.sum_to(gy, shape=program[node.inputs[position]].shape)

    structure = Run(program, m, {node.id: arbitrary(node, node.value) for node in program.nodes})
    seed = {id: np.ones(program[id].shape) for id in program.outputs}
    return pull_back(structure, seed, wrt, edit=let_through)


def _passes(gradients: dict[int, Any], id: int) -> bool:
    return id in gradients and bool(np.any(np.asarray(gradients[id]) != 0.0))


def _largest(program: Program, ways: _Ways, sources: Sequence[int | None], k: int) -> Closed | None:
    """Of the selections where the gradient ends, the one with the most entries; first those of a dead layer."""
    source = sources[k]
    assert source is not None
    after = descendants(program, [source])
    found = []
    for node in ways.doors:
        if node.id in after and node.id in ways.at_doors:
            stopped = _off(program, node, after) & ways.at_doors[node.id]
            is_layer = np.count_nonzero(stopped) >= MIN_OFF and _feeds_weights(program, node, sources)
            found.append(Closed(node, stopped, _last_before(program, node, sources, k), bool(is_layer)))
    return max(found, key=lambda one: (one.is_layer, one.n_off), default=None)


def _off(program: Program, node: Node, after: set[int]) -> Array:
    """Where a selection took the side that the source does not reach."""
    condition = np.broadcast_to(np.asarray(program[node.inputs[0]].value, bool), node.shape)
    return ~condition if node.inputs[1] in after else condition


def _feeds_weights(program: Program, node: Node, sources: Sequence[int | None]) -> bool:
    """Whether what was selected is multiplied by weights that come in only there."""
    before, after = ancestors(program, [node.id]), descendants(program, [node.id])
    later = descendants(program, [id for id in sources if id is not None and id not in before]) - after
    return any(
        one.op in _PRODUCTS and {*one.inputs} & after and {*one.inputs} & later
        for one in program.nodes
        if one.op in TABLE
    )


def _last_before(program: Program, node: Node, sources: Sequence[int | None], k: int) -> int:
    before = ancestors(program, [node.id])
    used: dict[int, int] = {}
    for one in program.nodes:
        if one.id in before:
            used.update({id: one.id for id in one.inputs if id not in used})
    known = [(used.get(id, -1), place) for place, id in enumerate(sources) if id is not None and id in before]
    return max(known, default=(0, k))[1]
