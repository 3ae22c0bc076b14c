"""The function has a corner here: its slopes on the two sides differ.

What it finds
    A point at which two branches of a maximum, an absolute value, a comparison or a sort meet, with the same value and
    different slopes. As a note: a decision so near to such a point that rounding may cross it.

Why it spoils a gradient
    At a corner there is no derivative. What a framework returns is a convention: one of the slopes, or something
    between. A step along it may go up instead of down, and a finite difference gives another number.

Example
    loss = np.sum(np.abs(x))            # x[0] = 0: slopes -1 and 1, NumPy's tape returns 0

Write instead
    loss = np.sum(np.sqrt(x * x + width**2))    # smooth, and |x| for all x much larger than the width

Stays silent when
    the slopes of both sides agree: then the derivative exists, and is checked as any other; or
    what is compared does not depend on the source; or
    the value jumps: that is jump.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.causes._evidence import Rows, observed_text, proven_text, subject
from gradproof.causes._places import capital, op_words
from gradproof.causes._sides import decided_at, side_rows, slopes_at, tie_label, tied_sides
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.flips import Flip
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.program import Node


def find(case: Case) -> Iterator[Diagnostic]:
    if tied_sides(case, "kink") is not None:
        yield _at_the_kink(case)
        return
    for flip in case.irregular.flips:
        if not flip.is_flipped and flip.matters and flip.node.span is not None:
            yield _near_a_kink(case, flip)
            return


def _at_the_kink(case: Case) -> Diagnostic:
    index, left, right = slopes_at(case)
    node, place = decided_at(case)
    slopes = f"slopes {left} and {right}" if left != right else "its slope depends on the direction"
    return Diagnostic(
        kind="kink",
        severity="warning",
        certainty="proven",
        headline=f"`{case.capture.target}` has a kink at this point: {slopes}",
        primary=annotated(node.span, tie_label(case, node, place)),
        subject=subject(case, index),
        evidence=side_rows(case, index),
        why=(
            f"{_meeting(node)} Two branches meet here, with the same value and different slopes, so there is no "
            f"derivative. The number that {words.framework_name(case.capture.framework)} returns is a convention; "
            "next to this point the gradient is one slope or the other."
        ),
        fix=Fix("move the point off the kink, or use a smooth function with a width that suits the scale"),
        op=node.op,
    )


def _meeting(node: Node) -> str:
    where = "The program" if node.span is None else f"Line {node.span.line}"
    return f"{where} compares two numbers that are exactly equal."


def _near_a_kink(case: Case, flip: Flip) -> Diagnostic:
    index = _changed(case, flip)
    assert flip.node.span is not None
    distance = words.significant(flip.relative, 2)
    return Diagnostic(
        kind="kink",
        severity="note",
        certainty="proven",
        headline=f"a kink of `{case.capture.target}` is so near that rounding may cross it",
        primary=Annotation(
            flip.node.span, f"decided by a margin of {words.significant(abs(flip.margin), 2)}"
        ),
        subject=subject(case, index),
        evidence=_near_rows(case, flip, index),
        why=(
            f"{capital(op_words(flip.node))} compares two numbers that differ by {distance} of their size, less than a "
            "few units of their last digit. On the other side the gradient is another one. A rounding, or the step "
            "of a finite difference, goes across."
        ),
        op=flip.node.op,
    )


def _near_rows(case: Case, flip: Flip, index: tuple[int, ...]) -> Rows:
    other = words.number(flip.other.mid[index].item(), flip.other.rad[index].item())
    own = proven_text(case, index)
    rows = [(words.framework_name(case.capture.framework), observed_text(case, index))]
    if own is not None:
        rows.append(("this side", own))
    return (*rows, ("other side", other))


def _changed(case: Case, flip: Flip) -> tuple[int, ...]:
    """The entry of the gradient that the other branch changes most."""
    own = case.true
    assert own is not None
    apart = np.abs(np.nan_to_num(flip.other.mid - own.mid))
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(apart)), apart.shape))


CAUSE = Cause(name="kink", find=find, doc=__doc__ or "", on=(Occasion.UNDEFINED, Occasion.FLIP))
