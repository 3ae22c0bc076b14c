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

from gradproof.causes._nonfinite import diagnose as diagnose_nonfinite
from gradproof.causes._nonfinite import line_of, nonfinite_of, way_row
from gradproof.causes._places import capital, forward_op, op_words, slope_words
from gradproof.causes._rounding import computed_and_proven, diagnose, loss_of, operands_over_result, proven_at
from gradproof.causes._saturated import saturated, saturated_fix, saturated_name
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.diagnosis.flow import Place
from gradproof.diagnosis.loss import Loss
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir import types
from gradproof.ir.program import Node

_FIX = "write the difference so that the large parts never meet: subtract first, or use a form made for small values"
_WORDS = {"sub": "a subtraction", "add": "a sum of opposite signs"}


def find(case: Case) -> Iterator[Diagnostic]:
    loss, found = loss_of(case, "cancellation"), nonfinite_of(case, "cancellation")
    if found is not None and found.rounded is not None:
        yield from _not_finite(case, found, found.rounded)
    if loss is None:
        return
    flat = None if loss.place.span is None else saturated(case, loss.place.span)
    if flat is not None:
        yield from _flat(case, loss, flat)
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
        fix=Fix(_FIX),
    )


def _flat(case: Case, loss: Loss, node: Node) -> Iterator[Diagnostic]:
    """The subtraction is in the rule of a function that is saturated, where the user wrote none."""
    program, dtype = case.capture.program, node.dtype
    assert program is not None
    function = saturated_name(program, node)
    yield from diagnose(
        case,
        loss,
        headline=f"{function} is saturated: its slope is lost to rounding, and the gradient with it",
        label=f"every result is a limit of the function to the digits of a {dtype}",
        lost_at="",
        why=(
            f"The slope of {function} is computed from its result, and a result this near to its limit is rounded to "
            f"it. What is left of the slope is 0 or mostly rounding, and the chain rule multiplies by it. The true "
            "slope is tiny, but not that."
        ),
        fix=Fix(saturated_fix(program, node)),
    )


def _digits_left(case: Case, loss: Loss) -> str:
    possible = types.digits_possible(loss.place.dtype)
    value = abs(complex(loss.place.value[loss.index]))
    error = abs(complex(case.rounding.propagated[loss.place.id][loss.index]))
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


def _not_finite(case: Case, found: Nonfinite, place: Place) -> Iterator[Diagnostic]:
    """All digits cancelled, and the zero that is left was divided by, or its logarithm taken."""
    node, user = found.program[place.id], forward_op(found.program, found.origin)
    what = _WORDS.get(node.op, "a sum")
    proven = proven_at(case, node, place.index)
    meant = "" if proven is None else f", proven {proven}"
    yield from diagnose_nonfinite(
        case,
        found,
        place,
        headline=f"{what} leaves 0 by rounding, and {op_words(user)} of it is infinite",
        label=f"computed 0{meant}",
        rows=way_row(found),
        secondary=()
        if user.span is None
        else (Annotation(user.span, f"{slope_words(user)} is infinite at 0"),),
        why=(
            f"The operands on {line_of(node.span)} agree in all digits that a {node.dtype} holds, so nothing "
            f"is left of their difference, which in truth is not 0. {capital(line_of(user.span))} takes "
            f"{op_words(user)} of that 0, where its slope is infinite, and the chain rule multiplies by it."
        ),
        fix=Fix(_FIX),
    )


CAUSE = Cause(name="cancellation", find=find, doc=__doc__ or "", on=(Occasion.INACCURATE, Occasion.NONFINITE))
