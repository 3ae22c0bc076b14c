"""A number too small for its dtype became zero.

What it finds
    An op whose exact result is not zero and whose computed result is zero or has lost most of its digits because it is
    smaller than the smallest normal number, where that loss reaches the gradient.

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

from gradproof.causes._rounding import computed_and_proven, diagnose, loss_of
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix


def find(case: Case) -> Iterator[Diagnostic]:
    loss = loss_of(case, "underflow")
    if loss is None:
        return
    yield from diagnose(
        case,
        loss,
        headline=f"a result too small for {loss.place.dtype} is lost, and the gradient needs it",
        label=computed_and_proven(case, loss.place, loss.index),
        lost_at=f"below the smallest number that {loss.place.dtype} holds with all its digits",
        why=(
            f"The exact result of this op is smaller than what {loss.place.dtype} can hold. What is kept of it is zero, or "
            "a few bits, and the chain rule multiplies or divides by that."
        ),
        fix=Fix("work with the logarithm of this quantity, or in a wider dtype"),
    )


CAUSE = Cause(name="underflow", find=find, doc=__doc__ or "")
