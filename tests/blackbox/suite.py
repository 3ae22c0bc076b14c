"""The functions of the benchmark, for the tests: the same rows that are measured beside the peers."""

import sys
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import blackbox_noise_families  # noqa: F401  (families register themselves)
import blackbox_user_families  # noqa: F401
from blackbox_families import FAMILIES, points
from blackbox_functions import Function, functions, noise
from blackbox_troubles import random_functions

sys.path.remove(str(BENCHMARKS))

__all__ = ["FAMILIES", "Function", "functions", "holds", "noise", "points", "random_functions"]


def holds(function: Function, found: Any) -> bool:
    """Whether an answer is true: no number where there is none, and bars that reach the slopes."""
    if found.status == "cannot tell":
        return True
    if found.status == "kink":
        if function.left is None or function.right is None:
            return False
        left = abs(found.left - function.left) <= found.left_error
        return left and abs(found.right - function.right) <= found.right_error
    if found.status in ("jump", "infinite slope"):
        return function.slope is None
    return function.slope is not None and abs(found.value - function.slope) <= found.error
