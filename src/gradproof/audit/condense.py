"""Keeps a report small: of large gradients that are right, the summary is kept and the arrays are let go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradproof.diagnosis.report import GradientReport
from gradproof.judge.verdict import Verdict

# All arrays of a report together. Beyond it a long run with many checks would take memory from the user's program.
MOST_BYTES = 512 * 2**20


def condensed(gradients: Sequence[GradientReport], limit: int = MOST_BYTES) -> list[GradientReport]:
    """The same gradients; while their arrays take more than the limit, the correct ones lose theirs, oldest first."""
    result = list(gradients)
    total = sum(map(_bytes, result))
    for k, gradient in enumerate(result):
        if total <= limit:
            break
        if gradient.verdict is Verdict.CORRECT and gradient.entry_table is not None:
            total -= _bytes(gradient)
            result[k] = replace(
                gradient, entries=gradient.entry_table, observed=None, reference=None, reference_radius=None
            )
    return result


def _bytes(gradient: GradientReport) -> int:
    arrays = (gradient.observed, gradient.reference, gradient.reference_radius)
    return sum(array.nbytes for array in arrays if array is not None)
