"""A report as text for a terminal or a file, from one line to everything that is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import (
    LIST_CAP,
    capped_list,
    comma_list,
    count,
    framework_name,
    number,
    printable,
    wrap,
)
from gradproof.judge.verdict import Verdict
from gradproof.render.budget_text import bar, budget_lines, shares_text
from gradproof.render.diagnostic_text import concise_line, diagnostic_lines
from gradproof.render.faults import (
    estimated,
    left_behind,
    main_cause,
    main_span,
    ordered_diagnostics,
    roots,
    unaccepted,
    unexplained,
)
from gradproof.render.findings import findings
from gradproof.render.line import PROSE_WIDTH, Line, Piece, coloured, cut, cut_middle, line, plain
from gradproof.render.sentence import name, reference_word, sentence, unserved_text, verdict_word
from gradproof.render.summary_text import last_line, passed_line, table_lines

Detail = Literal["quiet", "concise", "normal", "verbose"]

WIDTH = 100  # of a file or a pipe: room for a headline of 80 characters after its level and cause
NARROWEST, WIDEST = 60, 200
MOST_OF_EXCEPTION = 2 * PROSE_WIDTH  # characters of it that are said again
LEFT_BEHIND = "a step before, whose gradient was NaN or infinite, has left such numbers in their inputs"
MOST_WHOLE = 5  # diagnostics printed whole; more than a few screens are not read

_BLANK: Line = ()


def to_text(report: Report, *, width: int = WIDTH, detail: Detail = "normal", colour: bool = False) -> str:
    """The report as text. `colour` is for terminals: it repeats what the words say."""
    width = min(max(width, NARROWEST), WIDEST)
    lines = list(_DETAILS[detail](report, width))
    return coloured(lines) if colour else plain(lines)


def headline(report: Report) -> str:
    """The gravest fault on one line, with its place and cause, as editors read it; empty where there is none."""
    found = findings(report)
    return (
        printable(f"{found[0].span}: {found[0].level}[{found[0].kind}]: {found[0].headline}") if found else ""
    )


def _quiet(report: Report, width: int) -> Iterator[Line]:
    del width  # the line is complete however long it is
    yield line(last_line(report))


def _concise(report: Report, width: int) -> Iterator[Line]:
    """One line per fault in the form editors understand; without a fault that there is none."""
    del width  # editors read whole lines
    lines = list(_fault_lines(report))
    yield from lines or [line(passed_line(report))]


def _fault_lines(report: Report) -> Iterator[Line]:
    """Faults with a known cause, then gradients without one."""
    if report.script is not None and report.script.crash is not None:
        yield line(concise_line(report.script.crash))
    if report.script is not None and report.script.unserved:
        yield line(printable(f"{report.script.path}: warning[not-served]: {unserved_text(report.script)}"))
    for diagnostic in unaccepted(report, report.diagnostics):
        yield line(concise_line(diagnostic))
    for gradient in unexplained(report):
        said = sentence(gradient).replace("  ", " is ", 1)
        yield line(printable(f"{gradient.call}: {gradient.level}[{gradient.verdict}]: {said}"))


def _normal(report: Report, width: int) -> Iterator[Line]:
    return _whole(report, width, is_complete=False)


def _verbose(report: Report, width: int) -> Iterator[Line]:
    return _whole(report, width, is_complete=True)


_DETAILS = {"quiet": _quiet, "concise": _concise, "normal": _normal, "verbose": _verbose}


def _whole(report: Report, width: int, is_complete: bool) -> Iterator[Line]:
    """Blocks with a blank line between them, and two after each diagnostic that is printed whole."""
    for diagnostic in _in_full(report, is_complete):
        yield from diagnostic_lines(diagnostic, report.sources, width)
        yield _BLANK
        yield _BLANK
    blocks = [
        _in_short(report, width, is_complete),
        _sentences(report, width, is_complete),
        *(budget_lines(g, report.sources, width) for g in _with_budget(report, is_complete)),
        *(_entries(gradient, width) for gradient in report.gradients if is_complete),
        table_lines(report, width, is_complete),
        _remarks(report, width, is_complete),
    ]
    for block in blocks:
        lines = list(block)
        if lines:
            yield from lines
            yield _BLANK
    bad = report.worst is not None and any(g.level == "error" for g in report.gradients)
    yield line(Piece(last_line(report), "error" if bad else "strong"))


def _in_full(report: Report, is_complete: bool) -> list[Diagnostic]:
    """The faults in the order in which they are to be fixed; a crash that another fault has led to is told at the end.

    Normally of several that do no harm the first stands for all.
    """
    crash, found = _crash(report), roots(report)
    first = [crash] if crash is not None and crash in found else []
    if is_complete:
        return [*first, *ordered_diagnostics(report), *([crash] if crash is not None and not first else [])]
    harmless = [one for one in found if one.harmless is not None]
    others = [one for one in found if one is not crash and one not in harmless[1:]]
    return [*first, *others[:MOST_WHOLE]]


def _crash(report: Report) -> Diagnostic | None:
    return None if report.script is None else report.script.crash


def _in_short(report: Report, width: int, is_complete: bool) -> Iterator[Line]:
    """The faults beyond the first few, and the notes: a line each."""
    if is_complete:
        return
    printed = {diagnostic.says_the_same_as for diagnostic in _in_full(report, is_complete)}
    crash = _crash(report)
    ordered = unaccepted(report, ordered_diagnostics(report))
    printed |= {one.says_the_same_as for gradient in left_behind(report) for one in gradient.diagnostics}
    left = [d for d in ordered if d.says_the_same_as not in printed]
    if crash is not None and crash in roots(report):  # the fault at its place is the same one
        left = [d for d in left if d.span != crash.span]
    for diagnostic in left[: 2 * LIST_CAP]:
        yield from (line(text) for text in wrap(concise_line(diagnostic), width, rest="  "))
    if len(left) > 2 * LIST_CAP:
        yield line(f"and {len(left) - 2 * LIST_CAP:,} more; --verbose prints all of them in full")


def _sentences(report: Report, width: int, is_complete: bool) -> Iterator[Line]:
    """Normally what no diagnostic explains and what is estimated, one example for each reason; else all."""
    if is_complete:
        for gradient in report.gradients:
            yield from _texts(wrap(sentence(gradient), width, "  ", "    "))
        return
    alike: dict[tuple[Verdict, str | None], list[GradientReport]] = {}
    behind = left_behind(report)
    if behind:
        verdicts = comma_list(list(dict.fromkeys(verdict_word(one.verdict) for one in behind)))
        text = f"{count(len(behind), 'gradient')} of later runs {verdicts}: {LEFT_BEHIND}"
        yield from _texts(wrap(text, width, "  ", "    "))
    for gradient in (*unexplained(report), *estimated(report)):
        if gradient in behind:
            continue
        alike.setdefault((gradient.verdict, gradient.reason), []).append(gradient)
    for gradients in list(alike.values())[: 2 * LIST_CAP]:
        more = f"; likewise {capped_list([name(g) for g in gradients[1:]])}" if len(gradients) > 1 else ""
        yield from _texts(wrap(sentence(gradients[0]) + more, width, "  ", "    "))
    if len(alike) > 2 * LIST_CAP:
        yield line(f"  and {len(alike) - 2 * LIST_CAP:,} more reasons; --verbose prints all of them")


def _with_budget(report: Report, is_complete: bool) -> list[GradientReport]:
    """The gradients whose error is worth dividing among lines: inaccurate ones, one for each cause and division."""
    if is_complete:
        return [gradient for gradient in report.gradients if gradient.budget]
    wanted: dict[object, GradientReport] = {}
    for gradient in report.gradients:
        if gradient.budget and gradient.verdict is Verdict.INACCURATE and not gradient.intended:
            wanted.setdefault((main_cause(gradient), main_span(gradient)), gradient)
    divided = {shares_text(gradient): gradient for gradient in reversed(wanted.values())}
    return [gradient for gradient in wanted.values() if gradient in divided.values()][:LIST_CAP]


def _entries(gradient: GradientReport, width: int) -> Iterator[Line]:
    """Histogram of right digits and the worst entries, for a gradient with several entries."""
    table = gradient.entry_table
    if table is None or table.count < 2:
        return
    counted = f", {count(table.count, 'entry', 'entries')}"
    called = cut_middle(printable(name(gradient)), width - 2 - len(counted))
    yield line("  ", Piece(called, "strong"), counted)
    if table.not_finite:
        yield line(f"    not finite  {bar(table.not_finite / table.count)} {table.not_finite:,}")
    for k, n in enumerate(table.histogram):
        if n:
            yield line(f"    {count(k, 'digit'):<10}  {bar(n / table.count)} {n:,}")
    for entry in table.worst[:LIST_CAP]:
        index = f"[{', '.join(map(str, entry.index))}]"
        observed = number(entry.observed, dtype=gradient.dtype)
        reference = number(entry.reference, entry.radius)
        found = f"{framework_name(gradient.framework)} {observed}, {reference_word(gradient)} {reference}"
        yield line(cut(printable(f"    {index}  {found}"), width))


def _remarks(report: Report, width: int, is_complete: bool) -> Iterator[Line]:
    """What was not checked, what the run itself has to say, and, on request, versions and times."""
    prose = min(width, PROSE_WIDTH)
    if report.script is not None and report.script.exception:
        yield from _texts(wrap(_ended(report, report.script.exception), prose, rest="  "))
    if (
        report.script is not None and report.script.unserved and not report.is_blind
    ):  # the last line says it then
        yield from _texts(wrap(f"warning: {unserved_text(report.script)}", prose, rest="  "))
    for row in report.unchecked if is_complete else report.unchecked[:LIST_CAP]:
        text = f"not checked: {count(row.count, 'gradient')} at {row.call}: {row.reason}"
        yield from _texts(wrap(text, prose, rest="  "))
    if len(report.unchecked) > LIST_CAP and not is_complete:
        yield line(
            f"not checked: {len(report.unchecked) - LIST_CAP:,} more places; --verbose prints all of them"
        )
    for note in report.notes:
        yield from _texts(wrap(f"note: {note}", prose, rest="  "))
    if is_complete:
        tools = {"gradproof": report.version, **report.frameworks}
        versions = [f"{framework_name(key)} {version}" for key, version in tools.items() if version]
        times = [f"{stage} {seconds:.2f} s" for stage, seconds in report.timing.items()]
        for label, items in (("versions", versions), ("time", times)):
            if items:
                yield from _texts(wrap(f"{label}: {', '.join(items)}", prose, rest="  "))


def _ended(report: Report, exception: str) -> str:
    """The exception by its first line, which the program has printed in full, and what led to it."""
    crash, (first, *_) = _crash(report), exception.strip().split("\n")
    told = crash is not None and crash not in roots(report)
    return f"the script ended with {cut(first, MOST_OF_EXCEPTION)}{f': {crash.headline}' if told and crash else ''}"


def _texts(texts: Iterable[str]) -> Iterator[Line]:
    return (line(text) for text in texts)
