"""Adding a small number to a large one rounds the small one away.

What it finds
    A sum in which the smaller operand loses digits because the larger one leaves no room for them, and which the
    error of the gradient comes from; and a number rounded to one where the next function has an infinite slope.

Why it spoils a gradient
    A float carries a fixed number of digits, counted from the largest. Digits of the smaller operand that fall
    below the last of them are gone, and everything computed from the sum behaves as if they had never been there.

Example
    seconds = 1.7e9 + offset        # float32: steps of 128 seconds
    daily = tf.sin(omega * seconds)

Write instead
    daily = tf.sin(omega * (1.7e9 % day) + omega * offset)   # reduce the large part first, in float64

Stays silent when
    the sum is exact, or what it loses does not reach the gradient; or
    a later subtraction removes the large part again: that is cancellation, and reported there; or
    the number is where the slope is infinite in exact arithmetic too: that is singular-point.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.causes._nonfinite import diagnose as diagnose_nonfinite
from gradproof.causes._nonfinite import line_of, nonfinite_of, way_row
from gradproof.causes._places import capital, forward_op, number_at, op_words, slope_words
from gradproof.causes._rounding import computed_and_proven, diagnose, loss_of, spacing_text
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.diagnosis.flow import Place
from gradproof.diagnosis.loss import Loss
from gradproof.diagnosis.occasion import Occasion
from gradproof.diagnosis.zero import SUMS
from gradproof.ir import types


def find(case: Case) -> Iterator[Diagnostic]:
    loss, found = loss_of(case, "absorption"), nonfinite_of(case, "absorption")
    if found is not None and found.rounded is not None:
        yield from _not_finite(case, found, found.rounded)
    if loss is None:
        return
    small, large = _operands(case, loss)
    error = abs(float(np.asarray(case.rounding.local_errors[loss.place.id])[loss.index]))
    dtype, lost = loss.place.dtype, words.significant(error, 2)
    yield from diagnose(
        case,
        loss,
        headline=f"{dtype} rounds {_part(small, error)} away when it is added to {words.significant(large, 3)}",
        label=spacing_text(loss.place),
        lost_at=f"{lost} out of {words.significant(small, 3)} is rounded away",
        why=(
            f"A {dtype} near {words.significant(large, 3)} can only move in steps, and "
            f"{words.significant(small, 3)} is not a whole number of them. The sum goes to the nearest step, and "
            "everything after it, the gradient too, belongs to that neighbour and not to the number that was meant."
        ),
        fix=Fix("subtract the large number before the small one is added, or add in a wider dtype"),
    )


def _part(small: float, error: float) -> str:
    """`30.0`, or `0.4 of 30.0` where only a part is lost."""
    whole, part = words.significant(small, 3), words.significant(error, 2)
    return whole if float(whole) == float(part) else f"{part} of {whole}"


def _not_finite(case: Case, found: Nonfinite, place: Place) -> Iterator[Diagnostic]:
    """What tells a number from its neighbour was rounded away, and at the neighbour a slope is infinite."""
    node, user = found.program[place.id], forward_op(found.program, found.origin)
    what = "this sum" if node.op in SUMS else op_words(forward_op(found.program, node))
    neighbour = number_at(found.program, place).removesuffix(".0")
    yield from diagnose_nonfinite(
        case,
        found,
        place,
        headline=f"{what} is rounded to {neighbour}, which leads to an infinite slope of {op_words(user)}",
        label=computed_and_proven(case, node, place.index),
        rows=way_row(found),
        secondary=()
        if user.span is None
        else (Annotation(user.span, f"{slope_words(user)} is infinite here"),),
        why=(
            f"In exact arithmetic {line_of(node.span)} gives a number close to {neighbour}. What tells the two apart "
            f"is beyond the {round(types.digits_possible(node.dtype))} digits of a {node.dtype}. "
            f"{capital(line_of(user.span))} is computed from it where its slope is infinite, and the chain rule "
            "multiplies by that."
        ),
        fix=Fix(
            "write the two steps as one formula that does not need the lost digits, or use a wider dtype"
        ),
    )


def _operands(case: Case, loss: Loss) -> tuple[float, float]:
    sizes = sorted(
        abs(float(np.broadcast_to(np.asarray(case.node(id).value), loss.place.shape)[loss.index]))
        for id in loss.place.inputs
    )
    return sizes[0], sizes[-1]


CAUSE = Cause(name="absorption", find=find, doc=__doc__ or "", on=(Occasion.INACCURATE, Occasion.NONFINITE))
