"""Keeps a report small: of gradients that are right, the summary is kept and the rest let go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradproof.audit.draw import Drawing
from gradproof.diagnosis.report import GradientReport
from gradproof.judge.verdict import Verdict

# All arrays of a report together. Beyond it a long run with many checks would take memory from the user's program.
MOST_BYTES = 512 * 2**20
MOST_PICTURE_BYTES = 64 * 2**20  # what is kept for pictures only, at most some hundred small programs


def condensed(
    gradients: Sequence[GradientReport], limit: int = MOST_BYTES, picture_limit: int = MOST_PICTURE_BYTES
) -> list[GradientReport]:
    """The same gradients; while their arrays take more than the limit, the correct ones lose theirs, oldest first."""
    result = _with_fewer_pictures(gradients, picture_limit)
    total = sum(map(_bytes, result))
    for k, gradient in enumerate(result):
        if total <= limit:
            break
        if gradient.verdict is Verdict.CORRECT and gradient.entry_table is not None:
            total -= _bytes(gradient)
            result[k] = replace(
                _without_pictures(gradient),
                entries=gradient.entry_table,
                observed=None,
                reference=None,
                reference_radius=None,
            )
    return result


def _bytes(gradient: GradientReport) -> int:
    arrays = (gradient.observed, gradient.reference, gradient.reference_radius)
    return sum(array.nbytes for array in arrays if array is not None)


def _with_fewer_pictures(gradients: Sequence[GradientReport], limit: int) -> list[GradientReport]:
    """The newest keep the programs that their pictures are made from; the gradients of one call share one."""
    result = list(gradients)
    total, counted = 0, set[int]()
    for k in reversed(range(len(result))):
        drawing = result[k].drawing
        if not isinstance(drawing, Drawing) or drawing.program is None:
            continue
        if id(drawing.program) not in counted:
            counted.add(id(drawing.program))
            total += drawing.n_bytes
        if total > limit and result[k].verdict is Verdict.CORRECT:
            result[k] = _without_pictures(result[k])
    return result


def _without_pictures(gradient: GradientReport) -> GradientReport:
    drawing = gradient.drawing
    return replace(gradient, drawing=drawing.lightened) if isinstance(drawing, Drawing) else gradient
