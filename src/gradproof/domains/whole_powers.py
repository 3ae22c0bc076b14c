"""Powers with a small whole exponent, of whole arrays of balls: a few products instead of a logarithm per entry."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.ir.shapes import joint_shape
from gradproof.ir.types import Array

Kernel = Callable[..., Any]
MOST = 8  # beyond that products lose more digits than a logarithm does


def with_products(kernel: Kernel, read: Callable[[Any], tuple[Array, Array]]) -> Kernel:
    """The kernel of `power`, which does what it can by products; `read` gives midpoints and radii of an exponent."""

    def power(x: Any, e: Any, less: int = 0) -> Any:
        mid, rad = read(e)
        n = _whole(mid, rad, less)
        if n is None or joint_shape(x.shape, mid.shape) != tuple(x.shape):
            return kernel(x, e, less=less)
        return _product(x, n) if n > 0 else 1 / _product(x, -n)

    return power


def _whole(mid: Array, rad: Array, less: int) -> int | None:
    """The exponent, if it is the same small whole number everywhere, known exactly, and not zero."""
    if not mid.size or np.any(rad) or mid.min() != mid.max():
        return None
    exponent = float(mid.reshape(-1)[0]) - less
    return int(exponent) if exponent.is_integer() and 1 <= abs(exponent) <= MOST else None


def _product(x: Any, n: int) -> Any:
    half = _product(x, n // 2) if n > 1 else None
    square = None if half is None else half * half
    if square is None:
        return x
    return square * x if n % 2 else square
