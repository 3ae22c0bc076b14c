"""Rivals that are one function of the inputs: the windows of an even background, equal rows of data.

They are equal here and at every point nearby, so that it does not matter which of them a maximum takes. Balls only show
that they cannot be told apart. Each entry has a label, a number that is drawn at random for what it is computed from
and how; sums of products are computed of the labels, so that the same products in whatever order have the same one.
Two functions share a label with a chance of about 2**-40.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.origins import Origins
from gradproof.ir import types
from gradproof.ir.program import Node
from gradproof.ir.shapes import jointly
from gradproof.ir.types import Array
from gradproof.ops import TABLE, Arithmetic

_PLAIN = Arithmetic(Ieee("float64"))
_FIRST = 2**51  # labels that are drawn lie above those that are counted, and below 2**52
_NUMBERS = 2**20  # sums of thousands of products of two such numbers are exact in float64
_TURNS = (1, 2)  # a second sum, of other numbers: two functions must share both


@dataclass(eq=False)
class SameFunctions(Origins):
    """Labels that are equal where two entries are the same function, as far as that is seen."""

    def settle(self, decision: int, agrees: Array) -> None:
        """What it lets through is known where a decision is clear."""
        self.unsure.pop(decision, None)
        if not agrees.all():
            self.unsure[decision] = ~agrees

    def follow(self, node: Node) -> None:
        super().follow(node)
        op = TABLE.get(node.op)
        if node.id in self.labels or types.is_complex(node.dtype):
            return
        if node.is_discrete or node.op == "constant":
            self.labels[node.id] = self._of_value(node)
        elif op is None or not node.inputs:
            return
        elif op.slopes is not None:
            self.labels[node.id] = self._of_entries(node)
        elif op.linear is not None and not any(id in self.unsure for id in node.inputs):
            self.labels[node.id] = self._of_sums(node)

    def _of_value(self, node: Node) -> Array:
        """Equal constants are one function; so are whole numbers, unless they may come out otherwise."""
        value = np.asarray(self.result.values[node.id] if node.is_discrete else node.value, np.float64)
        labels = np.where(value == 0.0, 0.0, _drawn("value", [value]))
        labels = np.where(np.isnan(value), self._fresh(node.shape), labels)
        unsure = self.unsure.get(node.id)
        return labels if unsure is None else np.where(unsure, self._fresh(node.shape), labels)

    def _of_entries(self, node: Node) -> Array:
        labels = [self.of(id) for id in node.inputs]
        drawn = _drawn(f"{node.op} {sorted(node.params.items())}", jointly(*labels))
        return np.broadcast_to(drawn, node.shape)

    def _of_sums(self, node: Node) -> Array:
        program, values = self.result.program, self.result.values
        sums = []
        for turn in _TURNS:
            xs = [values[id] if program[id].is_discrete else _number(self.of(id), turn) for id in node.inputs]
            with _PLAIN.domain.active():
                sums.append(np.asarray(getattr(_PLAIN, node.op)(*xs, **node.params), np.float64))
        return np.where((sums[0] == 0.0) & (sums[1] == 0.0), 0.0, _drawn("sum", sums))


def _number(labels: Array, turn: int) -> Array:
    """A whole number for each label; zero stays zero."""
    return np.where(labels == 0.0, 0.0, 1.0 + _drawn(f"number {turn}", [labels]) % (_NUMBERS - 1))


def _drawn(how: str, labels: Sequence[Any]) -> Array:
    """What a label stands for that is made of others in a certain way; NaN, which equals nothing, stays NaN."""
    state = np.full(np.shape(labels[0]), crc32(how.encode()), np.uint64)
    for part in labels:
        state = _mixed(
            state ^ _mixed(np.ascontiguousarray(part + 0.0).view(np.uint64).reshape(np.shape(part)))
        )
    drawn = (state % np.uint64(_FIRST)).astype(np.float64) + _FIRST
    return np.where(np.logical_or.reduce([np.isnan(part) for part in labels]), np.nan, drawn)


def _mixed(x: Array) -> Array:
    """Each bit of the result depends on all bits of a number (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(x ^ (x >> np.uint64(31)))
