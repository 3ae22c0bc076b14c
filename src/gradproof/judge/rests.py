"""True gradients that are no more than what rounding left of numbers that were meant to be equal.

Labels that are the model's own probabilities, a policy beside its own copy: the gradient is then a difference of terms
that would cancel if they had all their digits. What the roundings of the given numbers leave of it is the true gradient
to the letter, but no arithmetic of the dtype can find it. It is compared as the zero that it stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gradproof.engine.last_digits import last_digit_moves
from gradproof.engine.refine import Enclosure
from gradproof.engine.run import Run
from gradproof.ir import types
from gradproof.ir.types import Array
from gradproof.judge.compare import ROUNDINGS_OF_ZERO, Comparison, compare
from gradproof.options import Options

# Last digits that are to blame for a rest move it by about a rounding of its terms. Where terms are larger than that by
# far, as in a map that has been repeated until it is chaos, it is they that nobody can add up.
LEAST_SHARE = 1e-4


def compared_without_rests(
    found: Sequence[Comparison | None],
    observed: Sequence[Array | None],
    enclosures: Sequence[Enclosure],
    sizes: Sequence[Array],
    differentiated: tuple[Run, Sequence[int]],
    options: Options,
) -> list[Comparison | None]:
    """What is beyond the line, compared once more with the rests among its entries taken for zeros."""
    dtypes = [None if one is None else types.dtype_name(one) for one in observed]
    small = [
        np.zeros(enclosure.mid.shape, bool)
        if c is None or dtype is None or c.outcome != "beyond"
        else _bound(enclosure) <= ROUNDINGS_OF_ZERO * types.unit_roundoff(dtype) * size
        for c, dtype, enclosure, size in zip(found, dtypes, enclosures, sizes)
    ]
    if not any(bool(mask.any()) for mask in small):
        return list(found)
    moves = last_digit_moves(*differentiated)
    again = list(found)
    for k, (one, dtype, enclosure) in enumerate(zip(observed, dtypes, enclosures)):
        rests = small[k] & (_bound(enclosure) <= ROUNDINGS_OF_ZERO * moves[k])
        if dtype is not None:
            rests &= moves[k] >= LEAST_SHARE * types.unit_roundoff(dtype) * sizes[k]
        if one is not None and dtype is not None and rests.any():
            mid, rad = (np.where(rests, 0.0, part) for part in (enclosure.mid, enclosure.rad))
            again[k] = compare(one, replace(enclosure, mid=mid, rad=rad), dtype, options, sizes[k])
    return again


def _bound(enclosure: Enclosure) -> Array:
    return np.asarray(np.abs(enclosure.mid) + enclosure.rad)
