"""A gradient check by finite differences, as an entry of the report of a run."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from gradproof.blackbox.numerical_check import NumericalCheck
from gradproof.causes import step_size, tolerance
from gradproof.diagnosis import words
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic
from gradproof.diagnosis.drawing.shorten import significant
from gradproof.diagnosis.entries import digits_possible
from gradproof.diagnosis.figures import Figures, StepCurve
from gradproof.diagnosis.report import GradientReport
from gradproof.fixes.edit import without_keyword
from gradproof.fixes.source import parsed
from gradproof.frontends.check.request import name_of
from gradproof.ir.span import Span
from gradproof.judge.by_facts import by_differences


def check_reports(check: NumericalCheck, function: Callable[..., Any], call: Span) -> list[GradientReport]:
    """One entry per argument. Where the step is to blame nothing is known about the gradient itself."""
    name = name_of(function)
    found = step_size.of_check(check, name) or tolerance.of_check(check, name)
    diagnostics = () if found is None else (_placed(found, check, call),)
    judgement = by_differences(check)
    return [
        GradientReport(
            call=call,
            framework="numpy",
            target=name,
            source=f"argument {k + 1}",
            shape=slopes.value.shape,
            dtype="float64",
            verdict=judgement.verdict,
            oracle=judgement.oracle,
            reason=judgement.reason,
            observed=None if check.differences is None else np.asarray(check.differences[k]),
            reference=slopes.value,
            reference_radius=slopes.error,
            digits_possible=digits_possible("float64"),
            diagnostics=diagnostics,
            drawing=partial(_figures, check, k),
        )
        for k, slopes in enumerate(check.slopes)
    ]


def _placed(found: Diagnostic, check: NumericalCheck, call: Span) -> Diagnostic:
    """The diagnostic at the call, with the change that leaves the choice of the step to the check."""
    found = replace(found, primary=Annotation(call, "checks with differences"))
    source = parsed("".join(linecache.getlines(call.file)))
    if found.kind != "step-size" or found.fix is None or source is None:
        return found
    patch = without_keyword(source, source.at(call), "epsilon", call.file)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = [np.max(np.abs(part.error / part.value), initial=0.0) for part in check.slopes]
    worst = float(max(shares, default=0.0))
    size = (
        f"to {words.significant(worst, 2)} of their size" if np.isfinite(worst) else "with an error bar each"
    )
    checked = f"with steps that were chosen for each entry, the slopes of this function are known {size}."
    return replace(found, fix=replace(found.fix, patch=patch, checked=checked))


def _figures(check: NumericalCheck, argument: int) -> Figures:
    """The error against the step, for one entry of an argument: what such a check depends on."""
    slopes, index = check.slopes[argument], _shown_index(check, argument)
    lacking = dict.fromkeys(("slice", "program"), "a check by differences only calls the function")
    if index is None:
        return Figures(
            lacking={**lacking, "steps": "no entry has a slope that an error could be relative to"}
        )
    entry = slopes.entries[int(np.ravel_multi_index(index, slopes.value.shape)) if index else 0]
    name = f"argument {argument + 1}" + (f"[{', '.join(map(str, index))}]" if index else "")
    steps, places = np.unique(significant(entry.curve.steps), return_index=True)
    errors = np.abs(entry.curve.differences[places] - entry.value) / abs(entry.value)
    curve = StepCurve(
        direction=f"along `{name}`",
        steps=steps,
        errors=significant(errors),
        usable=entry.usable_steps(check.tolerance),
        usable_to=check.tolerance,
        used=check.epsilon,
    )
    return Figures(steps=curve, lacking=lacking)


def _shown_index(check: NumericalCheck, argument: int) -> tuple[int, ...] | None:
    """The entry for which the step is worst, else the largest; None where no slope is known but zero."""
    if check.step is not None and check.step.argument == argument:
        return check.step.index if check.step.value else None
    sizes = np.nan_to_num(np.abs(check.slopes[argument].value))
    if not sizes.any():
        return None
    return tuple(int(k) for k in np.unravel_index(np.argmax(sizes), sizes.shape))
