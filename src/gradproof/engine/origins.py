"""Ties of a number with itself: entries that were only moved are the same function wherever they went.

The derivative of a maximum asks which entries are equal to it. The largest of them is, here and at every point nearby,
as long as it is clear which one is the largest: nothing can break that tie, and it has no sides.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.run import Run
from gradproof.ir import types
from gradproof.ir.program import Node
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic

_PLAIN = Arithmetic(Ieee("float64"))
_HANDED_ON = ("identity", "cast")  # in exact arithmetic a number is the same in every dtype
_CHOSEN = ("select", "take_along")  # each entry by a decision of its own
_MOST = 2.0**52  # labels are counted in float64, so that they can be moved like numbers


@dataclass(eq=False)
class Origins:
    """A label for every entry of the nodes, equal where one is a moved copy of the other; told the nodes in order.

    Zeros that an op puts beside what it moves have the label 0.
    """

    result: Run
    unsure: dict[int, Array]  # of discrete nodes: what may be decided otherwise
    labels: dict[int, Array] = field(default_factory=dict)
    count: float = 0.0

    def of(self, id: int) -> Array:
        if id not in self.labels:
            self.labels[id] = self._fresh(self.result.program[id].shape)
        return self.labels[id]

    def _fresh(self, shape: tuple[int, ...]) -> Array:
        size = int(np.prod(shape))
        labels = self.count + 1.0 + np.arange(size, dtype=np.float64)
        self.count += size
        return labels.reshape(shape) if self.count < _MOST else np.full(shape, np.nan)  # NaN equals nothing

    def follow(self, node: Node) -> None:
        """Learn where the entries of a node come from; what is computed begins anew."""
        op = TABLE.get(node.op)
        if node.is_discrete or op is None or not node.inputs or types.is_complex(node.dtype):
            return
        if node.op in _HANDED_ON:
            if not self.result.program[node.inputs[0]].is_discrete:
                self.labels[node.id] = self.of(node.inputs[0])
        elif op.moves_only or node.op in _CHOSEN:
            self.labels[node.id] = self._moved(node)

    def _moved(self, node: Node) -> Array:
        program, values = self.result.program, self.result.values
        unsure = [self.unsure[id] for id in node.inputs if id in self.unsure]
        if unsure and node.op not in _CHOSEN:
            return self._fresh(node.shape)
        xs = [values[id] if program[id].is_discrete else self.of(id) for id in node.inputs]
        with _PLAIN.domain.active():
            moved = np.asarray(getattr(_PLAIN, node.op)(*xs, **node.params), np.float64)
        for mask in unsure:
            moved = np.where(mask, self._fresh(node.shape), moved)
        return moved


def with_itself(origins: Origins, node: Node) -> Array:
    """The entries of a comparison at which a number is compared with itself, and was found equal to itself."""
    if TABLE[node.op].compares != "pair":
        return np.zeros(node.shape, bool)
    a, b = (origins.of(id) for id in node.inputs)
    equal = getattr(_PLAIN, node.op)(np.zeros(()), np.zeros(()))
    same: Array = (a == b) & (np.asarray(origins.result.values[node.id]) == equal)
    return np.broadcast_to(same, node.shape)
