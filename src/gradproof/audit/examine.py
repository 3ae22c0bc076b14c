"""From a capture to its reports: judge, gather the evidence, find the causes."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.audit.draw import drawing_of
from gradproof.audit.facts import with_facts
from gradproof.audit.faults import with_faults
from gradproof.audit.own_fault import fault_reason
from gradproof.audit.rows import examine_rows
from gradproof.audit.rules_tried import forward_out_of_sight, with_notes
from gradproof.causes import find_all
from gradproof.clock import TimeIsOver, doing, tick, time_limit, unlimited
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import BudgetLine, GradientReport
from gradproof.diagnosis.words import ordinal, shape_text
from gradproof.engine.refine import entry_count
from gradproof.engine.rounding import (
    budget_of,
    error_adjoints,
    local_errors,
    propagate_errors,
    recorded_run,
)
from gradproof.fixes.find import with_fix
from gradproof.frontends.select import replay_in
from gradproof.ir import types
from gradproof.ir.capture import Capture, Source
from gradproof.ir.meeting import with_sums_placed
from gradproof.ir.program import Program, ancestors, prune
from gradproof.judge.again import as_meant
from gradproof.judge.blame import departures
from gradproof.judge.compare import Comparison
from gradproof.judge.judge import Evidence, Judgement, judge
from gradproof.judge.reference import CHEAP_ENTRIES
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

Array = np.ndarray[Any, Any]

TINY_BITS = 1280  # tells exp(-800) beside 1 from 0: smaller ones are zero in every dtype


def examine(capture: Capture, options: Options) -> list[GradientReport]:
    """One report per source of a gradient call; one in all where not even the sources are known.

    What takes longer than the options allow is given up: without a verdict the gradient is unverified, with one it
    is reported with the causes that were found by then.
    """
    if not capture.sources:
        return unexamined(capture)
    limit = f"the check took longer than {options.seconds or 0:g} s (Options.seconds)"
    with time_limit(options.seconds, limit), doing(_named(capture)):
        rows = capture.facts.get("rows")
        if rows is not None:
            return examine_rows(capture, rows, lambda row: examine(row, options))
        try:
            return [report(case) for case in cases(capture, options)]
        except TimeIsOver as over:
            with unlimited():
                return unexamined(replace(capture, failure=str(over)))


def _named(capture: Capture) -> str:
    """The call as its progress is shown: its place, and which execution of it this is."""
    place = f"{os.path.basename(capture.call.file)}:{capture.call.line}"
    return place if capture.occurrence == 1 else f"{place} ({ordinal(capture.occurrence)} run)"


def unexamined(capture: Capture) -> list[GradientReport]:
    """What the facts alone say: which gradients there were, and why they were not judged."""
    nameless = Source("source", (), "float64", None, None)
    known = replace(capture, sources=capture.sources or (nameless,), program=None, gradient_program=None)
    cases = [Case(known, k, _unjudged(known, k), Options()) for k in range(len(known.sources))]
    if not capture.sources:
        cases = [replace(case, judgement=_unverified(capture.failure)) for case in cases]
    return [report(case, with_causes=False) for case in cases]


def _unverified(reason: str | None) -> Judgement:
    return Judgement(Verdict.UNVERIFIED, "none", reason or "nothing is known about this call", None, None)


def cases(capture: Capture, options: Options) -> list[Case]:
    capture = with_sums_placed(as_meant(capture, options))
    judgements = _judgements(capture, options)
    found = []
    for index, judgement in enumerate(judgements):
        case = Case(capture, index, judgement, options)
        for what, step in (
            ("where the error arises", _with_evidence),
            ("what the gradient depends on", with_facts),
            ("which rule is wrong", with_faults),
            ("a better formula", _with_fix),
        ):
            with doing(what):
                case = _attempted(step, case)
        found.append(case)
    return found


def _with_fix(case: Case) -> Case:
    return with_fix(case, replay_in(case.capture.framework))


def _attempted(step: Callable[[Case], Case], case: Case) -> Case:
    """A fault of ours in the search for causes costs the evidence, not the verdict; the report says so.

    So does the end of the time. What follows then ends at its first tick.
    """
    try:
        tick()
        return step(case)
    except (Exception, TimeIsOver) as error:
        return _with_fault(case, error)


def _with_fault(case: Case, error: Exception | TimeIsOver) -> Case:
    if isinstance(error, TimeIsOver):
        text = f"{error}, so that its cause was not looked for to the end"
    else:
        text = fault_reason(error)
    facts = {"fault": text, **case.capture.facts}  # the first fault is the one to look into
    return replace(case, capture=replace(case.capture, facts=facts))


def _judgements(capture: Capture, options: Options) -> Sequence[Judgement]:
    reached = [k for k in range(len(capture.sources)) if _is_reached(capture, k)]
    judged: dict[int, Judgement] = {}
    if capture.program is not None and reached:
        recorded = [capture.sources[k].recorded for k in reached]
        evidence = Evidence(
            capture.program,
            tuple(node for k in reached if (node := capture.sources[k].node) is not None),
            tuple(_fitting(capture.sources[k]) for k in reached),
            tuple(recorded),
            capture.gradient_program,
        )
        judged = dict(zip(reached, judge(evidence, options)))
        judged = {k: _of_another_shape(capture.sources[k], found) for k, found in judged.items()}
    return [_if_seen(capture, k, judged.get(k) or _unjudged(capture, k)) for k in range(len(capture.sources))]


def _if_seen(capture: Capture, k: int, judgement: Judgement) -> Judgement:
    """A gradient that was computed out of sight is not a missing one."""
    if not capture.sources[k].unseen:
        return judgement
    reason = capture.failure or "the numbers of the gradient could not be seen"
    return replace(judgement, verdict=Verdict.UNVERIFIED, reason=reason)


def _fitting(source: Source) -> Array | None:
    """What was returned, if it has the shape of a gradient for its source."""
    observed = source.observed
    return observed if observed is not None and observed.shape == source.shape else None


def _of_another_shape(source: Source, judgement: Judgement) -> Judgement:
    """A gradient has the shape of its source; one that has not is wrong, whatever its numbers are."""
    if source.observed is None or source.observed.shape == source.shape:
        return judgement
    found, wanted = shape_text(source.observed.shape), shape_text(source.shape)
    reason = f"it has shape {found}, and the gradient has shape {wanted}"
    return replace(judgement, verdict=Verdict.WRONG, reason=reason)


def _is_reached(capture: Capture, k: int) -> bool:
    """Whether the record leads from a source to the target.

    A framework that returns a gradient other than zero has found a way. If the record has none, it is the record
    that is incomplete, and nothing may be concluded from it. Our own tape records everything.
    """
    source, program = capture.sources[k], capture.program
    if source.node is None or program is None:
        return False
    if capture.framework == "numpy" or source.observed is None or not np.any(source.observed):
        return True
    return source.node in ancestors(program, program.outputs)


def _unjudged(capture: Capture, k: int) -> Judgement:
    source = capture.sources[k]
    if source.observed is None:
        return Judgement(Verdict.MISSING, "none", capture.failure, None, None)
    unseen = forward_out_of_sight(capture)
    reason = (
        capture.failure
        or unseen
        or f"what was recorded does not lead from `{source.name}` to `{capture.target}`"
    )
    return Judgement(Verdict.UNVERIFIED, "none", reason, None, None)


def _with_evidence(case: Case) -> Case:
    if case.verdict is Verdict.INACCURATE and case.source.recorded is not None:
        return _with_budget(case)
    if case.verdict is Verdict.WRONG and case.capture.gradient_program is not None:
        found = departures(case.capture.gradient_program, case.capture.pullbacks, case.options)
        return replace(case, departures=tuple(found))
    return case


def _with_budget(case: Case) -> Case:
    """Whose rounding it was, measured at the worst entry of the gradient."""
    assert case.capture.gradient_program is not None and case.source.recorded is not None
    program = prune(case.capture.gradient_program, [case.source.recorded])
    found = _budgeted(case, program, local_errors(program))
    if not found.total_error and entry_count(program) <= CHEAP_ENTRIES:
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
        case,
        local_errors=errors,
        propagated=propagate_errors(program, errors, at),
        adjoints=adjoints,
        total_error=total,
        budget=shares,
    )


def report(case: Case, with_causes: bool = True) -> GradientReport:
    errors: list[Exception | TimeIsOver] = []
    diagnostics = find_all(case, errors.append) if with_causes else ()
    if errors:
        case = _with_fault(case, errors[0])
    diagnostics = with_notes(case, diagnostics)
    source, judgement, comparison = case.source, case.judgement, _measured(case.judgement)
    known = types.is_real(source.dtype) or types.is_complex(source.dtype)
    true = None if judgement.verdict is Verdict.UNDEFINED else judgement.enclosure
    return GradientReport(
        call=case.capture.call,
        framework=case.capture.framework,
        target=case.capture.target,
        source=source.name,
        shape=source.shape,
        dtype=source.dtype,
        verdict=judgement.verdict,
        occurrence=case.capture.occurrence,
        order=case.capture.order,
        oracle=judgement.oracle,
        reason=judgement.reason or _stated_reason(case, diagnostics),
        observed=source.observed,
        reference=None if true is None else true.mid,
        reference_radius=None if true is None else true.rad,
        relative_error=None if comparison is None else comparison.relative_error,
        digits=None if comparison is None else comparison.digits,
        digits_possible=types.digits_possible(source.dtype) if known else None,
        one_sided=judgement.one_sided,
        diagnostics=diagnostics,
        computed=case.capture.facts.get("exception") is None,
        budget=tuple(BudgetLine(span, share, op) for span, share, op in case.shares_by_span),
        drawing=drawing_of(case, diagnostics),
    )


def _measured(judgement: Judgement) -> Comparison | None:
    """How far the gradient is off; None where there is nothing that it could be measured against."""
    comparison = judgement.comparison
    is_known = comparison is not None and comparison.outcome != "unbounded"
    return comparison if is_known and judgement.verdict is not Verdict.UNDEFINED else None


def _stated_reason(case: Case, diagnostics: Sequence[Diagnostic]) -> str | None:
    """What else is known where the judge has nothing to say: an exception, or why there is no gradient."""
    exception: str | None = case.capture.facts.get("exception") or case.capture.facts.get("fault")
    missing = case.source.missing
    if exception is None and missing is not None and not diagnostics:
        return missing.label or None
    return exception
