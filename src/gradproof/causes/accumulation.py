"""Many small rounding errors add up.

What it finds
    A sum over many terms, or a line that runs many times, whose roundings together are the error of the gradient,
    though no single op lost more than its last digit.

Why it spoils a gradient
    Each addition rounds to the size of the running total. The longer the sum, the more of these errors there are,
    and added one after the other they grow with the number of terms.

Example
    for v in values:                # a million terms in float32
        total = total + v

Write instead
    total = tf.reduce_sum(values)   # adds in pairs; or accumulate in float64

Stays silent when
    one op alone accounts for the error; or
    the terms cancel: that is cancellation.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._rounding import diagnose, loss_of
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.occasion import Occasion
from gradproof.diagnosis.steepness import ADDITIONS, SUMS


def find(case: Case) -> Iterator[Diagnostic]:
    loss = loss_of(case, "accumulation")
    if loss is None:
        return
    line = None if loss.place.span is None else (loss.place.span.file, loss.place.span.line)
    ops = sum(
        1
        for id in case.rounding.budget
        if (span := case.node(id).span) is not None and (span.file, span.line) == line
    )
    is_sum = loss.place.op in ADDITIONS | SUMS
    what = "a long sum" if is_sum else "a line that is repeated"
    step = f"Every addition rounds to the {loss.place.dtype} nearest to the running total"
    yield from diagnose(
        case,
        loss,
        headline=f"{what} adds up its roundings, {_much(loss.share)} of the gradient's error",
        label=f"{words.count(ops, 'op')} rounded here",
        lost_at=f"{words.share(loss.share)} of the error arises here",
        why=(
            f"{step}. One such error is harmless; over a long sum they add up, and the gradient is computed from the "
            "total."
            if is_sum
            else f"Every op rounds to the nearest {loss.place.dtype}. One such error is harmless; here many of them "
            "add up, and the gradient is computed from what they leave."
        ),
        fix=Fix(
            "add in pairs with the framework's own sum, or accumulate in a wider dtype"
            if is_sum
            else "compute these steps in a wider dtype"
        ),
    )


def _much(share: float) -> str:
    """Shares may be more than the whole where others cancel against them."""
    return "nearly all" if share > 0.95 else words.share(share)


CAUSE = Cause(name="accumulation", find=find, doc=__doc__ or "", on=(Occasion.INACCURATE,))
