"""Functions of large arrays of Python objects, piece by piece, so that a time limit is kept in the middle of one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.clock import tick
from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array

PIECE = (
    4096  # entries: less than a tenth of a second for the costliest functions, and not felt by the cheapest
)


def in_pieces(function: Callable[..., Any], *xs: Any) -> Array:
    """`function`, which works entry by entry and broadcasts, of arrays of objects."""
    bound = 1  # of the size of the result, had at once: most arrays are small
    for x in xs:
        bound *= x.size if type(x) is np.ndarray else 1
    if bound <= PIECE:
        return np.asarray(function(*xs), dtype=object)
    shape = joint_shape(*map(np.shape, xs))
    size = math.prod(shape)
    flat = [np.broadcast_to(np.asarray(x), shape).reshape(-1) for x in xs]
    y = np.empty(size, dtype=object)
    for start in range(0, size, PIECE):
        tick()
        y[start : start + PIECE] = function(*(x[start : start + PIECE] for x in flat))
    return y.reshape(shape)
