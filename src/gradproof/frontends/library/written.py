"""Numbers of arrays as source."""

from __future__ import annotations

from gradproof.ir.types import Array


def numbers_text(array: Array) -> str:
    """Nested lists with the shortest numbers that are rounded to these."""
    if array.ndim == 0:
        return repr(float(str(array)))
    return f"[{', '.join(numbers_text(item) for item in array)}]"
