"""Whether a gradient is as good as its problem lets it be: roundings of the input alone may move it as far."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gradproof.frontends.library.model import OpCall
from gradproof.ir.types import Array
from gradproof.sweep.find import Find

RUNS = 3  # inputs that are rounded at random
ROUNDINGS = 16.0  # a stable algorithm may make as many of them as it has steps


def is_as_good_as_can_be(find: Find, true_gradient: Callable[[OpCall], Array | None]) -> bool:
    """Whether inputs that differ in their last digit have true gradients that differ by about this error.

    Then no algorithm in this precision does better, and the library is not to blame.
    """
    if find.observed is None or not np.isfinite(find.observed):
        return False
    off, rng = abs(find.observed - find.expected), np.random.default_rng(0)
    for _ in range(RUNS):
        moved = {name: _rounded(x, rng) for name, x in find.sample.arrays.items()}
        gradient = true_gradient(replace(find.sample, arrays=moved))
        if gradient is not None and off <= ROUNDINGS * abs(float(gradient[find.entry]) - find.expected):
            return True
    return False


def _rounded(x: Array, rng: np.random.Generator) -> Array:
    """Each number with its last digit changed: below the normal numbers that is a larger share of it."""
    signs = rng.choice([-1.0, 1.0], x.shape)
    step = np.maximum(np.abs(x) * np.finfo(x.dtype).eps, np.where(x == 0, 0.0, np.spacing(np.abs(x))))
    return np.asarray(x + signs * step, dtype=x.dtype)
