"""A check of the program's own by finite differences that misses a gradient which is right: what is to blame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from gradproof.causes._evidence import subject
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.engine.refine import Enclosure
from gradproof.ir import types
from gradproof.ir.surroundings import Differences
from gradproof.judge.verdict import Verdict

SMALL_ENTRY = 1e-3  # of the largest: what an entry is measured against at least
MANY_ROUNDINGS = 16  # what the ops of a function may add to the rounding of its value


@dataclass(frozen=True)
class Missed:
    """The entry that the differences miss by most: by how much, what rounding explains, what any step could reach."""

    kind: Literal["step-size", "tolerance"]
    index: tuple[int, ...]
    difference: float
    true: float
    rounding: float
    best: float
    is_small: bool  # the step: what it loses, it loses to rounding
    is_close: bool = False  # to the derivative: the check asks for more than differences are good for


def missed(case: Case) -> Missed | None:
    """None where there was no such check, it was content for all we know, or the gradient is not right itself."""
    seen, program = case.capture.around.differences, case.capture.program
    true = None if seen is None else _compared_with(case, seen)
    if seen is None or true is None or program is None or case.verdict is not Verdict.CORRECT:
        return None
    values = np.asarray(seen.values, np.float64).reshape(true.mid.shape)
    dtype = case.source.dtype
    size = np.abs(true.mid)
    scale = np.maximum(size, SMALL_ENTRY * size.max(initial=0.0))
    allowed = case.options.tolerance(dtype)
    with np.errstate(divide="ignore", invalid="ignore"):
        off = np.abs(values - true.mid) - true.rad
        error = off / np.where(scale > 0, scale, 1.0)
        excess = np.where(off > allowed * scale, error, 0.0)
    is_close = not excess.any()
    if is_close and not (seen.is_failed and (error > 0).any()):
        return None
    if is_close:
        excess = error
    index = tuple(int(k) for k in np.unravel_index(int(np.argmax(excess)), excess.shape))
    value = float(np.max(np.abs(np.asarray(program[program.outputs[0]].value, np.float64))))
    noise = types.unit_roundoff(dtype) * value
    rounding, best = MANY_ROUNDINGS * noise / seen.step, noise ** (2.0 / 3.0)
    is_small = bool(off[index] <= rounding)
    hopeless = is_small and best > allowed * scale[index]
    kind: Literal["step-size", "tolerance"] = "tolerance" if hopeless or is_close else "step-size"
    found = float(values[index]), float(true.mid[index])
    return Missed(kind, index, *found, rounding, best, is_small, is_close)


def _compared_with(case: Case, seen: Differences) -> Enclosure | None:
    """The true gradient, or the true slope of the target in the direction that was checked."""
    if not seen.along:
        return case.true
    reference = case.judgement.reference
    if reference is None or len(reference.enclosures) != len(seen.along):
        return None
    pairs = list(zip(seen.along, reference.enclosures))
    mid = sum(float(np.sum(one * true.mid)) for one, true in pairs)
    rad = sum(float(np.sum(np.abs(one) * true.rad)) for one, true in pairs)
    return Enclosure(np.asarray(mid), np.asarray(rad))


def diagnose(case: Case, found: Missed) -> Diagnostic:
    seen = case.capture.around.differences
    assert seen is not None
    step = words.significant(seen.step, 4).removesuffix(".0")
    framework = words.framework_name(case.capture.framework)
    headline = (
        f"{seen.name} {step} is too {'small' if found.is_small else 'large'} for this check; the gradient is right"
        if found.kind == "step-size"
        else "the tolerance of this check is finer than its differences are; the gradient is right"
        if found.is_close
        else f"no {seen.name} lets differences in {case.source.dtype} tell this gradient; it is right"
    )
    return Diagnostic(
        kind=found.kind,
        severity="warning",
        certainty="proven",
        headline=headline,
        primary=Annotation(case.capture.call, "checks with differences"),
        subject=subject(case, found.index),
        evidence=(
            ("differences", words.significant(found.difference, 7)),
            ("proven", words.significant(found.true, 15)),
            (seen.name, step),
            ("rounding", words.significant(found.rounding, 2)),
        ),
        why=_why(found, framework),
        fix=Fix(_remedy(case, found, seen.name)),
    )


def _why(found: Missed, framework: str) -> str:
    right = f"The gradient that {framework} computes is the derivative; the differences it is compared with are off."
    if found.is_close:
        apart = words.significant(abs(found.difference - found.true), 2)
        return f"{right} They are {apart} apart from it, as differences are, and the check allows less."
    if found.kind == "tolerance":
        return (
            f"{right} The values that are subtracted are rounded, and with the best of all steps about "
            f"{words.significant(found.best, 2)} of that is left in the slope: more than the slope's own tolerance."
        )
    if found.is_small:
        return f"{right} The step is so small that the rounding of the two values drowns their difference."
    return (
        f"{right} Within the step the function bends, or has a corner, and the difference is not its slope."
    )


def _remedy(case: Case, found: Missed, name: str) -> str:
    if found.is_close:
        return "allow what differences are good for, as the check does by default, or check in float64"
    if found.kind == "tolerance":
        return "check in float64, or with `gradproof.check`, which needs no differences"
    other = "larger" if found.is_small else "smaller"
    wider = "" if case.source.dtype == "float64" else " in float64"
    return f"use a {other} {name}{wider}, or `gradproof.check`, which needs none"
