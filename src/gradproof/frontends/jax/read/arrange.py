"""Arrays whose axes have labels: the `vmap` that an axis comes from, or a number for one of the function's own."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from gradproof.errors import GradproofError
from gradproof.frontends.jax.observe.peel import Bottom
from gradproof.frontends.record.model import Value
from gradproof.ir.types import Array

Labels = tuple[Hashable, ...]
IN_NO_ORDER = "what `vmap` returned has an axis that nothing asked for, and is not judged"


@dataclass(frozen=True)
class Stretch:
    """A part of one axis, which holds the entries of something with axes of its own."""

    axis: int
    begin: int
    end: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Arrangement:
    """How an array becomes another: cut, transposed, widened by axes of length 1, which are then repeated."""

    cut: Stretch | None
    order: tuple[int, ...]
    wide: tuple[int, ...]
    shape: tuple[int, ...]

    def of(self, array: Array) -> Array:
        if self.cut is not None:
            cut, lead = self.cut, array.shape[: self.cut.axis]
            array = np.moveaxis(np.moveaxis(array, cut.axis, 0)[cut.begin : cut.end], 0, cut.axis)
            array = array.reshape((*lead, *cut.shape, *array.shape[cut.axis + 1 :]))
        return np.array(np.broadcast_to(np.transpose(array, self.order).reshape(self.wide), self.shape))


def labels_of(bottom: Bottom, value: Value) -> Labels:
    """A label for every axis of a value."""
    levels, own = {axis: level for level, axis in bottom.batch_axes}, count()
    return tuple(levels[axis] if axis in levels else next(own) for axis in range(len(value.shape or ())))


def levels_in(labels: Sequence[Hashable]) -> Labels:
    """The `vmap`s that an array has an axis of."""
    return tuple(label for label in labels if not isinstance(label, int))


def own_shape(labels: Labels, value: Value) -> tuple[int, ...]:
    """The shape without what `vmap` has added to it."""
    return tuple(n for label, n in zip(labels, value.shape or ()) if isinstance(label, int))


def units(n_axes: int) -> Labels:
    """Labels for the axes that a number of unit vectors stand for."""
    return tuple(("unit", k) for k in range(n_axes))


def arrangement(
    labels: Labels, wanted: Labels, shape: tuple[int, ...], cut: Stretch | None = None
) -> Arrangement:
    """The axes of an array in the order of the labels that are wanted; what it has no axis for is repeated."""
    if cut is not None:
        labels = (*labels[: cut.axis], *units(len(cut.shape)), *labels[cut.axis + 1 :])
    if not set(labels) <= set(wanted):
        raise GradproofError(IN_NO_ORDER)
    order = tuple(labels.index(label) for label in wanted if label in labels)
    wide = tuple(n if label in labels else 1 for label, n in zip(wanted, shape, strict=True))
    return Arrangement(cut, order, wide, shape)
