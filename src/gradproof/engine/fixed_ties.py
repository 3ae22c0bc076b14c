"""Ties that nothing can break: numbers that are equal and stand still, such as those that `relu` has cut off.

A node depends on the inputs as a whole; an entry of it need not. Where a clear decision took the constant branch, the
entry keeps its value however the inputs move, and a later tie among such entries is no matter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.origins import Origins
from gradproof.engine.run import Run
from gradproof.engine.ties import snapped
from gradproof.ir.program import Node
from gradproof.ir.shapes import jointly
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic

Bounds = Callable[[Any], tuple[Array, Array]]

_PLAIN = Arithmetic(Ieee("float64"))


@dataclass(eq=False)
class Moving:
    """Which entries of the nodes move with the inputs; told the nodes of a run in their order."""

    result: Run
    active: set[int]
    masks: dict[int, Array] = field(default_factory=dict)
    unsure: dict[int, Array] = field(default_factory=dict)  # of discrete nodes: what may be decided otherwise

    def of(self, id: int) -> Array:
        node = self.result.program[id]
        known = self.masks.get(id)
        return np.broadcast_to(id in self.active if known is None else known, node.shape)

    def follow(self, node: Node) -> None:
        """Learn which entries of a node move; where that is not known, all do."""
        if node.id not in self.active or node.op in ("input", "item"):
            return
        op, unsure = TABLE.get(node.op), [self.unsure[id] for id in node.inputs if id in self.unsure]
        if node.is_discrete:
            if unsure:
                self.unsure[node.id] = np.ones(node.shape, bool)
        elif node.op == "select":
            self.masks[node.id] = self._chosen(*node.inputs)
        elif op is not None and op.linear == "each":
            self.masks[node.id] = self._product(node)
        elif op is not None and op.slopes is not None:
            parts = [self.of(id) for id in node.inputs if id in self.active]
            self.masks[node.id] = np.logical_or.reduce(jointly(*parts))
        elif op is not None and _is_known(node, op.moves_only) and (node.op == "take_along" or not unsure):
            self.masks[node.id] = self._moved(node)

    def hold(self, node: Node, origins: Origins) -> None:
        """A number minus itself stands still: the distance of every point to itself."""
        if node.op == "sub" and node.id in self.active:
            a, b = (origins.of(id) for id in node.inputs)
            self.masks[node.id] = self.of(node.id) & (a != b)

    def _chosen(self, condition: int, *branches: int) -> Array:
        yes, no = (self.of(id) for id in branches)
        mask = np.where(np.asarray(self.result.values[condition]), yes, no)
        return mask | (self.unsure[condition] & (yes | no)) if condition in self.unsure else mask

    def _product(self, node: Node) -> Array:
        """A factor that is zero and stands still makes a product do so: padded rows, masked entries."""
        counts = [self._counts(id) for id in node.inputs]
        mask = self.of(node.id)
        if not all(one.all() for one in counts):
            mask = _in_plain_numbers(node, [one.astype(float) for one in counts]) != 0.0
        if TABLE[node.op].slopes is not None:  # entry by entry; a sum of products moves where one of them may
            mask = mask & np.logical_or.reduce(jointly(*map(self.of, node.inputs)))
        return mask

    def _counts(self, id: int) -> Array:
        """Where a factor is not known to be zero for good."""
        moves = self.of(id)
        if moves.all():
            return moves
        if self.result.program[id].is_discrete:
            return np.asarray(moves | (np.asarray(self.result.values[id]) != 0) | self.unsure.get(id, False))
        mid, radius = self.result.m.domain.leave(self.result.values[id])
        return np.asarray(moves | (mid != 0.0) | (radius != 0.0))

    def _moved(self, node: Node) -> Array:
        program, values = self.result.program, self.result.values
        xs = [values[id] if program[id].is_discrete else self.of(id).astype(float) for id in node.inputs]
        mask: Array = _in_plain_numbers(node, xs) != 0.0
        for id in node.inputs:
            mask = mask | self.unsure[id] if id in self.unsure else mask
        return mask


def _in_plain_numbers(node: Node, xs: Sequence[Array]) -> Array:
    with _PLAIN.domain.active():
        return np.asarray(getattr(_PLAIN, node.op)(*xs, **node.params))


def _is_known(node: Node, moves_only: bool) -> bool:
    """Whether what moves can be moved, or added up, as the numbers themselves are."""
    return moves_only or node.op == "sum"


def unbreakable(moving: Moving, node: Node, tied: Array, bounds: Bounds) -> Array:
    """The ties of a decision among entries that stand still: moving all others, there and back, changes nothing."""
    op, values = TABLE[node.op], moving.result.values
    # Of a line every place must have one answer: `argmax` has, a sort whose ties are told by their gaps has not.
    if op.decide_near is None or op.compares == "grid" or np.shape(values[node.id]) != tied.shape:
        return np.zeros(tied.shape, bool)
    xs = snapped(node, op, [bounds(values[id]) for id in node.inputs], tied)
    rng = np.random.default_rng(0)
    rates = [rng.uniform(1.0, 2.0, x.shape) * rng.choice([-1.0, 1.0], x.shape) for x in xs]
    rates = [np.where(moving.of(id), rate, 0.0) for id, rate in zip(node.inputs, rates)]
    y = values[node.id]
    there, back = (op.decide_near(y, xs, [s * rate for rate in rates], **node.params) for s in (1.0, -1.0))
    stays: Array = tied & (there == y) & (back == y)
    return stays
