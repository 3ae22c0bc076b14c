"""Adding a small number to a large one rounds the small one away.

What it finds
    A sum in which the smaller operand loses digits because the larger one leaves no room for them, and which the
    error of the gradient comes from.

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
    a later subtraction removes the large part again: that is cancellation, and reported there.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.causes._rounding import diagnose, loss_of, spacing_text
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.loss import Loss


def find(case: Case) -> Iterator[Diagnostic]:
    loss = loss_of(case, "absorption")
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


def _operands(case: Case, loss: Loss) -> tuple[float, float]:
    sizes = sorted(
        abs(float(np.broadcast_to(np.asarray(case.node(id).value), loss.place.shape)[loss.index]))
        for id in loss.place.inputs
    )
    return sizes[0], sizes[-1]


CAUSE = Cause(name="absorption", find=find, doc=__doc__ or "")
