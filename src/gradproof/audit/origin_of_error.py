"""Where the error of an inaccurate gradient arises: what each node rounded away, and its share in the worst entry."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradproof.diagnosis.case import Case, Rounding
from gradproof.engine.refine import entry_count
from gradproof.engine.rounding import (
    budget_of,
    error_adjoints,
    local_errors,
    propagate_errors,
    recorded_run,
)
from gradproof.ir.program import Program, prune
from gradproof.ir.types import Array
from gradproof.judge.blame import departures
from gradproof.judge.reference import CHEAP_ENTRIES
from gradproof.judge.verdict import Verdict

TINY_BITS = 1280  # tells exp(-800) beside 1 from 0: smaller ones are zero in every dtype


def with_origin_of_error(case: Case) -> Case:
    if case.verdict is Verdict.INACCURATE and case.source.recorded is not None:
        return _with_budget(case)
    if case.verdict is Verdict.WRONG and case.capture.gradient_program is not None:
        found = departures(case.capture.gradient_program, case.capture.rules.pullbacks, case.options)
        return replace(case, rules=replace(case.rules, departures=tuple(found)))
    return case


def _with_budget(case: Case) -> Case:
    """Whose rounding it was, measured at the worst entry of the gradient."""
    assert case.capture.gradient_program is not None and case.source.recorded is not None
    program = prune(case.capture.gradient_program, [case.source.recorded])
    found = _budgeted(case, program, local_errors(program))
    if not found.rounding.total_error and entry_count(program) <= CHEAP_ENTRIES:
        # One minus tanh(20) is lost in float64 too, where the errors of a float32 program are looked for first.
        found = _budgeted(case, program, local_errors(program, TINY_BITS))
    return found


def _budgeted(case: Case, program: Program, errors: dict[int, Array]) -> Case:
    weight = np.zeros(case.source.shape)
    comparison = case.judgement.comparison
    assert comparison is not None
    weight[comparison.worst or ()] = 1.0
    at = recorded_run(program)
    adjoints = error_adjoints(program, errors, [weight], at)
    shares = budget_of(errors, adjoints)
    total = sum(shares.values())
    if total:
        shares = {id: share / total for id, share in shares.items()}
    return replace(
        case, rounding=Rounding(errors, propagate_errors(program, errors, at), adjoints, total, shares)
    )
