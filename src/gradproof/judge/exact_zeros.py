"""Gradients that are exactly zero, put in the place of balls around zero that no number of digits would close."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradproof.engine.refine import Enclosure
from gradproof.engine.unmoved import is_unmoved
from gradproof.ir.program import Program


class ExactZeros:
    """What is known of the sources of a program; each is looked at once, when a ball leaves the question open."""

    def __init__(self, program: Program, wrt: Sequence[int]) -> None:
        self._program, self._wrt = program, wrt
        self._known: dict[int, bool] = {}

    def put(self, enclosures: Sequence[Enclosure], wrt: Sequence[int] | None = None) -> tuple[Enclosure, ...]:
        """For all sources, or those of `wrt`."""
        return tuple(
            Enclosure(np.zeros(one.mid.shape), np.zeros(one.rad.shape)) if self._is_zero(id, one) else one
            for id, one in zip(self._wrt if wrt is None else wrt, enclosures)
        )

    def _is_zero(self, id: int, enclosure: Enclosure) -> bool:
        """Without a bound there may be no slope at all, and balls that exclude zero are not overruled."""
        if not _is_around_zero(enclosure):
            return False
        if id not in self._known:
            self._known[id] = is_unmoved(self._program, id)
        return self._known[id]


def _is_around_zero(enclosure: Enclosure) -> bool:
    mid, rad = enclosure.mid, enclosure.rad
    if not mid.size or abs(mid.item(0)) > rad.item(0):  # most gradients have been told apart from zero here
        return False
    return enclosure.is_bounded and bool(rad.any()) and bool((np.abs(mid) <= rad).all())
