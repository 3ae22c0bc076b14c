"""The end of a text report: the table of all gradients, and the one line that is enough to act on."""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Iterator, Sequence

from gradproof.diagnosis.diagnostic import SEVERITIES, Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import columns, comma_list, count, digits_text, printable, whole_digits_text
from gradproof.judge.verdict import Verdict
from gradproof.render.faults import gravest_first, main_cause, main_diagnostic, main_span
from gradproof.render.line import Line, Piece, cut_middle, line
from gradproof.render.sentence import name

MOST_FAULTY, MOST_CORRECT = (
    20,
    5,
)  # rows before "and 7 more": faults are looked through, right ones only counted
NARROW = 80  # columns below which digits are whole numbers and a gradient is called by its source alone

# Where the table is too wide, columns (by number) are cut in this order, each down to so many characters.
_CUTS = ((0, 24), (4, 16), (0, 12), (3, 14), (4, 8), (0, 8))

_HEADINGS = ("gradient", "verdict", "digits", "cause", "line")
_GAP = "  "


def table_lines(report: Report, width: int, is_complete: bool) -> Iterator[Line]:
    """One row per gradient, the gravest first; with `is_complete` none is left out."""
    ordered = gravest_first(report)
    faulty = [gradient for gradient in ordered if gradient.verdict is not Verdict.CORRECT]
    correct = [gradient for gradient in ordered if gradient.verdict is Verdict.CORRECT]
    shown = ordered if is_complete else faulty[:MOST_FAULTY] + correct[:MOST_CORRECT]
    if not shown:
        return
    one_file = len({main_span(gradient).file for gradient in shown}) == 1
    rows = [_row(gradient, one_file, width < NARROW) for gradient in shown]
    widths = _widths(rows, width)
    yield _table_line([Piece(heading, "faint") for heading in _HEADINGS], widths)
    for gradient, row in zip(shown, rows):
        role = "good" if gradient.verdict is Verdict.CORRECT else gradient.level
        yield _table_line([Piece(cell, role if k == 1 else "") for k, cell in enumerate(row)], widths)
    for left, what in ((faulty[MOST_FAULTY:], "not correct"), (correct[MOST_CORRECT:], "correct")):
        if left and not is_complete:
            yield line(Piece(f"and {len(left):,} more, {what}", "faint"))


def last_line(report: Report) -> str:
    """What to do first, or that there is nothing to do."""
    crash = None if report.script is None else report.script.crash
    if crash is not None and crash.fix is not None:
        tally = _tally(report) if report.gradients else "no gradient was computed"
        return printable(f"gradproof: {tally}; first mend {crash.span} ({crash.kind}): {crash.fix.text}")
    if not report.gradients:
        if report.script is not None and report.script.exception:
            return printable(f"gradproof: no gradient was computed before {report.script.exception}")
        return "gradproof: no gradient was computed, so none was checked"
    first = _first_to_mend(report)
    if first is not None:
        gradient, diagnostic = first
        return printable(f"gradproof: {_tally(report)}; first mend {_to_mend(gradient, diagnostic)}")
    undecided = [g for g in report.gradients if g.verdict is Verdict.UNVERIFIED and not g.intended]
    if undecided:
        why = undecided[0].reason or "no reason was recorded"
        return printable(f"gradproof: {_tally(report)}; {name(undecided[0])} at {undecided[0].call}: {why}")
    return printable(f"gradproof: {_tally(report)}; nothing to mend")


def _first_to_mend(report: Report) -> tuple[GradientReport, Diagnostic | None] | None:
    """The gravest fault; among equals one that a fix is known for, then the one with the worse verdict."""
    faults = [
        (gradient, main_diagnostic(gradient))
        for gradient in report.gradients
        if gradient.level != "note" and (gradient.verdict is not Verdict.UNVERIFIED or _has_cause(gradient))
    ]
    return max(faults, key=lambda fault: _urgency(*fault), default=None)


def _has_cause(gradient: GradientReport) -> bool:
    """What could not be decided has nothing to mend, unless a cause says what."""
    return any(diagnostic.rank > 0 for diagnostic in gradient.diagnostics)


def _urgency(gradient: GradientReport, diagnostic: Diagnostic | None) -> tuple[int, bool, int]:
    has_fix = diagnostic is not None and diagnostic.fix is not None
    return SEVERITIES.index(gradient.level), has_fix, gradient.verdict.severity


def _to_mend(gradient: GradientReport, diagnostic: Diagnostic | None) -> str:
    if diagnostic is None:
        return f"{name(gradient)}, {gradient.verdict} at {gradient.call}: no cause was found"
    place = diagnostic.span or gradient.call
    cure = diagnostic.headline if diagnostic.fix is None else diagnostic.fix.text
    return f"{place} ({diagnostic.kind}): {cure}"


def _tally(report: Report) -> str:
    """`3 of 5 gradients correct, 1 inaccurate, 1 unverified`, the gravest of the rest first."""
    total = len(report.gradients)
    counts = Counter(
        "intended" if gradient.intended else str(gradient.verdict) for gradient in report.gradients
    )
    if len(counts) == 1:
        proven = ", proven" if counts["correct"] and all(g.is_proven for g in report.gradients) else ""
        return f"{count(total, 'gradient')} {next(iter(counts))}{proven}"
    right = f"{counts.pop('correct', 0):,} of {count(total, 'gradient')} correct"
    order = [str(verdict) for verdict in reversed(Verdict)] + ["intended"]
    others = [f"{counts[kind]:,} {kind}" for kind in order if counts[kind]]
    return f"{right}, {comma_list(others)}"


def _row(gradient: GradientReport, one_file: bool, narrow: bool) -> list[str]:
    known = gradient.known_digits
    text = whole_digits_text if narrow else digits_text
    digits = "" if known is None else text(*known).removesuffix(" digits")
    cause = main_cause(gradient)
    span = main_span(gradient)
    place = str(span.line) if one_file else f"{os.path.basename(span.file)}:{span.line}"
    called = gradient.source if narrow else name(gradient)
    return [printable(each) for each in (called, str(gradient.verdict), digits, cause, place)]


def _widths(rows: Sequence[Sequence[str]], width: int) -> list[int]:
    """The columns of the table, cut where together they would be wider than the screen."""
    widths = [max(map(columns, column)) for column in zip(_HEADINGS, *rows)]
    for k, least in _CUTS:
        excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
        if excess > 0:
            widths[k] = max(widths[k] - excess, min(least, widths[k]))
    return widths


def _table_line(cells: Sequence[Piece], widths: Sequence[int]) -> Line:
    pieces = []
    for cell, n in zip(cells, widths):
        text = cut_middle(cell.text, n)
        pieces.append(Piece(text + " " * (n - columns(text)) + _GAP, cell.role))
    return line(*pieces)
