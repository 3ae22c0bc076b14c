"""Gathers the facts that the causes outside the family "rounding" read, each only where a verdict asks for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.first_nonfinite import Nonfinite, first_nonfinite, swallowed_overflow
from gradproof.diagnosis.growth import growth_along, passages
from gradproof.diagnosis.singular import steepest, without_value
from gradproof.ir.program import ancestors
from gradproof.ir.types import Array
from gradproof.judge.judge import judge
from gradproof.judge.reference import Evidence
from gradproof.judge.verdict import Verdict

NOTICEABLE = 1e-4  # of a gradient: less than that is the rounding of the numbers that took a way around

EXPLAINED = 0.5  # roundings that add up to the error but for this share of it are its reason

_SMOOTH = (Verdict.CORRECT, Verdict.INACCURATE)
_ROUGH = (Verdict.UNDEFINED, Verdict.UNVERIFIED, Verdict.NONFINITE)


def with_facts(case: Case) -> Case:
    return _with_uncut(_with_growth(_with_singular(_with_overflow(_with_nonfinite(case)))))


def _with_nonfinite(case: Case) -> Case:
    observed, recorded, program = case.source.observed, case.source.recorded, case.capture.gradient_program
    if observed is None or recorded is None or program is None or case.verdict not in _ROUGH:
        return case
    bad = ~np.isfinite(observed)
    if not bad.any():
        return case
    found = first_nonfinite(program, recorded, _bad_entry(case, bad))
    if found is not None and found.is_forward and not case.has_target_value:
        found = _unmasked(found)
    return replace(case, irregular=replace(case.irregular, nonfinite=found))


def _unmasked(found: Nonfinite) -> Nonfinite:
    """Zeros on the way are no masks where the number has reached the target as well."""
    if found.origin.op in ("input", "constant"):
        return replace(found, kind="invalid-domain", meeting=None, zero=None)
    is_beyond = found.exact is not None and found.exact.is_beyond(found.origin.dtype)
    return replace(found, kind="overflow", zero=None) if is_beyond else found


def _with_overflow(case: Case) -> Case:
    """An infinity that was divided by leaves a finite gradient, and an error that no rounding explains."""
    observed, recorded, program = case.source.observed, case.source.recorded, case.capture.gradient_program
    comparison, true = case.judgement.comparison, case.true
    if case.verdict is not Verdict.INACCURATE or observed is None or recorded is None or program is None:
        return case
    if comparison is None or comparison.worst is None or true is None:
        return case
    error = float(np.abs(observed[comparison.worst] - true.mid[comparison.worst]))
    if abs(abs(case.rounding.total_error) - error) <= EXPLAINED * error:
        return case
    return replace(
        case,
        irregular=replace(case.irregular, nonfinite=swallowed_overflow(program, recorded, comparison.worst)),
    )


def _bad_entry(case: Case, bad: Array) -> tuple[int, ...]:
    comparison = case.judgement.comparison
    if comparison is not None and comparison.worst is not None and bad[comparison.worst]:
        return comparison.worst
    return tuple(int(k) for k in np.argwhere(bad)[0])


def _with_singular(case: Case) -> Case:
    """Needed where the gradient has no bound at the point itself, though it may have a limit, or a target no value."""
    reference, source = case.judgement.reference, case.source.node
    if reference is None or source is None or case.verdict not in _ROUGH:
        return case
    if case.judgement.oracle == "ball":  # zeros have absorbed what has no value
        return replace(case, irregular=replace(case.irregular, without_value=without_value(reference.run)))
    singular = steepest(reference.run, source)
    if singular is None and reference.beside is not None:
        beside = steepest(reference.beside, source)
        singular = None if beside is None else replace(beside, is_beside=True)
    return replace(
        case, irregular=replace(case.irregular, singular=singular, without_value=without_value(reference.run))
    )


def _with_growth(case: Case) -> Case:
    program, source = case.capture.program, case.source.node
    if program is None or source is None or case.verdict not in (*_SMOOTH, Verdict.NONFINITE):
        return case
    found = passages(program, source)
    return replace(
        case, sizes=replace(case.sizes, passages=found, growth=growth_along(found[0]) if found else None)
    )


def _with_uncut(case: Case) -> Case:
    """What the gradient would be if a part of the target had not left the framework, if that makes a difference."""
    uncut, true = case.capture.around.uncut, case.true
    node = None if uncut is None else uncut.nodes[case.index]
    if uncut is None or node is None or true is None or case.verdict not in _SMOOTH:
        return case
    known = {one.id for one in uncut.program.nodes}
    cuts = [cut for cut in uncut.cuts if cut.node in known and node in ancestors(uncut.program, [cut.node])]
    (found,) = judge(Evidence(uncut.program, (node,), (None,), (None,)), case.options) if cuts else (None,)
    whole = None if found is None else found.enclosure
    if whole is None or whole.mid.shape != true.mid.shape or not whole.is_bounded:
        return case
    size = max(float(np.max(np.abs(one.mid), initial=0.0)) for one in (whole, true))
    apart = np.abs(whole.mid - true.mid) > whole.rad + true.rad + NOTICEABLE * size
    return (
        replace(case, detour=replace(case.detour, uncut=whole, cuts=tuple(cuts)))
        if bool(apart.any())
        else case
    )
