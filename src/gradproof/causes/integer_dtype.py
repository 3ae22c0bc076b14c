"""The gradient is asked for integers, and integers cannot be moved a little.

What it finds
    A gradient of None for a source whose dtype is an integer, a boolean or text.

Why it spoils a gradient
    A derivative says what a small change of the source does. Between 2 and 3 there is no integer, so frameworks
    record nothing for integer tensors, even where the formula would have a slope.

Example
    x = tf.constant(2)              # int32
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    tape.gradient(y, x)             # None

Write instead
    x = tf.constant(2.0)

Stays silent when
    the source is a floating-point number and an op on the path made integers of it: that is discrete-op.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from gradproof.causes._evidence import instead_of_none
from gradproof.causes._missing import broken, diagnose, lacks
from gradproof.causes._source import assigned, is_index, replaced_span, text_of
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.occasion import Occasion
from gradproof.frameworks import framework
from gradproof.ir.capture import Break

_INTEGER = re.compile(r"(?<!=[(\[])(?<=[(\[])((?:-?\d+, )*-?\d+)(?=[,)\]])")


def find(case: Case) -> Iterator[Diagnostic]:
    missing = broken(case, "integer-dtype")
    if missing is None:
        return
    name, dtype = case.source.name, case.source.dtype
    made = assigned(case, name, case.capture.call)
    if made is not None and missing.span == case.capture.call:
        missing = replace(missing, span=made, contributing=((case.capture.call, _ending(case)),))
    yield from diagnose(
        case,
        missing,
        headline=f"{_lacks(case)} because `{name}` holds {dtype}, not real numbers",
        why=(
            f"A derivative says what a small change does, and {_thing(dtype)} cannot change by a little. "
            f"{_refused(case)} {dtype}{_formula(dtype)}."
        ),
        fix=_fix(case, missing),
    )


def _fix(case: Case, missing: Break) -> Fix:
    name = case.source.name
    if case.source.dtype == "string":
        return Fix("ask for the gradient of the numbers that are made of it")
    if is_index(case, name, case.capture.call):
        return Fix(
            f"`{name}` is used as an index and has to stay whole: ask for the gradient of another argument"
        )
    return Fix(
        f"give `{name}` a floating-point dtype; a number with a decimal point has one", _patch(case, missing)
    )


def _thing(dtype: str) -> str:
    return {"string": "text", "bool": "a boolean"}.get(dtype, "an integer")


def _formula(dtype: str) -> str:
    return "" if dtype == "string" else ", even where the formula would have a slope"


def _lacks(case: Case) -> str:
    return f"the gradient for `{case.source.name}` holds no numbers" if instead_of_none(case) else lacks(case)


def _ending(case: Case) -> str:
    return f"returns {instead_of_none(case) or None}" if case.capture.run.exception is None else "fails here"


def _refused(case: Case) -> str:
    title = framework(case.capture.framework).title
    if instead_of_none(case):
        return (
            f"{title} returns an array of dtype {instead_of_none(case)}, which holds no numbers, for one of"
        )
    if case.capture.run.exception is None:
        return "A tape records nothing for a tensor of"
    return f"{title} takes no derivative for an array of"


def _patch(case: Case, missing: Break) -> str:
    """Every whole number in the call that made the array gets a decimal point; a dtype that is named stays."""
    text = text_of(case, missing.span)
    if missing.span is None or "dtype" in text or re.search(r"tf\.u?int|np\.u?int", text):
        return ""
    return replaced_span(case, missing.span, _INTEGER.sub(_floats, text))


def _floats(numbers: re.Match[str]) -> str:
    return ", ".join(f"{number}.0" for number in numbers[1].split(", "))


CAUSE = Cause(name="integer-dtype", find=find, doc=__doc__ or "", on=(Occasion.MISSING,))
