"""How many digits the gradient of an expression has, measured against its enclosure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradproof.engine.refine import Enclosure, gradient_measure, refine
from gradproof.fixes.verify import GradientPair, rounded_gradient
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.options import Options
from tests.fixes.expressions import program_of


def true_gradient(program: Program, wrt: int, dtype: str) -> Enclosure:
    """Enclosed so tightly that its width does not count beside the dtype."""
    narrow = types.unit_roundoff(dtype) / 8

    def is_tight(enclosures: Any, run: Any) -> bool:
        del run
        return all(bool((one.rad <= narrow * np.abs(one.mid)).all()) for one in enclosures)

    return refine(program, gradient_measure([wrt]), is_tight, Options()).enclosures[0]


def digits_lost(text: str, values: Mapping[str, Any], dtype: str = "float32") -> float:
    """Of the gradient for the name that lost most; NaN where the true one is not bounded."""
    program = program_of(text, values, dtype)
    lost = []
    for wrt in program.inputs:
        true = true_gradient(program, wrt, dtype)
        observed = rounded_gradient(program, wrt)
        if not true.is_bounded or observed is None:
            return float("nan")
        digits = GradientPair(wrt, true, dtype, Options()).digits(observed)
        lost.append(types.digits_possible(dtype) - digits)
    return max(lost)
