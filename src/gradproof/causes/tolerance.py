"""The tolerance of a check asks for more digits than there can be.

What it finds
    A gradient that is as good as its dtype allows and fails a tolerance that is tighter; and a gradient check by finite
    differences, ours or the framework's own, whose tolerance is below what differences of this function can tell.

Why it spoils a gradient
    It does not: the check is to blame. A float32 holds 7 digits, and a result of several ops has fewer. A tolerance
    below that calls every gradient wrong, right ones included.

Example
    gradproof.check(f, x_float32, options=gradproof.Options(tolerances={"float32": 1e-9}))

Write instead
    a tolerance of some hundred roundings, 1e-5 in float32, or a wider dtype

Stays silent when
    the tolerance can be met in this dtype, so that a gradient that fails it is really off.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.blackbox.numerical_check import NumericalCheck
from gradproof.causes._differences import diagnose, missed
from gradproof.causes._evidence import comparison_rows, subject
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.loss import is_beyond_dtype
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir import types
from gradproof.judge.verdict import Verdict


def find(case: Case) -> Iterator[Diagnostic]:
    off = missed(case)
    if off is not None and off.kind == "tolerance":
        yield diagnose(case, off)
    if case.verdict is not Verdict.INACCURATE or not is_beyond_dtype(case):
        return
    dtype = case.source.dtype
    asked = words.significant(case.options.tolerance(dtype), 2).replace(".0e", "e")
    digits = round(types.digits_possible(dtype))
    yield Diagnostic(
        kind="tolerance",
        severity="error",
        certainty="proven",
        headline=f"a tolerance of {asked} asks for more digits than {dtype} holds",
        subject=subject(case),
        evidence=(*comparison_rows(case), ("tolerance", asked)),
        why=(
            f"A {dtype} holds {digits} digits, and one rounding is a relative error of about "
            f"{words.significant(types.unit_roundoff(dtype), 2)}. The gradient is as good as that allows, and the "
            "tolerance is below it."
        ),
        fix=Fix(f"allow some hundred roundings of {dtype}, or compute in a wider dtype"),
    )


def of_check(check: NumericalCheck, name: str = "f") -> Diagnostic | None:
    """What a gradient check by finite differences has to say about the tolerance it was given."""
    if check.verdict != "unverified" or check.cause is not None or "tolerance" not in check.reason:
        return None
    return Diagnostic(
        kind="tolerance",
        severity="warning",
        certainty="measured",
        headline=f"a tolerance of {check.tolerance:.0e} is smaller than the error of the differences",
        subject=f"d {name}",
        evidence=(("tolerance", f"{check.tolerance:.0e}"), ("known", check.reason)),
        why=(
            "The slopes were found with an error bar, and the error bar is wider than the tolerance. Whether the "
            "gradient agrees to that many digits cannot be seen from values of the function alone."
        ),
        fix=Fix(
            "allow for the error of the differences, or check the function with `gradproof.check`, which needs none"
        ),
    )


CAUSE = Cause(name="tolerance", find=find, doc=__doc__ or "", on=(Occasion.INACCURATE, Occasion.AROUND))
