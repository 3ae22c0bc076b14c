"""Arrays of NumPy that do not compute like arrays: refused with a sentence, since nothing true can be said of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.errors import InvalidInput


def require_plain(x: Any, name: str = "an argument") -> None:
    """Masked arrays leave entries out, and `*` of matrices is the matrix product: neither is followed."""
    if type(x) is np.ndarray or not isinstance(x, np.ndarray):
        return
    if isinstance(x, np.ma.MaskedArray):
        raise InvalidInput(
            f"{name} is a masked array, whose masked entries do not count, and masks are not followed here\n"
            "  pass a plain array, and select with `np.where(mask, 0.0, x)` inside the function"
        )
    if isinstance(x, np.matrix):
        raise InvalidInput(
            f"{name} is an np.matrix, for which `*` is the matrix product, and that is not followed here\n"
            "  pass `np.asarray(x)`, and write `@` for products of matrices"
        )
