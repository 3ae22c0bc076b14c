"""The end of a text report: the table of all gradients, and the one line that is enough to act on."""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import (
    capped_list,
    columns,
    comma_list,
    count,
    digits_text,
    gradient_name,
    printable,
    whole_digits_text,
)
from gradproof.judge.verdict import Verdict
from gradproof.render.executions import merged, said
from gradproof.render.faults import (
    gravest_first,
    left_behind,
    main_span,
    roots,
    told_cause,
    unexplained,
)
from gradproof.render.line import Line, Piece, cut_middle, line
from gradproof.render.sentence import name, unserved_text, verdict_word

# Rows before "and 7 more": faults are looked through, right ones only counted, and one fault has a few rows.
MOST_FAULTY, MOST_CORRECT, MOST_ALIKE = 20, 5, 4
NARROW = 80  # columns below which digits are whole numbers and a gradient is called by its source alone

# Where the table is too wide, columns (by number) are cut in this order, each down to so many characters.
_CUTS = ((0, 24), (4, 16), (0, 12), (3, 14), (4, 8), (0, 8))

# Causes by which a right gradient may be that of a part of the function only: there may be something to fix.
_LOST_PARTS = ("left-framework", "outside-tape", "no-gradient-registered")

# Causes that say why a right gradient is exactly 0.
_ZEROS = ("vanishing", "not-connected")

_HEADINGS = ("gradient", "verdict", "digits", "cause", "line")
_GAP = "  "


def table_lines(report: Report, width: int, is_complete: bool) -> Iterator[Line]:
    """A row for each gradient and what is said of it, the gravest first; with `is_complete` one for each execution."""
    ordered = gravest_first(report)
    shown = [(gradient, 1) for gradient in ordered] if is_complete else _told(report, ordered)
    if not shown:
        return
    one_file = len({main_span(gradient).file for gradient, _ in shown}) == 1
    rows = [
        _row(gradient, n_runs, told_cause(report, gradient), one_file, width < NARROW)
        for gradient, n_runs in shown
    ]
    widths = _widths(rows, width)
    yield _table_line([Piece(heading, "faint") for heading in _HEADINGS], widths)
    for (gradient, _), row in zip(shown, rows):
        role = "good" if gradient.verdict is Verdict.CORRECT else gradient.level
        yield _table_line([Piece(cell, role if k == 1 else "") for k, cell in enumerate(row)], widths)
    for is_right, what in ((False, "not correct"), (True, "correct")):
        of_it = [gradient for gradient in ordered if (gradient.verdict is Verdict.CORRECT) is is_right]
        left = len(of_it) - sum(n for one, n in shown if (one.verdict is Verdict.CORRECT) is is_right)
        if left > 0:
            yield line(Piece(f"and {left:,} more, {what}", "faint"))


def _told(report: Report, ordered: Sequence[GradientReport]) -> list[tuple[GradientReport, int]]:
    """The rows of a short table, each with the number of executions that it stands for."""
    behind = left_behind(report)
    rows = merged([gradient for gradient in ordered if gradient not in behind])
    faulty = [row for row in rows if row[0].verdict is not Verdict.CORRECT]
    correct = [row for row in rows if row[0].verdict is Verdict.CORRECT]
    few = [row for k, row in enumerate(faulty) if _n_alike(faulty[:k], row[0]) < MOST_ALIKE]
    return few[:MOST_FAULTY] + correct[:MOST_CORRECT]


def _n_alike(earlier: Sequence[tuple[GradientReport, int]], gradient: GradientReport) -> int:
    """How many rows above say the same, but for the name."""
    return sum(said(one) == said(gradient) for one, _ in earlier)


def last_line(report: Report) -> str:
    """What to do first, or that there is nothing to do."""
    crash = None if report.script is None else report.script.crash
    if crash is not None and crash.fix is not None:
        tally = _counted(report) + (_tally(report) if report.gradients else "no gradient was computed")
        return printable(f"gradproof: {tally}; fix first {crash.span} ({crash.kind}): {crash.fix.text}")
    if report.is_blind and report.script is not None:
        return printable(f"gradproof: no gradient was checked: {unserved_text(report.script)}")
    if not report.gradients:
        if report.script is not None and report.script.exception:
            return printable(f"gradproof: no gradient was computed before {report.script.exception}")
        # A script that uses no framework may have gradients all the same, in formulas of its own.
        by_hand = "; `gradproof.check(f, x, gradient=g)` checks one that is written by hand"
        return (
            f"gradproof: no gradient was seen, so none was checked{'' if report.script is None else by_hand}"
        )
    tally = _counted(report) + _tally(report)
    first = next(iter(roots(report)), None)
    if first is not None:
        place = first.span or report.gradients[0].call
        if first.harmless is not None:
            return printable(f"gradproof: {tally}; {place} ({first.kind}): {first.harmless}{_cure(first)}")
        cure = first.headline if first.fix is None else first.fix.text
        return printable(f"gradproof: {tally}; fix first {place} ({first.kind}): {cure}")
    faulty = [g for g in unexplained(report) if g.verdict is not Verdict.UNVERIFIED and g.level != "note"]
    if faulty:
        worst = max(faulty, key=lambda gradient: gradient.verdict.severity)
        found = f"{name(worst)}, {verdict_word(worst.verdict)} at {worst.call}: no cause was found"
        return printable(f"gradproof: {tally}; look first at {found}")
    undecided = [g for g in report.gradients if g.verdict is Verdict.UNVERIFIED and not g.intended]
    if undecided:
        why = undecided[0].reason or "no reason was recorded"
        return printable(f"gradproof: {tally}; {name(undecided[0])} at {undecided[0].call}: {why}")
    lost = next((one for one in report.diagnostics if one.kind in _LOST_PARTS), None)
    if lost is not None:
        return printable(f"gradproof: {tally}; {lost.span or report.gradients[0].call}: {lost.headline}")
    zeros = _zeros(report)
    if zeros:
        reason = zero_reason(report)
        told = None if reason is None else reason.primary
        why = "" if reason is None or told is None else f"; {told.span}: {told.label}{_cure(reason)}"
        return printable(f"gradproof: {tally}, {zeros}{why}")
    return printable(f"gradproof: {tally}; nothing to fix")


def _zeros(report: Report) -> str:
    """`but exactly 0: temperature will not train`; how many of the gradients it is where not all are."""
    zeros = [gradient for gradient in report.gradients if _is_zero(gradient)]
    names = list(dict.fromkeys(f"`{gradient.source}`" for gradient in zeros))
    number = "" if len(zeros) == len(report.gradients) else f"{len(zeros):,} "
    return f"but {number}exactly 0: {capped_list(names)} will not train" if zeros else ""


def zero_reason(report: Report) -> Diagnostic | None:
    """Why right gradients are exactly 0, where that is all there is to say."""
    reasons = (one for one in report.diagnostics if one.kind in _ZEROS and one.span is not None)
    return next(reasons, None) if _zeros(report) and not roots(report) else None


def _cure(diagnostic: Diagnostic) -> str:
    return "" if diagnostic.fix is None else f"; {diagnostic.fix.text}"


def verdict_line(report: Report) -> str:
    """The last line without what to do: for where that stands beside it."""
    first = next(iter(roots(report)), None)
    if first is not None and report.gradients:
        return printable(_counted(report) + _tally(report))
    if zero_reason(report) is not None:
        return printable(f"{_tally(report)}, {_zeros(report)}")
    return last_line(report).removeprefix("gradproof: ")


def levels(report: Report) -> Counter[str]:
    """How many faults there are of each level, each once. What is undecided is no fault."""
    found = Counter[str](one.severity for one in roots(report))
    found.update(
        g.level for g in unexplained(report) if g.verdict is not Verdict.UNVERIFIED and not g.intended
    )
    return found


def passed_line(report: Report) -> str:
    """For where faults have lines of their own: that there is none, or what else there is to say."""
    is_clean = bool(report.gradients) and all(gradient.level == "note" for gradient in report.gradients)
    crash = None if report.script is None else report.script.crash
    return (
        f"gradproof: all checks passed: {_tally(report)}" if is_clean and crash is None else last_line(report)
    )


def _is_zero(gradient: GradientReport) -> bool:
    """Whether a right gradient leaves whatever it is for as it is."""
    observed = gradient.observed
    is_right = gradient.verdict is Verdict.CORRECT and gradient.order == 1
    return is_right and observed is not None and observed.size > 0 and not np.any(observed)


def _counted(report: Report) -> str:
    """`2 errors, 1 warning: `; empty where there is none."""
    found = levels(report)
    told = [count(found[level], level) for level in ("error", "warning") if found[level]]
    return f"{', '.join(told)}: " if told else ""


def _tally(report: Report) -> str:
    """`3 of 5 gradients correct, 1 inaccurate, 1 unverified`, the gravest of the rest first."""
    total = len(report.gradients)
    counts = Counter("intended" if g.intended else verdict_word(g.verdict) for g in report.gradients)
    if len(counts) == 1:
        proven = ", proven" if counts["correct"] and all(g.is_proven for g in report.gradients) else ""
        return f"{count(total, 'gradient')} {next(iter(counts))}{proven}"
    right = f"{counts.pop('correct', 0):,} of {count(total, 'gradient')} correct"
    order = [verdict_word(verdict) for verdict in reversed(Verdict)] + ["intended"]
    others = [f"{counts[kind]:,} {kind}" for kind in order if counts[kind]]
    return f"{right}, {comma_list(others)}"


def _row(gradient: GradientReport, n_runs: int, cause: str, one_file: bool, narrow: bool) -> list[str]:
    known = gradient.known_digits
    text = whole_digits_text if narrow else digits_text
    digits = "" if known is None else text(*known).removesuffix(" digits")
    span = main_span(gradient)
    place = str(span.line) if one_file else f"{os.path.basename(span.file)}:{span.line}"
    called = gradient.source if narrow else name(gradient)
    if n_runs > 1:
        bare = gradient.source if narrow else gradient_name(gradient.target, gradient.source)
        called = f"{bare} ({n_runs:,} runs)"
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
