"""A number too small for its dtype became zero.

What it finds
    An op whose exact result is not zero and whose computed result is zero or has lost most of its digits because it is
    smaller than the smallest normal number, where that loss reaches the gradient. Also a number below the smallest
    normal one that the processor takes for zero.

Why it spoils a gradient
    A zero stays zero under multiplication, and its logarithm or reciprocal is infinite. A gradient built on
    it is zero, infinite or NaN where the true one is an ordinary number.

Example
    p = tf.nn.softmax(logits)       # float32, logits 0 and 120: p[0] is exp(-120) = 0
    loss = -tf.math.log(p[0])

Write instead
    loss = -tf.nn.log_softmax(logits)[0]

Stays silent when
    the true value is zero as well; or
    the loss does not reach the gradient.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._nonfinite import diagnose as diagnose_nonfinite
from gradproof.causes._nonfinite import line_of, nonfinite_of, way_row
from gradproof.causes._places import capital, forward_op, number_at, op_words, slope_words
from gradproof.causes._rounding import computed_and_proven, diagnose, loss_of
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.exact_entry import SMALLEST_NORMAL, Exact
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.diagnosis.flow import Place
from gradproof.diagnosis.loss import Loss
from gradproof.diagnosis.occasion import Occasion
from gradproof.fixes.kinds.scaled_loss import NARROW, advice

_FIX = "work with the logarithm of this quantity, or in a wider dtype"


def find(case: Case) -> Iterator[Diagnostic]:
    loss, found = loss_of(case, "underflow"), nonfinite_of(case, "underflow")
    if loss is not None:
        yield from _digits_lost(case, loss)
    elif found is not None and found.rounded is not None and found.rounded_exact is not None:
        yield from _not_finite(case, found, found.rounded, found.rounded_exact)
    elif found is not None and found.culprit is not None:
        yield from _taken_for_zero(case, found, found.culprit)


def _digits_lost(case: Case, loss: Loss) -> Iterator[Diagnostic]:
    yield from diagnose(
        case,
        loss,
        headline=f"a result too small for {loss.place.dtype} is lost, and the gradient needs it",
        label=computed_and_proven(case, loss.place, loss.index),
        lost_at=f"below the smallest number that {loss.place.dtype} holds with all its digits",
        why=(
            f"The exact result of this op is smaller than what {loss.place.dtype} can hold. What is kept of it "
            "is zero, or a few bits, and the chain rule multiplies or divides by that."
        ),
        fix=_remedy(case, loss),
    )


def _remedy(case: Case, loss: Loss) -> Fix:
    """Gradients of 16 bits are lost at the small end: what people do about it is to scale the loss."""
    is_scaled = loss.place.dtype == NARROW and loss.place.phase == "backward"
    return advice(case) if is_scaled else Fix(_FIX)


def _not_finite(case: Case, found: Nonfinite, place: Place, exact: Exact) -> Iterator[Diagnostic]:
    """A zero that is none was divided by, or its logarithm taken."""
    node = found.program[place.id]
    user = forward_op(found.program, found.origin)
    yield from diagnose_nonfinite(
        case,
        found,
        place,
        headline=f"a result of {exact.words} became 0 in {node.dtype}, and {op_words(user)} of it is infinite",
        label=f"computed 0, proven {exact.words}",
        rows=way_row(found),
        secondary=()
        if user.span is None
        else (Annotation(user.span, f"{slope_words(user)} is infinite at 0"),),
        why=(
            f"{capital(line_of(node.span))} computes {exact.words}, which is smaller than every {node.dtype} but 0. "
            f"{capital(line_of(user.span))} then takes {op_words(user)} of that 0, where the slope is "
            "infinite. Infinity times the other factors of the chain rule, which are 0 for the same reason, is NaN."
        ),
        fix=Fix(_FIX),
    )


def _taken_for_zero(case: Case, found: Nonfinite, place: Place) -> Iterator[Diagnostic]:
    """The number is still there, but too small for the processor to compute with."""
    value, dtype = number_at(found.program, place), found.program[place.id].dtype
    user = forward_op(found.program, found.origin)
    smallest = words.significant(SMALLEST_NORMAL[dtype], 2)
    yield from diagnose_nonfinite(
        case,
        found,
        found.trail[0],
        headline=f"{value} is treated as 0, where {slope_words(user)} is infinite",
        label=f"computed {number_at(found.program, found.trail[0])} from {value}",
        rows=(("limit", f"the smallest normal {dtype} is {smallest}"), *way_row(found)),
        why=(
            f"{capital(line_of(found.origin.span))} is given {value}. Below {smallest} a {dtype} has fewer and fewer "
            f"digits, and {words.framework_name(case.capture.framework)} tells the processor to treat such numbers "
            "as 0, which is quicker."
        ),
        fix=Fix("keep the numbers away from the end of the dtype by a scale factor, or use a wider dtype"),
    )


CAUSE = Cause(name="underflow", find=find, doc=__doc__ or "", on=(Occasion.INACCURATE, Occasion.NONFINITE))
