"""How wide a smooth function is that takes the place of a corner or a step, by the numbers that come to it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from gradproof.fixes.graph import Id
from gradproof.fixes.pattern import Binding
from gradproof.ir.program import Program
from gradproof.ir.types import Array

WIDTH = 1e-3  # of the scale: small beside the numbers, and its square is still seen beside them in a float32


def corner_width(program: Program, fits: Mapping[int, Binding]) -> float:
    return width_of(program, [*(id for bound in fits.values() for id in _bound_ids(bound)), *fits])


def step_width(program: Program, bounds: Iterable[Binding]) -> float:
    """A power of ten, as large as the distances from the step: what is decided there stays the decision mostly."""
    sides = [[np.asarray(program[id].value, np.float64) for id in _bound_ids(bound)] for bound in bounds]
    gaps = [np.abs(one[0] - one[1]) if len(one) == 2 else np.abs(one[0]) for one in sides]
    return _power_of_ten(gaps)


def _bound_ids(bound: Binding) -> list[int]:
    return [term.id for _, term in sorted(bound.items()) if isinstance(term, Id)]


def width_of(program: Program, ids: Iterable[int]) -> float:
    """A power of ten, small beside the largest of the numbers; beside 1 where all of them are zero."""
    values = (np.abs(np.asarray(program[id].value, np.float64)) for id in ids if not program[id].is_discrete)
    return _power_of_ten(values) * WIDTH


def _power_of_ten(sizes: Iterable[Array]) -> float:
    """The largest that is not above the largest of the finite sizes; 1 where all of them are zero."""
    scale = max((float(size[np.isfinite(size)].max(initial=0.0)) for size in sizes), default=0.0)
    return float(f"1e{math.floor(math.log10(scale)) if scale > 0.0 else 0:d}")
