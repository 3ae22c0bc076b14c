"""From a capture to its reports: judge, gather the evidence, find the causes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import repeat

import numpy as np

from gradproof.audit.at_rest import with_rest
from gradproof.audit.by_norm import softened
from gradproof.audit.draw import drawing_of
from gradproof.audit.evidence import with_facts
from gradproof.audit.faults import with_faults
from gradproof.audit.flip_facts import FlipFacts
from gradproof.audit.known import first_departure
from gradproof.audit.mode_faults import ModeFaults
from gradproof.audit.origin_of_error import with_origin_of_error
from gradproof.audit.patches import with_sound_patch
from gradproof.audit.pieces import ByPlace, CallPiece, is_plain, is_quiet
from gradproof.audit.rows import alone, examine_rows, joined_rows
from gradproof.audit.rules_tried import with_notes
from gradproof.causes import find_all
from gradproof.clock import TimeIsOver, doing, tick, time_limit, unlimited
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import BudgetLine, GradientReport
from gradproof.diagnosis.words import nonfinite_text, ordinal
from gradproof.fixes.allowance import checking, cut_short, searching
from gradproof.fixes.choose import with_offers
from gradproof.fixes.find import with_fix
from gradproof.frontends.select import replay_in
from gradproof.internal_error import fault_reason
from gradproof.ir import types
from gradproof.ir.capture import Capture, Source
from gradproof.ir.types import Array
from gradproof.judge.by_facts import undecided
from gradproof.judge.call import JudgedCall, judge_call, unjudged
from gradproof.judge.compare import Comparison
from gradproof.judge.judge import Judgement
from gradproof.judge.policy import allowed
from gradproof.judge.unknown import NO_NUMBER_GIVEN
from gradproof.judge.verdict import Verdict
from gradproof.options import Options


def examine(capture: Capture, options: Options) -> list[GradientReport]:
    """One report per source of a gradient call; one in all where not even the sources are known.

    What takes longer than the options allow is given up: without a verdict the gradient is unverified, with one it
    is reported with the causes that were found by then.
    """
    if not capture.sources:
        return unexamined(capture)
    with time_limit(options.seconds, _limit(options)), doing(_named(capture)), checking():
        try:
            if capture.rows is not None:
                each, judged = partial(examine, options=options), partial(_reported, options=options)
                return examine_rows(capture, capture.rows, each, judged, options)
            return [report(case) for case in cases(capture, options)]
        except TimeIsOver as over:
            with unlimited():
                return unexamined(replace(capture, failure=str(over)))


def examine_piece(capture: Capture, options: Options, piece: CallPiece) -> ByPlace | None:
    """The reports of a piece by their places, for `join_pieces`; None where a quick look at it does not do."""
    with doing(_named(capture)), checking():
        if capture.rows is None:
            return _some_sources(capture, options, piece)
        return alone(capture.rows, partial(examine, options=options), piece.share)


def _some_sources(capture: Capture, options: Options, piece: CallPiece) -> ByPlace | None:
    first, every = piece.share
    own = range(first, len(capture.sources), every)
    try:
        with time_limit(options.seconds, _limit(options)):
            options = options.under(capture.run.policy)
            judged = judge_call(capture, options, own if piece.is_quick else None)
            if piece.is_quick and not (
                is_quiet(capture) and all(is_plain(judged.judgements[k]) for k in own)
            ):
                return None
            return {case.index: [report(case)] for case in _cases(judged, options, own)}
    except TimeIsOver as over:
        with unlimited():
            told = unexamined(replace(capture, failure=str(over)))
        return None if piece.is_quick else {k: [told[k]] for k in own}


def _limit(options: Options) -> str:
    return f"the check took longer than {options.seconds or 0:g} s (Options.seconds)"


def join_pieces(capture: Capture, reports: ByPlace, options: Options) -> list[GradientReport]:
    """What `examined` would say, from the reports of all pieces."""
    if capture.rows is None:
        found = [one for place in sorted(reports) for one in reports[place]]
    else:
        found = joined_rows(capture, capture.rows, reports)
    return [softened(one, options) for one in found]


def examined(capture: Capture, options: Options) -> list[GradientReport]:
    """The same as they stand in the report of a run."""
    return [softened(report, options) for report in examine(capture, options)]


def _named(capture: Capture) -> str:
    """The call as its progress is shown: its place, and which execution of it this is."""
    place = f"{os.path.basename(capture.call.file)}:{capture.call.line}"
    return place if capture.run.occurrence == 1 else f"{place} ({ordinal(capture.run.occurrence)} run)"


def unexamined(capture: Capture) -> list[GradientReport]:
    """What the facts alone say: which gradients there were, and why they were not judged."""
    nameless = Source("source", (), "float64", None, None)
    known = replace(capture, sources=capture.sources or (nameless,), program=None, gradient_program=None)
    cases = [Case(known, k, unjudged(known, k), Options()) for k in range(len(known.sources))]
    if not capture.sources:
        cases = [replace(case, judgement=undecided(capture.failure)) for case in cases]
    return [report(_with_what_is_seen(case), with_causes=False) for case in cases]


def _with_what_is_seen(case: Case) -> Case:
    """Without any check: whoever has no time for one wants to know all the more that a gradient is NaN."""
    seen = "" if case.source.observed is None else nonfinite_text(case.source.observed)
    if not seen or case.verdict is not Verdict.UNVERIFIED:
        return case
    reason = f"it is {seen}, and its cause was not looked for: {case.judgement.reason}"
    return replace(case, judgement=undecided(reason))


def cases(capture: Capture, options: Options) -> list[Case]:
    options = options.under(capture.run.policy)
    return _cases(judge_call(capture, options), options)


def _reported(judged: JudgedCall, options: Options) -> list[GradientReport]:
    return [report(case) for case in _cases(judged, options)]


def _cases(judged: JudgedCall, options: Options, which: Iterable[int] | None = None) -> list[Case]:
    with_mode_fault, with_flips = ModeFaults(judged, options), FlipFacts(judged)
    found = []
    for index in range(len(judged.judgements)) if which is None else which:
        judgement = judged.judgements[index]
        case = Case(judged.capture, index, judgement, allowed(judged.capture, index, judgement, options))
        for what, step in (
            ("whether its mode is to blame", with_mode_fault),
            ("where the error arises", with_origin_of_error),
            ("what the gradient depends on", with_facts),
            ("which branches are near", with_flips),
            ("which rule is wrong", with_faults),
            ("a better formula", _with_fix),
            ("whether the function rests here", with_rest),
        ):
            with doing(what):
                case = _attempted(step, case)
        found.append(case)
    return found


def _with_fix(case: Case) -> Case:
    if not case.options.fixes:
        return case
    with searching():
        return with_fix(case, replay_in(case.capture))


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
    return replace(case, capture=replace(case.capture, faults=(*case.capture.faults, text)))


def report(case: Case, with_causes: bool = True) -> GradientReport:
    errors: list[Exception | TimeIsOver] = []
    diagnostics = find_all(case, errors.append) if with_causes else ()
    if errors:
        case = _with_fault(case, errors[0])
    if diagnostics and case.options.fixes:
        case, diagnostics = _offered(case, diagnostics)
    diagnostics = tuple(with_sound_patch(one, case.sources) for one in with_notes(case, diagnostics))
    source, judgement, comparison = case.source, case.judgement, _measured(case.judgement)
    known = types.is_real(source.dtype) or types.is_complex(source.dtype)
    possible = types.digits_possible(source.dtype) if known else None
    true = None if judgement.verdict is Verdict.UNDEFINED else judgement.enclosure
    return GradientReport(
        call=case.capture.call,
        framework=case.capture.framework,
        target=case.capture.target,
        source=source.name,
        shape=source.shape,
        dtype=source.dtype,
        verdict=judgement.verdict,
        occurrence=case.capture.run.occurrence,
        order=case.capture.run.order,
        oracle=judgement.oracle,
        reason=_reason(case, diagnostics),
        observed=source.observed,
        reference=None if true is None else true.mid,
        reference_radius=None if true is None else true.rad,
        relative_error=None if comparison is None else comparison.relative_error,
        digits=None if comparison is None else comparison.digits,
        digits_possible=possible if comparison is None else comparison.digits_possible,
        one_sided=judgement.one_sided,
        diagnostics=diagnostics,
        computed=case.capture.run.exception is None,
        target_value=_target_value(case.capture),
        budget=_budget(case),
        drawing=drawing_of(case, diagnostics),
        replica=case.capture.run.replica,
        faults=case.capture.faults,
    )


def _target_value(capture: Capture) -> Array | None:
    program = capture.program
    value = None if program is None or not program.outputs else program[program.outputs[0]].value
    return None if value is None or np.size(value) != 1 else np.asarray(value).reshape(())


def _budget(case: Case) -> tuple[BudgetLine, ...]:
    """Whose rounding it was; none where a compiler computed something else than the ops that are known."""
    shares = case.shares_by_span if case.mode_fault is None else ()
    return tuple(BudgetLine(span, share, op) for span, share, op in shares)


def _offered(case: Case, diagnostics: tuple[Diagnostic, ...]) -> tuple[Case, tuple[Diagnostic, ...]]:
    """What was found, with the changes that mend it; where the search fails, as it was."""
    try:
        with doing("a better formula"), searching():
            offered = with_offers(case, diagnostics, replay_in(case.capture))
        return case, tuple(map(_said, offered, repeat(cut_short())))
    except (Exception, TimeIsOver) as error:
        return _with_fault(case, error), diagnostics


def _said(diagnostic: Diagnostic, cut: str) -> Diagnostic:
    """What is without a change of lines perhaps for want of time, with a note of it."""
    is_open = diagnostic.fix is not None and not diagnostic.fix.patch and not diagnostic.fix.others
    return replace(diagnostic, notes=(*diagnostic.notes, cut)) if cut and is_open else diagnostic


def _measured(judgement: Judgement) -> Comparison | None:
    """How far the gradient is off; None where there is nothing that it could be measured against."""
    comparison = judgement.comparison
    is_known = comparison is not None and comparison.outcome != "unbounded"
    has_none = judgement.verdict is Verdict.UNDEFINED or judgement.reason == NO_NUMBER_GIVEN
    return comparison if is_known and not has_none else None


def _reason(case: Case, diagnostics: Sequence[Diagnostic]) -> str | None:
    """Of a call that raised, the exception comes before what else stands in the way of a reference."""
    raised = case.capture.run.exception if case.verdict is Verdict.MISSING else None
    stated = raised or case.judgement.reason or _stated_reason(case, diagnostics)
    return stated or first_departure(case, diagnostics)


def _stated_reason(case: Case, diagnostics: Sequence[Diagnostic]) -> str | None:
    """What else is known where the judge has nothing to say: an exception, or why there is no gradient."""
    exception = case.capture.run.exception or next(iter(case.capture.faults), None)
    missing = case.source.missing
    if exception is None and missing is not None and not diagnostics:
        return missing.label or None
    return exception
