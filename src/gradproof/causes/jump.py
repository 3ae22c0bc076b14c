"""The value of the function jumps here: a step, a switch between different values, a change of order.

What it finds
    A point exactly on the edge of a step: a rounding, a floor, a sign or a comparison whose branches have different
    values where they meet.

Why it spoils a gradient
    Across a jump there is no slope at all. The gradient that is returned belongs to one side and says nothing about the
    step itself, which an optimiser can neither see nor follow.

Example
    gate = np.where(x >= 1.0, 2.0 * x, 0.0)     # x = 1: from 0 to 2

Write instead
    gate = 2.0 * x / (1.0 + np.exp(-(x - 1.0) / width))     # a smooth switch

Stays silent when
    the branches have the same value where they meet: that is a kink, or nothing at all; or
    the point is beside the step, where the slope exists.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import Rows, subject
from gradproof.causes._places import op_words
from gradproof.causes._sides import decided_at, side_at, side_rows, slopes_at, tie_label, tied_sides
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.engine.decisions import Sides
from gradproof.judge.infinite import STAND_INS


def find(case: Case) -> Iterator[Diagnostic]:
    sides = tied_sides(case, "jump")
    if sides is None:
        return
    index, _, _ = slopes_at(case)
    node, place = decided_at(case)
    where = "The program" if node.span is None else f"Line {node.span.line}"
    yield Diagnostic(
        kind="jump",
        severity="warning",
        certainty="proven",
        headline=f"`{case.capture.target}` jumps {_far(sides.jump)} at this point",
        primary=annotated(node.span, tie_label(case, node, place)),
        subject=subject(case, index),
        evidence=(*side_rows(case, index), *_jump_rows(case, sides)),
        why=(
            f"{where} decides by {op_words(node)}, exactly on the edge between two branches, and "
            f"{_apart(sides.jump)}. A step has no slope. The number returned belongs to one side "
            "and does not see the step."
        ),
        fix=Fix("replace the step by a smooth switch, or move the edge away from this point"),
        op=node.op,
    )


def _jump_rows(case: Case, sides: Sides) -> Rows:
    side = side_at(case)
    if side is None:
        return (("jump", _size(sides.jump)),)
    steps = [
        f"{_size(size)} going {way}"
        for size, way in ((side.jump_left, "down"), (side.jump_right, "up"))
        if size
    ]
    return (("jump", words.comma_list(steps)),) if steps else ()


def _is_infinite(size: float) -> bool:
    """Infinite constants are judged by stand-ins, whose own size says nothing."""
    return abs(size) >= min(STAND_INS) / 2


def _size(size: float) -> str:
    if _is_infinite(size):
        return "-infinity" if size < 0 else "infinity"
    return words.significant(size, 3).removesuffix(".0")


def _far(size: float) -> str:
    return "to infinity" if _is_infinite(size) else f"by {_size(size)}"


def _apart(size: float) -> str:
    return (
        "one of their values is infinite" if _is_infinite(size) else f"their values differ by {_size(size)}"
    )


CAUSE = Cause(name="jump", find=find, doc=__doc__ or "", on=(Occasion.UNDEFINED,))
