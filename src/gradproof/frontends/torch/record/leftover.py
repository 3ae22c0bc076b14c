"""Gradients that were left in their tensors: whether what a call has added to was used for an update before."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gradproof.frontends.torch.record.arrays import array_of
from gradproof.ir.check_sum import check_sum

if TYPE_CHECKING:
    from gradproof.frontends.torch.record.engine_run import EngineRun

_OF_NUMPY = (torch.float32, torch.float64)


@dataclass(frozen=True, eq=False)
class LeftoverMark:
    """A leaf right after a call: the tensor its gradient is in, that one's version, and a sum of the leaf's bytes."""

    leaf: Any
    grad: Any
    version: int
    bytes_sum: int

    @property
    def was_used(self) -> bool:
        """The leaf was changed since then, and its gradient was not."""
        if self.leaf.grad is not self.grad or self.grad._version != self.version:
            return False
        return bytes_sum(self.leaf) != self.bytes_sum


@dataclass(eq=False)
class Leftovers:
    """The leaves as the latest call of each has left them."""

    marks: dict[int, LeftoverMark] = field(default_factory=dict)

    def before(self, run: EngineRun) -> dict[int, np.ndarray[Any, Any]]:
        """Leaves of a call that has not run yet with a gradient that an update has used: what they hold, by id."""
        found = {}
        for key in run.leaves if run.accumulates else ():
            mark = self.marks.get(key)
            if mark is not None and mark.leaf is run.leaves[key] and mark.was_used:
                held = array_of(mark.grad)
                if np.any(held):
                    found[key] = held
        return found

    def after(self, run: EngineRun) -> None:
        for key, leaf in run.leaves.items():
            grad = leaf.grad
            if run.accumulates and grad is not None:
                self.marks[key] = LeftoverMark(leaf, grad, grad._version, bytes_sum(leaf))

    def is_as_computed(self, key: int, leaf: Any) -> bool:
        """Whether the leaf has the numbers that it had when its gradient was computed."""
        mark = self.marks.get(key)
        return mark is not None and mark.leaf is leaf and bytes_sum(leaf) == mark.bytes_sum

    def confirmed(self, key: int) -> bool:
        """Whether the leaf was updated once more with what was left there."""
        mark = self.marks.get(key)
        return mark is not None and mark.was_used


def bytes_sum(leaf: Any) -> int:
    """Tells whether numbers have changed, without a copy of them."""
    plain = leaf.detach()
    is_there = plain.device.type == "cpu" and plain.layout == torch.strided and plain.is_contiguous()
    array = plain.numpy() if is_there and plain.dtype in _OF_NUMPY else array_of(leaf)
    return check_sum(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
