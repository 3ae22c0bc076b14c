"""Rules of the user's whose results cannot be gradients: of another shape or dtype, or none at all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradproof.causes._evidence import subject
from gradproof.causes._missing import broken, diagnose, lacks
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.ir import types
from gradproof.ir.capture import Scope
from gradproof.ir.program import Node
from gradproof.judge.custom import fits, shape_hint
from gradproof.judge.verdict import Verdict


def none_for_argument(case: Case) -> Iterator[Diagnostic]:
    """A rule ran and returned None for the argument that leads to the source."""
    missing = broken(case, "custom-gradient")
    if missing is None or "argument" not in missing.facts:
        return
    name, which = missing.facts["op"], words.ordinal(int(missing.facts["argument"]))
    yield from diagnose(
        case,
        missing,
        headline=f"{lacks(case)} because the hand-written gradient of `{name}` returns None for its {which} argument",
        why=(
            f"`{case.capture.target}` depends on `{case.source.name}` through the {which} argument of `{name}`. For "
            "that argument its rule returns None, so that the way back ends there. None says that nothing is known; "
            "a derivative of zero is an array of zeros."
        ),
        fix=case.remedy.rule_fix or Fix(f"return the gradient for the {which} argument too"),
    )


def misfits(case: Case) -> Iterator[Diagnostic]:
    """Rules whose results cannot be gradients of their arguments, in a call that failed or returned such a thing."""
    program, observed = case.program, case.source.observed
    failed = observed is None and case.capture.run.exception is not None
    if program is None or not (failed or (observed is not None and not _is_gradient(case, observed))):
        return
    for scope in case.capture.rules.scopes:
        for id, result in zip(scope.inputs, scope.results or ()):
            if result is not None and not fits(program[id], program[result]):
                yield _misfit(case, scope, program[id], program[result])
                return


def _is_gradient(case: Case, observed: np.ndarray[Any, Any]) -> bool:
    return observed.shape == case.source.shape and types.dtype_name(observed) == case.source.dtype


def _misfit(case: Case, scope: Scope, wanted: Node, found: Node) -> Diagnostic:
    if wanted.shape != found.shape:
        returned, needed = f"shape {words.shape_text(found.shape)}", f"shape {words.shape_text(wanted.shape)}"
        fix = "sum over the axes along which the argument was broadcast"
        hint = f": {shape_hint(found.shape, wanted.shape)}" if shape_hint(found.shape, wanted.shape) else ""
    else:
        returned, needed, hint = found.dtype, wanted.dtype, ""
        fix = f"cast what the rule returns to {wanted.dtype}"
    handed_on = found.id in (*scope.inputs, *(scope.upstream or ()))
    span = scope.rule_at or scope.defined_at if handed_on else found.span
    return Diagnostic(
        kind="custom-gradient",
        severity="warning" if case.verdict is Verdict.CORRECT else "error",
        certainty="proven",
        headline=f"{called(scope)} returns {returned} for an argument of {needed}",
        primary=annotated(span, f"{returned}{hint}"),
        subject=subject(case)
        if case.source.observed is None
        else f"d {case.capture.target} / d {case.source.name}",
        evidence=(("returned", returned), ("needed", needed)),
        why=(
            "A gradient has one entry for every entry of what it is taken for, in the same place and of the same "
            "dtype. What this rule returns has not, so that the gradient is either refused or handed on misshapen."
        ),
        fix=Fix(fix),
        op=scope.name,
    )


def called(scope: Scope) -> str:
    """What a hand-written rule is named in a sentence."""
    name = scope.name
    if scope.upstream:
        return f"the hand-written gradient of `{name}`"
    return (
        f"the hand-written gradient `{name}`"
        if name.isidentifier() and name != "ndarray"
        else "the gradient given"
    )
