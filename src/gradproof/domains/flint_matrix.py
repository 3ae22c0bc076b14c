"""NumPy object arrays as matrices of python-flint, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import acb, acb_mat, arb, arb_mat

from gradproof.ir.types import Array

UNKNOWN = arb("nan")  # a ball without information: what cannot be enclosed is not guessed
GUARD_BITS = 64  # more precision inside, where a method is known to lose some


def is_complex(*arrays: Array) -> bool:
    """Whether any entry is complex; arrays may mix both kinds, since zeros are real."""
    return any(acb in set(map(type, array.reshape(-1).tolist())) for array in arrays)


def to_flint(x: Array, as_complex: bool = False) -> Any:
    """A flint matrix; one complex entry, or `as_complex`, makes it a complex one."""
    entries = x.reshape(-1).tolist()
    if not as_complex:
        try:
            return arb_mat(*x.shape, entries)
        except TypeError:  # cheaper than asking every entry, since nearly all matrices are real
            pass
    return acb_mat(*x.shape, entries)


def from_flint(matrix: Any) -> Array:
    y = np.empty(matrix.nrows() * matrix.ncols(), dtype=object)
    y[:] = matrix.entries()
    return y.reshape(matrix.nrows(), matrix.ncols())


def unknown(shape: tuple[int, ...]) -> Array:
    return np.full(shape, UNKNOWN, dtype=object)


def real(entry: Any) -> Any:
    return entry.real if isinstance(entry, acb) else entry
