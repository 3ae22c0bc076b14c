"""One sample tried: its gradients judged in every mode, and what is wrong with them as confirmed finds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from gradproof.audit.examine import examine
from gradproof.audit.function_witness import contradicted
from gradproof.audit.silenced import undisturbed
from gradproof.clock import TimeIsOver, by_computing, time_limit
from gradproof.errors import FunctionFailed, GradproofError
from gradproof.frontends.check.request import Checked, Request
from gradproof.frontends.library.model import OpCall, SweptLibrary
from gradproof.frontends.select import frontend_for
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict
from gradproof.options import Options
from gradproof.sweep.find import Find, Row, find_in
from gradproof.sweep.modes import find_in_modes, observed_in
from gradproof.sweep.no_fault import Doubts
from gradproof.sweep.script import as_in_a_script, function_of

TOO_LONG = "the check took too long"
IMPURE = "a second run gives other numbers"
CONTRADICTED = "the op, as the library computes it, has another slope than its exact meaning here"
MENDED = 1e-4  # of an error that float64, with its nine digits more, may leave of it
REASON = 160  # characters of a reason that are kept


@dataclass(eq=False)
class Tally:
    """What became of samples: verdicts and reasons by their number, and the finds."""

    verdicts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    finds: list[Find] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.verdicts += other.verdicts
        self.reasons += other.reasons
        self.finds += other.finds


def tried(library: SweptLibrary, sample: OpCall, options: Options, with_modes: bool = True) -> Tally:
    """Judge the gradients of a sample for all its arguments; whatever stands in the way is a reason."""
    found = Tally()
    try:
        with undisturbed(), by_computing(), time_limit(options.seconds, TOO_LONG):
            _judge(library, sample, options, with_modes, found)
    except (GradproofError, TimeIsOver) as error:
        what = "refused: " if isinstance(error, FunctionFailed) else ""
        found.reasons[what + _first_line(error)] += 1
    except Exception as error:  # of the library: an op that refuses its input, or has no derivative
        found.reasons[f"{type(error).__name__}: {_first_line(error)}"] += 1
    return found


def _judge(library: SweptLibrary, sample: OpCall, options: Options, with_modes: bool, found: Tally) -> None:
    function, args = function_of(library, sample)
    request = Request(function, tuple(args))
    checked = as_in_a_script(lambda: frontend_for(request.args, {}).check(request))
    if checked.impurity is not None:
        found.reasons[IMPURE] += 1
        return
    if not checked.captures:
        found.reasons["no gradient was seen"] += 1
    rows = _rows(checked, options)
    finds = []
    for row in rows:
        found.verdicts[row.report.verdict.value] += 1
        if row.report.verdict is Verdict.UNVERIFIED and row.report.reason:
            found.reasons[row.report.reason[:REASON]] += 1
        find = find_in(sample, row, options)
        if find is not None:
            finds.append(find)
    if with_modes:
        finds += find_in_modes(library, sample, rows, options)
    denied = contradicted(request, checked, [row.report for row in rows], options) if finds else frozenset()
    for find in finds:
        reason = CONTRADICTED if find.source in denied else _doubts(library, find, options).reason(find)
        if reason is not None:
            found.reasons[reason] += 1
        else:
            found.finds.append(_of_its_kind(library, find, options))


def _doubts(library: SweptLibrary, find: Find, options: Options) -> Doubts:
    return Doubts(
        library,
        partial(_true_gradient, library, find.source, options),
        partial(_returned, library, find, options),
        options,
    )


def _returned(library: SweptLibrary, find: Find, options: Options, sample: OpCall) -> Array | float | None:
    """What the library gives for the find's argument at another point, in the find's own mode."""
    if find.mode is not None:
        found = observed_in(library, sample, find.mode, find.source, [find.entry])
        return None if found is None else float(found[0])
    try:
        rows = _judged(library, sample, options)
    except Exception:
        return None
    return next((row.report.observed for row in rows if row.report.source == find.source), None)


def _of_its_kind(library: SweptLibrary, find: Find, options: Options) -> Find:
    """What is right in float64 is inaccurate, be it that a constant of the rule was rounded, and not the numbers."""
    if find.kind != Verdict.WRONG.value or find.dtype != "float32" or find.observed is None:
        return find
    wide = _in_float64(find.sample)
    try:
        rows = _judged(library, wide, options)
    except Exception:
        return find
    row = next((row.report for row in rows if row.report.source == find.source), None)
    if row is None or row.observed is None or row.reference is None:
        return find
    off = abs(float(row.observed[find.entry]) - float(row.reference[find.entry]))
    if off <= MENDED * abs(find.observed - find.expected):
        return replace(find, kind=Verdict.INACCURATE.value)
    return find


def _in_float64(sample: OpCall) -> OpCall:
    arrays = {name: x.astype(np.float64) for name, x in sample.arrays.items()}
    weights = None if sample.weights is None else sample.weights.astype(np.float64)
    return replace(sample, arrays=arrays, weights=weights)


def _judged(library: SweptLibrary, sample: OpCall, options: Options) -> list[Row]:
    function, args = function_of(library, sample)
    request = Request(function, tuple(args))
    return _rows(as_in_a_script(lambda: frontend_for(request.args, {}).check(request)), options)


def _rows(checked: Checked, options: Options) -> list[Row]:
    return [
        Row(report, capture, k)
        for capture in checked.captures
        for k, report in enumerate(examine(capture, options))
    ]


def _true_gradient(library: SweptLibrary, source: str, options: Options, sample: OpCall) -> Array | None:
    """At another point; None where there is none."""
    try:
        rows = _judged(library, sample, options)
    except Exception:
        return None
    return next((row.report.reference for row in rows if row.report.source == source), None)


def _first_line(error: BaseException) -> str:
    return str(error).partition("\n")[0][:REASON]
