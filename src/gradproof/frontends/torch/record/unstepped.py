"""Parameters that get gradients and that no optimizer has: a note, for it may be meant.

Layers in a plain list are in nobody's `parameters()`, so that they never learn; parts of a model that stand still on
purpose get gradients that nobody uses. What the program changes itself, as `w -= rate * w.grad` does, is left out.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from gradproof.diagnosis.words import capped_list, count
from gradproof.frontends.torch.record.leftover import bytes_sum
from gradproof.frontends.torch.record.steps import Steps

FEWEST_STEPS = 2  # of optimizers, since a parameter got its first gradient: one may be a trial
MOST_NAMES = 3
TOLD = (
    "{names}: no optimizer has {them}, and {steps} left {them} unchanged, though {they} a gradient each time. Layers "
    "in a plain list are no part of a module (`torch.nn.ModuleList` makes them one); what is not to learn needs no "
    "gradient (`requires_grad_(False)`)"
)


@dataclass(frozen=True, eq=False)
class _Learning:
    """A parameter when it got its first gradient: its name, a sum of its bytes, and the steps there had been."""

    leaf: weakref.ref[Any]
    name: str
    bytes_sum: int
    n_steps: int


class Unstepped:
    """`remarks` says which parameters no step of an optimizer has come to."""

    def __init__(self, steps: Steps) -> None:
        self._learning: dict[int, _Learning] = {}
        self._steps = steps

    def note(self, leaves: Iterable[Any], names: Iterable[str]) -> None:
        """Leaves that a call has given gradients to."""
        for leaf, name in zip(leaves, names):
            if isinstance(leaf, torch.nn.Parameter) and id(leaf) not in self._learning:
                self._learning[id(leaf)] = _Learning(
                    weakref.ref(leaf), name, bytes_sum(leaf), self._steps.count
                )

    def remarks(self) -> tuple[str, ...]:
        found = {key: one for key, one in self._learning.items() if key not in self._steps.stepped}
        still = [one for one in found.values() if self._stands_still(one)]
        if not still:
            return ()
        n_steps = min(self._steps.count - one.n_steps for one in still)
        them, they = ("it", "it gets") if len(still) == 1 else ("them", "they get")
        names = capped_list([f"`{one.name}`" for one in still], MOST_NAMES)
        return (TOLD.format(names=names, them=them, they=they, steps=count(n_steps, "step")),)

    def _stands_still(self, one: _Learning) -> bool:
        leaf = one.leaf()
        is_late = self._steps.count - one.n_steps < FEWEST_STEPS
        return leaf is not None and leaf.grad is not None and not is_late and bytes_sum(leaf) == one.bytes_sum
