"""The end of an audited test session: how many gradients there were, the bad ones with their tests, the files."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os.path import relpath

import pytest

from gradproof.cli.github import tell_github
from gradproof.cli.output import write_files as write_reports
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import LIST_CAP, columns, comma_list, count, printable
from gradproof.judge.verdict import Verdict
from gradproof.plugins.pytest_results import Computed, Results
from gradproof.render.faults import main_cause, main_span
from gradproof.render.line import cut_middle
from gradproof.render.sentence import name, verdict_word

MOST_ROWS = 20  # more are not looked through in a terminal; the files have them all

_HEADINGS = ("gradient", "verdict", "cause", "place", "test")
# Where the table is too wide, columns (by number) are cut in this order, each down to so many characters.
_CUTS = ((4, 40), (0, 24), (3, 24), (4, 24), (0, 12), (3, 16), (2, 12), (4, 12))
_GAP = "  "


def write_summary(terminal: pytest.TerminalReporter, results: Results) -> None:
    write_section(terminal, summary_lines(results, terminal.config.get_terminal_writer().fullwidth))


def write_section(terminal: pytest.TerminalReporter, lines: Iterable[str]) -> None:
    terminal.section("gradproof")
    for line in lines:
        terminal.write_line(line)


def summary_lines(results: Results, width: int) -> Iterator[str]:
    """The count, a table of what reaches the level of failing, and what else there is to say."""
    if not results.computed:
        yield "no gradient was computed in the tests, so none was checked"
    else:
        tests = len({each.nodeid for each in results.computed if each.nodeid})
        seconds = results.report.timing.get("checks", 0.0)
        counted = f"{count(len(results.computed), 'gradient')} in {count(tests, 'test')}"
        yield f"{counted}: {_tally(results)}; checks took {seconds:.1f} s"
    yield from _table(results.bad[:MOST_ROWS], width)
    if len(results.bad) > MOST_ROWS:
        yield f"and {len(results.bad) - MOST_ROWS:,} more"
    unchecked = results.report.unchecked
    if unchecked:
        total = sum(row.count for row in unchecked)
        yield f"not checked: {count(total, 'gradient')}, such as at {unchecked[0].call}: {unchecked[0].reason}"
    notes = (*results.notes, *results.report.notes)
    yield from (f"note: {printable(note)}" for note in notes[:LIST_CAP])
    if len(notes) > LIST_CAP:
        yield f"and {len(notes) - LIST_CAP:,} more notes"


def _tally(results: Results) -> str:
    """`12 correct, 1 wrong and 1 intended`, from the best to the worst."""
    counts = Counter(
        "intended" if each.gradient.intended else verdict_word(each.gradient.verdict)
        for each in results.computed
    )
    order = [*map(verdict_word, Verdict), "intended"]
    return comma_list([f"{counts[kind]:,} {kind}" for kind in order if counts[kind]])


def _table(rows: Sequence[Computed], width: int) -> Iterator[str]:
    if not rows:
        return
    cells = [_HEADINGS, *map(_cells, rows)]
    widths = [max(map(columns, column)) for column in zip(*cells)]
    for k, least in _CUTS:
        excess = sum(widths) + len(_GAP) * (len(widths) - 1) - width
        if excess > 0:
            widths[k] = max(widths[k] - excess, min(least, widths[k]))
    for row in cells:
        shown = [cut_middle(cell, n) for cell, n in zip(row, widths)]
        yield _GAP.join(text + " " * (n - columns(text)) for text, n in zip(shown, widths)).rstrip()


def _cells(row: Computed) -> tuple[str, ...]:
    span = main_span(row.gradient)
    where = row.nodeid if row.phase == "call" else f"{row.nodeid} ({row.phase})".lstrip()
    cells = (
        name(row.gradient),
        str(row.gradient.verdict),
        main_cause(row.gradient),
        f"{span.file}:{span.line}",
        where,
    )
    return tuple(printable(cell) for cell in cells)


def write_files(
    terminal: pytest.TerminalReporter, report: Report, paths: Mapping[str, str], folder: str
) -> bool:
    """Whether every report that was asked for was written."""
    written = write_reports(report, paths, full=False)
    for path in written:
        terminal.write_line(f"report: {relpath(path, folder)}")
    if sys.__stderr__ is not None:
        tell_github(report, sys.__stderr__, folder)
    return len(written) == len(paths)
