"""A Jacobian is examined row by row, and its rows are put together into one report per source."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.growth import repeats_a_line
from gradproof.diagnosis.report import GradientReport
from gradproof.ir import types
from gradproof.ir.capture import Alike, Capture, Rows, RuleRuns
from gradproof.ir.entry import entry_of
from gradproof.ir.program import Program
from gradproof.ir.surroundings import Surroundings
from gradproof.ir.types import Array
from gradproof.judge.by_facts import empty, undecided
from gradproof.judge.call import JudgedCall, judge_call
from gradproof.judge.judge import Judgement
from gradproof.judge.rows import judge_rows
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

# Every row is a proof of its own. A Jacobian with more rows is a matter of minutes and belongs into pieces.
MOST_ROWS = 1000


Examine = Callable[[Capture], Sequence[GradientReport]]
Report = Callable[[JudgedCall], Sequence[GradientReport]]
Share = tuple[int, int]
"""Every so many from one on: what one of several workers has. Shares are alike in what they cost."""
ByRow = Mapping[int, Sequence[GradientReport]]


def examine_rows(
    whole: Capture, rows: Rows, examine: Examine, report: Report, options: Options
) -> list[GradientReport]:
    """One report per source; its verdict is the worst of all rows."""
    if not n_rows_of(rows):
        n_rows = math.prod(rows.target_shape)
        return [_without_rows(whole, k, n_rows) for k in range(len(whole.sources))]
    known = None if rows.alike is None else _together(whole, rows, rows.alike, report, options)
    return joined_rows(whole, rows, dict(enumerate(known)) if known is not None else alone(rows, examine))


def n_rows_of(rows: Rows) -> int:
    """How many rows are examined: none of a Jacobian that is too large."""
    n_rows = math.prod(rows.target_shape)
    return n_rows if n_rows <= MOST_ROWS else 0


def alone(rows: Rows, examine: Examine, share: Share = (0, 1)) -> ByRow:
    """The reports of the rows of a share: no row knows of another one."""
    each = rows.captures if rows.alike is None else rows.alike.each()
    return {row: examine(capture) for row, capture in islice(enumerate(each), share[0], None, share[1])}


def joined_rows(whole: Capture, rows: Rows, reports: ByRow) -> list[GradientReport]:
    """One report per source."""
    in_order = [reports[row] for row in sorted(reports)]
    return [
        _joined(whole, k, rows.target_shape, [row[k] for row in in_order]) for k in range(len(whole.sources))
    ]


def _together(
    whole: Capture, rows: Rows, alike: Alike, report: Report, options: Options
) -> list[Sequence[GradientReport]] | None:
    """The reports of rows that are all right; None where a row has to be looked at alone.

    The first one is examined with its backward ops and without: if these make no difference, the others need none.
    """
    (first,) = rows.captures
    judged = _judged(first, options)
    if judged.capture.program is not first.program or not _is_quiet(first):
        return None
    known = report(judged)
    if not all(map(_is_right, known)):
        return None
    n_rows = math.prod(rows.target_shape)
    observed = [
        np.reshape(one.observed, (n_rows, *one.shape)) for one in whole.sources if one.observed is not None
    ]
    wrt = [one.node for one in first.sources if one.node is not None]
    assert first.program is not None
    found = judge_rows(first.program, alike.target, wrt, observed, options)
    if found is None:
        return None
    told = _worth_telling(first.program, known, observed, found)
    reports: list[Sequence[GradientReport]] = []
    for row in range(n_rows):
        numbers = [one[row] for one in observed]
        if row not in told:
            reports.append([*map(_with_numbers, reports[0], numbers, found[row])])
            continue
        own = report(JudgedCall(_row(whole, rows, alike.target, row, numbers), found[row]))
        is_known = all(
            _is_right(one) and (_said(one) == _said(other) if row == 0 else _kinds(one) <= _kinds(other))
            for one, other in zip(own, known)
        )
        if not is_known:
            return None
        reports.append(own)
    return reports or None


def _judged(first: Capture, options: Options) -> JudgedCall:
    """In balls of float64 where they do: only whether it is right matters here, not to how many digits."""
    quick = judge_call(first, replace(options, precision_cap_bits=min(53, options.precision_cap_bits)))
    is_right = all(one.verdict is Verdict.CORRECT and one.oracle == "ball" for one in quick.judgements)
    return quick if is_right else judge_call(first, options)


def _worth_telling(
    program: Program,
    known: Sequence[GradientReport],
    observed: Sequence[Array],
    found: Sequence[Sequence[Judgement]],
) -> set[int]:
    """The rows that may have something of their own to say: the first, the worst, and what the numbers can bring up.

    Of a gradient that is right, what is said follows from the program, which is the same for all of them, unless it
    is zero, a decision was near, or it changed its size along a line that ran many times.
    """
    reference = found[0][0].reference if found and found[0] else None
    says_something = any(one.diagnostics for one in known) or repeats_a_line(program)
    if says_something or reference is None or reference.decisions:
        return set(range(len(found)))
    worst = {max(range(len(found)), key=lambda row: _error(found[row][k])) for k in range(len(known))}
    return {0, *worst, *(row for row in range(len(found)) if not all(one[row].any() for one in observed))}


def _error(judgement: Judgement) -> float:
    return 0.0 if judgement.comparison is None else judgement.comparison.relative_error


def _with_numbers(like: GradientReport, observed: Array, judgement: Judgement) -> GradientReport:
    """What is said of another row, with the numbers of this one; pictures are made of the worst alone."""
    enclosure, comparison = judgement.enclosure, judgement.comparison
    assert enclosure is not None and comparison is not None
    return replace(
        like,
        observed=observed,
        reference=enclosure.mid,
        reference_radius=enclosure.rad,
        relative_error=comparison.relative_error,
        digits=comparison.digits,
        drawing=None,
    )


def _is_quiet(first: Capture) -> bool:
    """Whether the numbers of the other rows are all that is not known of them."""
    rules, known = first.rules, first.sources
    return (
        not (rules.scopes or rules.hidden_stops or first.faults or first.failure or first.run.policy)
        and first.around == Surroundings()
        and all(one.node is not None and types.is_real(one.dtype) for one in known)
        and not any(one.unseen or one.stale or one.overwritten for one in known)
    )


def _is_right(report: GradientReport) -> bool:
    return report.verdict is Verdict.CORRECT and report.oracle == "ball" and not report.faults


def _said(report: GradientReport) -> list[object]:
    return [one.says_the_same_as for one in report.diagnostics]


def _kinds(report: GradientReport) -> set[str]:
    return {one.kind for one in report.diagnostics}


def _row(whole: Capture, rows: Rows, target: int, row: int, observed: Sequence[Array]) -> Capture:
    """The capture of a row, as far as it is known without its backward ops."""
    (first,) = rows.captures
    assert first.program is not None
    sources = tuple(
        replace(one, observed=numbers, recorded=None) for one, numbers in zip(first.sources, observed)
    )
    name = first.target
    if name != whole.target:  # rows that are named by their place
        name = f"{whole.target}[{', '.join(str(k) for k in np.unravel_index(row, rows.target_shape))}]"
    program = entry_of(first.program, target, row)
    return replace(
        first, target=name, sources=sources, program=program, gradient_program=None, rules=RuleRuns()
    )


def _joined(
    whole: Capture, k: int, target_shape: tuple[int, ...], rows: Sequence[GradientReport]
) -> GradientReport:
    worst = max(rows, key=lambda row: (row.verdict.severity, row.relative_error or 0.0))
    shape = (*target_shape, *whole.sources[k].shape)
    return replace(
        worst,
        target=whole.target,
        observed=_stacked([row.observed for row in rows], shape),
        reference=_stacked([row.reference for row in rows], shape),
        reference_radius=_stacked([row.reference_radius for row in rows], shape),
        one_sided=None if worst.one_sided is None else _sides(rows, shape),
        diagnostics=_all_diagnostics(rows),
    )


def _stacked(parts: Sequence[Array | None], shape: tuple[int, ...]) -> Array | None:
    """All rows as one array; None unless every row is there."""
    arrays = [part for part in parts if part is not None]
    return np.stack(arrays).reshape(shape) if len(arrays) == len(parts) else None


def _sides(rows: Sequence[GradientReport], shape: tuple[int, ...]) -> tuple[Array, Array] | None:
    """The slopes of both sides of the whole; a row without sides of its own has its reference on both."""
    sides = []
    for side in (0, 1):
        parts = [row.reference if row.one_sided is None else row.one_sided[side] for row in rows]
        stacked = _stacked(parts, shape)
        if stacked is None:
            return None
        sides.append(stacked)
    return sides[0], sides[1]


def _all_diagnostics(rows: Sequence[GradientReport]) -> tuple[Diagnostic, ...]:
    once: dict[object, Diagnostic] = {}
    for row in rows:
        for diagnostic in row.diagnostics:
            once.setdefault(diagnostic.says_the_same_as, diagnostic)
    return tuple(sorted(once.values(), key=lambda diagnostic: -diagnostic.rank))


def _without_rows(whole: Capture, k: int, n_rows: int) -> GradientReport:
    """An empty Jacobian is right as it is; one with too many rows is not judged, and says so."""
    source = whole.sources[k]
    beyond = f"a Jacobian of {n_rows:,} rows is beyond the {MOST_ROWS:,} that are proven one by one"
    judgement = undecided(beyond) if n_rows else empty(source.shape)
    return GradientReport(
        call=whole.call,
        framework=whole.framework,
        target=whole.target,
        source=source.name,
        shape=source.shape,
        dtype=source.dtype,
        verdict=judgement.verdict,
        occurrence=whole.run.occurrence,
        replica=whole.run.replica,
        order=whole.run.order,
        reason=judgement.reason,
        observed=source.observed,
        digits_possible=types.digits_possible(source.dtype) if not types.is_discrete(source.dtype) else None,
    )
