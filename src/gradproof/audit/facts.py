"""Gathers the facts that the causes outside the family "rounding" read, each only where a verdict asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.first_nonfinite import first_nonfinite
from gradproof.diagnosis.flips import flips
from gradproof.diagnosis.growth import steepest_growth
from gradproof.diagnosis.singular import steepest, without_value
from gradproof.judge.verdict import Verdict

Array = np.ndarray[Any, Any]

_SMOOTH = (Verdict.CORRECT, Verdict.INACCURATE)
_ROUGH = (Verdict.UNDEFINED, Verdict.UNVERIFIED, Verdict.NONFINITE)


def with_facts(case: Case) -> Case:
    return _with_growth(_with_flips(_with_singular(_with_nonfinite(case))))


def _with_nonfinite(case: Case) -> Case:
    observed, recorded, program = case.source.observed, case.source.recorded, case.capture.gradient_program
    if observed is None or recorded is None or program is None or case.verdict not in _ROUGH:
        return case
    bad = ~np.isfinite(observed)
    if not bad.any():
        return case
    return replace(case, nonfinite=first_nonfinite(program, recorded, _bad_entry(case, bad)))


def _bad_entry(case: Case, bad: Array) -> tuple[int, ...]:
    comparison = case.judgement.comparison
    if comparison is not None and comparison.worst is not None and bad[comparison.worst]:
        return comparison.worst
    return tuple(int(k) for k in np.argwhere(bad)[0])


def _with_singular(case: Case) -> Case:
    """Needed where the gradient has no bound at the point itself, though it may have a limit."""
    reference, source = case.judgement.reference, case.source.node
    if reference is None or source is None or case.verdict not in _ROUGH or case.judgement.oracle == "ball":
        return case
    return replace(case, singular=steepest(reference.run, source), without_value=without_value(reference.run))


def _with_flips(case: Case) -> Case:
    judgement, source = case.judgement, case.source.node
    reference, own = judgement.reference, judgement.enclosure
    if reference is None or own is None or source is None or case.verdict not in (*_SMOOTH, Verdict.WRONG):
        return case
    return replace(case, flips=flips(reference.run, reference.decisions, source, own, case.options))


def _with_growth(case: Case) -> Case:
    program, source = case.capture.program, case.source.node
    if program is None or source is None or case.verdict not in (*_SMOOTH, Verdict.NONFINITE):
        return case
    return replace(case, growth=steepest_growth(program, source))
