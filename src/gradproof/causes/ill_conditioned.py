"""The function is so steep here that ordinary rounding is enough to spoil its gradient.

What it finds
    An inaccurate gradient whose error comes from ordinary roundings and grows because a function on the path reacts
    strongly to its input; also a subtraction, where no other way of writing was found and roundings of the inputs
    alone would move the true gradient as much.

Why it spoils a gradient
    Rounding the input of a steep function is the same as asking for the gradient at a neighbouring point, and there it
    is noticeably different. No other way of writing the same steps avoids it; more precision does.

Example
    y = tf.tan(x)                   # x close to pi/2

Write instead
    compute this part in float64, or change the variable so that the steep part disappears

Stays silent when
    another way of writing the same function keeps the digits: that is cancellation, or absorption; or
    the gradient is right to the accuracy of its dtype.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._rounding import computed_and_proven, diagnose, loss_of
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.occasion import Occasion


def find(case: Case) -> Iterator[Diagnostic]:
    loss = loss_of(case, "ill-conditioned")
    if loss is None:
        return
    yield from diagnose(
        case,
        loss,
        headline=f"a rounding error grows {words.ratio(loss.growth)} times here, and spoils the gradient",
        label=computed_and_proven(case, loss.place, loss.index),
        lost_at=f"a relative error grows {words.ratio(loss.growth)} times",
        why=(
            f"The error begins as an ordinary rounding of a {loss.origin.dtype}. The function computed here is "
            f"so steep at this point that even the last digit of its input matters. "
            f"{_remedy(case).format(dtype=loss.origin.dtype)}"
        ),
        fix=Fix("compute this part in a wider dtype"),
    )


def _remedy(case: Case) -> str:
    """Whether the formula is to blame or the problem: decided by a rewriting that was run."""
    if case.remedy.is_formula:
        return "Another way of writing the same function avoids this step."
    if case.remedy.is_problem:
        return (
            "The true gradient is as sensitive: a change of the inputs in their last digit moves it by as much. No "
            "other way of writing was found that keeps the digits of a {dtype}; more digits do."
        )
    return "Writing the same steps differently does not help; more precision does."


CAUSE = Cause(name="ill-conditioned", find=find, doc=__doc__ or "", on=(Occasion.INACCURATE,))
