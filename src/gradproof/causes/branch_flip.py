"""Rounding took another branch than exact arithmetic.

What it finds
    A comparison, maximum, sort or rounding whose operands carry errors larger than the distance between them, so
    that exact arithmetic decides the other way, where the gradient of the other branch is a different one.

Why it spoils a gradient
    The gradient is right for the branch that ran, and that is not the branch of the function as it is written. A
    different dtype, machine or order of additions gives another gradient.

Example
    is_large = (x + 1e16) - 1e16 > 0.5      # float64, x = 1: False, since 1e16 + 1 is rounded to 1e16
    loss = np.where(is_large, 3.0 * x, 5.0 * x)

Write instead
    is_large = x > 0.5                      # no rounding before the comparison; or a smooth switch
    loss = np.where(is_large, 3.0 * x, 5.0 * x)

Stays silent when
    exact arithmetic takes the same branch; or
    the gradients of both branches agree; or
    the operands are exactly equal: that is a kink or a jump. Where the two gradients differ in single entries and
    agree by norm to the tolerance, as if one unit of a large batch flips, or where the policy of the program is to
    compute in 16 bits, it is only noted.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.causes._evidence import Rows, observed_text, proven_text, subject
from gradproof.causes._places import op_words
from gradproof.causes._saturated import saturated_before
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.diagnosis.entries import norm
from gradproof.diagnosis.flips import Flip
from gradproof.diagnosis.occasion import Occasion
from gradproof.judge.policy import policy_dtype


def find(case: Case) -> Iterator[Diagnostic]:
    flips = [flip for flip in case.irregular.flips if flip.is_flipped and flip.matters]
    if not flips or saturated_before(case, flips[0].node) is not None:  # that is what rounding has lost
        return
    flip = flips[0]
    index = _changed(case, flip)
    distance = words.significant(abs(flip.margin), 2)
    where = "the program" if flip.node.span is None else f"line {flip.node.span.line}"
    yield Diagnostic(
        kind="branch-flip",
        severity="note" if _is_by_policy(case) or _agrees_by_norm(case, flip) else "warning",
        certainty="proven",
        headline=f"rounding decides {op_words(flip.node)} here, and exact arithmetic decides otherwise",
        primary=annotated(flip.node.span, _label(flip, distance)),
        subject=subject(case, index),
        evidence=_rows(case, flip, index),
        why=(
            f"In exact arithmetic the numbers that {where} compares differ by {distance}, and rounding has "
            "moved one across the other. The gradient belongs to the branch that ran. In exact arithmetic, or "
            "in a wider dtype, the other branch is taken."
        ),
        fix=Fix("compare with a margin wider than the rounding, or use a smooth switch"),
        op=flip.node.op,
    )


def _label(flip: Flip, distance: str) -> str:
    taken = np.asarray(flip.node.value)[flip.index]
    if flip.node.dtype == "bool":
        return f"computed {bool(taken)}, proven {not bool(taken)} by {distance}"
    return f"decided otherwise by {distance} in exact arithmetic"


def _rows(case: Case, flip: Flip, index: tuple[int, ...]) -> Rows:
    rows = [(words.framework_name(case.capture.framework), observed_text(case, index))]
    taken = proven_text(case, index)
    if taken is not None:
        rows.append(("this branch", taken))
    other = words.number(flip.other.mid[index].item(), flip.other.rad[index].item())
    return (*rows, ("other branch", other))


def _is_by_policy(case: Case) -> bool:
    """Whether the program's own policy is to round so: units of every large layer flip in 16 bits."""
    return policy_dtype(case.capture, case.index) is not None


def _agrees_by_norm(case: Case, flip: Flip) -> bool:
    """Whether the two branches differ in single entries only: one unit of one sample, as in every large batch."""
    own = case.true
    assert own is not None
    return norm(flip.other.mid - own.mid) <= case.options.tolerance(case.source.dtype) * norm(own.mid)


def _changed(case: Case, flip: Flip) -> tuple[int, ...]:
    own = case.true
    assert own is not None
    apart = np.abs(np.nan_to_num(flip.other.mid - own.mid))
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(apart)), apart.shape))


CAUSE = Cause(name="branch-flip", find=find, doc=__doc__ or "", on=(Occasion.FLIP,))
