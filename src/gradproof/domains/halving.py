"""Long sums by halves: whole arrays are added at a time, and few roundings lie between a term and the sum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gradproof.ir.types import Array


def rows_along(x: Array, axes: tuple[int, ...]) -> Array:
    """The entries along some axes as one first axis; the other axes follow."""
    axes = tuple(axis % x.ndim for axis in axes)
    kept = tuple(axis for axis in range(x.ndim) if axis not in axes)
    return np.transpose(x, (*axes, *kept)).reshape(-1, *(x.shape[axis] for axis in kept))


def sum_by_halves(rows: Array, add: Callable[[Array, Array], Array]) -> Array:
    """The sum over the first axis, which has one entry or more."""
    while len(rows) > 1:
        half = len(rows) // 2
        rows = np.concatenate([add(rows[:half], rows[half : 2 * half]), rows[2 * half :]])
    return np.asarray(rows[0])
