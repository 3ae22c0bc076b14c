"""Subtracting two nearly equal numbers throws away their leading digits.

What it finds
    A sum or difference that is so much smaller than its operands that the rounding already inside them reaches
    the digits that are left, and through which most of the gradient's error passes.

Why it spoils a gradient
    The result carries the absolute error of its operands, which is large beside it. Whatever the chain rule
    computes from it carries the same relative error.

Example
    y = x * 1e10 + 1.0
    z = y - 1e10            # float32, x = 1: gives 0.0, the true value is 1

Write instead
    z = (x - 1.0) * 1e10 + 1.0

Stays silent when
    the operands were exact, so nothing was rounded before the subtraction; or
    the result does not reach the gradient; or
    the gradient is right to the accuracy of its dtype.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from gradproof.causes._rounding import computed_and_proven, diagnose, loss_of, operands_over_result
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.loss import Loss
from gradproof.ir import types

_WORDS = {"sub": "a subtraction", "add": "a sum of opposite signs"}


def find(case: Case) -> Iterator[Diagnostic]:
    loss = loss_of(case, "cancellation")
    if loss is None:
        return
    what = _WORDS.get(loss.place.op, "a sum")
    larger = words.ratio(operands_over_result(case, loss))
    yield from diagnose(
        case,
        loss,
        headline=f"{what} leaves {_digits_left(case, loss)} correct digits, and the gradient is built on it",
        label=computed_and_proven(case, loss.place, loss.index),
        lost_at=f"the operands are {larger} times larger than their difference",
        why=_why(case, loss),
    )


def _digits_left(case: Case, loss: Loss) -> str:
    possible = types.digits_possible(loss.place.dtype)
    value = abs(complex(loss.place.value[loss.index]))
    error = abs(complex(case.propagated[loss.place.id][loss.index]))
    true = abs(value - error) or value
    digits = 0.0 if error >= true else -math.log10(error / true) if error else possible
    return words.whole_digits_text(digits, possible).removesuffix(" digits")


def _why(case: Case, loss: Loss) -> str:
    digits = round(types.digits_possible(loss.place.dtype))
    origin, place = loss.origin, loss.place
    rounded = "The operands" if origin.span is None else f"What line {origin.span.line} computes"
    where = "The subtraction" if place.span is None else f"Line {place.span.line}"
    return (
        f"{rounded} is rounded to the {digits} digits that a {place.dtype} carries. {where} then takes away all but "
        "the last of these digits, and what is left is mostly that rounding. The chain rule multiplies by it."
    )


CAUSE = Cause(name="cancellation", find=find, doc=__doc__ or "")
