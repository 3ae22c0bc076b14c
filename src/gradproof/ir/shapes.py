"""Broadcasting for any number of axes: NumPy's own functions for it stop at 32, its arrays at 64."""

from __future__ import annotations

import numpy as np

from gradproof.ir.types import Array

_MOST_AXES = 32  # of `np.broadcast`, on which NumPy's `broadcast_shapes` and `broadcast_arrays` rest


def joint_shape(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes have together; a ValueError where they do not go together."""
    if max(map(len, shapes), default=0) <= _MOST_AXES:
        return np.broadcast_shapes(*shapes)
    # Shapes are aligned at their last axes.
    first = joint_shape(*(shape[:-_MOST_AXES] for shape in shapes))
    return (*first, *np.broadcast_shapes(*(shape[-_MOST_AXES:] for shape in shapes)))


def fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Whether an array of this shape is broadcast to the whole one, and no further."""
    try:
        return joint_shape(shape, whole) == whole
    except ValueError:
        return False


def jointly(*arrays: Array) -> tuple[Array, ...]:
    """The arrays, each in the shape that they have together."""
    shape = joint_shape(*map(np.shape, arrays))
    return tuple(np.broadcast_to(array, shape) for array in arrays)
