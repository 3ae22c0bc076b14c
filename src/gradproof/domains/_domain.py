"""What every number domain offers; the ops are written against this and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np


class Domain(Protocol):
    """A number system for arrays.

    Real arrays are the domain's own (`np.ndarray`, `Ball64`, object arrays of `arb`); all of them have `shape`,
    `ndim`, and the operators + - * / and unary minus, also with Python numbers, which are taken as exact.
    Booleans and integers are plain NumPy arrays in every domain.
    Entrywise functions are methods named like the op (`exp`, `log`, ...).
    """

    name: str

    def enter(self, array: np.ndarray[Any, Any]) -> Any:
        """The exact numbers of a float, integer or boolean array, as reals of this domain."""
        ...

    def leave(self, x: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Midpoint and radius in float64 such that |x - midpoint| <= radius; zeros where rounding is not tracked."""
        ...

    def lift(self, function: Callable[..., np.ndarray[Any, Any]], *xs: Any) -> Any:
        """Apply a NumPy function that only moves, repeats or drops entries (reshape, take, concatenate)."""
        ...

    def settle(self, y: Any, dtype: str) -> Any:
        """The result of an op as an array of the domain, rounded to `dtype` where the domain rounds."""
        ...

    def active(self) -> AbstractContextManager[Any]:
        """What must hold while the domain computes: a precision, or NumPy's warnings switched off."""
        ...
