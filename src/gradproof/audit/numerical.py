"""A gradient check by finite differences, as an entry of the report of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.blackbox.numerical_check import NumericalCheck
from gradproof.causes import step_size, tolerance
from gradproof.diagnosis.diagnostic import Annotation
from gradproof.diagnosis.entries import digits_possible
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.request import name_of
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict

ORACLE = "differences"


def check_reports(check: NumericalCheck, function: Callable[..., Any], call: Span) -> list[GradientReport]:
    """One entry per argument. Where the step is to blame nothing is known about the gradient itself."""
    name = name_of(function)
    found = step_size.of_check(check, name) or tolerance.of_check(check, name)
    diagnostics = (
        () if found is None else (replace(found, primary=Annotation(call, "checks with differences")),)
    )
    verdict = _verdict(check)
    return [
        GradientReport(
            call=call,
            framework="numpy",
            target=name,
            source=f"argument {k + 1}",
            shape=slopes.value.shape,
            dtype="float64",
            verdict=verdict,
            oracle=ORACLE,
            reason=None if verdict is Verdict.CORRECT else check.reason,
            observed=None if check.differences is None else np.asarray(check.differences[k]),
            reference=slopes.value,
            reference_radius=slopes.error,
            digits_possible=digits_possible("float64"),
            diagnostics=diagnostics,
        )
        for k, slopes in enumerate(check.slopes)
    ]


def _verdict(check: NumericalCheck) -> Verdict:
    if check.verdict == "agrees":
        return Verdict.CORRECT
    return Verdict.WRONG if check.verdict == "disagrees" and check.cause is None else Verdict.UNVERIFIED
