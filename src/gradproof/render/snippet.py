"""Source lines with underlines and labels; the only renderer that reads files."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic
from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import columns, printable, wrap
from gradproof.ir.span import Span
from gradproof.render.line import Line, Piece, line

TAB = 4  # columns a tab is shown as
MOST_LINES = 4  # a longer span shows its first two lines and its last
FEWEST_LABEL = 24  # columns below which a label is moved to a line of its own
MOST_SOURCE = 1_000_000  # characters; a larger file is data or generated, not read by anyone

_UNKNOWN = "(this line is not available)"


@dataclass(frozen=True)
class Mark:
    """An underline within one line: columns on the screen from `start` up to `end`."""

    number: int
    start: int
    end: int
    label: str
    is_primary: bool


def snippet(diagnostic: Diagnostic, sources: Mapping[str, str], width: int) -> Iterator[Line]:
    """The place of the primary annotation, then every annotated line with its underlines."""
    if diagnostic.primary is None:
        return
    primary = diagnostic.primary
    annotations = (primary, *diagnostic.secondary)
    gutter = max(len(str(_shown_lines(a.span)[-1])) for a in annotations)
    files = dict.fromkeys(annotation.span.file for annotation in annotations)
    for file in files:
        here = [annotation for annotation in annotations if annotation.span.file == file]
        arrow, place = ("-->", primary.span) if file == primary.span.file else (":::", here[0].span)
        source = source_lines(file, sources)
        yield line(Piece(" " * gutter + f"{arrow} ", "gutter"), place_text(place, source))
        yield _edge(gutter)
        yield from _annotated_lines(here, primary, source, gutter, width)
        yield _edge(gutter)


def source_lines(file: str, sources: Mapping[str, str]) -> Sequence[str]:
    """The lines of a file whose text the report holds; none for another.

    Nothing is read from disk here: a report may come from somebody else, and what it calls a source could be
    any file of the reader's.
    """
    # Not `splitlines`: it would also end a line at a form feed, and every number below would be off by one.
    return [text.rstrip("\r") for text in sources[file].split("\n")] if file in sources else []


def source_line(span: Span, sources: Mapping[str, str]) -> str:
    """The text of a span's first line without indentation; empty if it cannot be found."""
    lines = source_lines(span.file, sources)
    return printable(lines[span.line - 1]).strip() if 0 < span.line <= len(lines) else ""


def with_sources(report: Report) -> Report:
    """The report with the text of every file it mentions, so that it can be rendered anywhere.

    Whoever makes a report calls this once, while the files are still those that ran.
    """
    sources = dict(report.sources)
    for span in _spans(report):
        if span.file not in sources:
            text = "".join(linecache.getlines(span.file))
            if text and len(text) <= MOST_SOURCE:
                sources[span.file] = text
    return replace(report, sources=sources)


def _spans(report: Report) -> Iterator[Span]:
    for gradient in report.gradients:
        yield gradient.call
        yield from (share.span for share in gradient.budget)
        for diagnostic in gradient.diagnostics:
            if diagnostic.primary is not None:
                yield diagnostic.primary.span
            yield from (annotation.span for annotation in diagnostic.secondary)
    crash = None if report.script is None else report.script.crash
    if crash is not None and crash.primary is not None:
        yield from (annotation.span for annotation in (crash.primary, *crash.secondary))


def place_text(span: Span, source: Sequence[str]) -> str:
    """`file:line:column` with the column in characters, as editors count."""
    if span.column is None or not 0 < span.line <= len(source):
        return printable(str(span))
    return printable(f"{span.file}:{span.line}:{characters(source[span.line - 1], span.column) + 1}")


def _annotated_lines(
    annotations: Sequence[Annotation], primary: Annotation, source: Sequence[str], gutter: int, width: int
) -> Iterator[Line]:
    marks = [mark for a in annotations for mark in marks_of(a, a is primary, source)]
    marks.sort(key=lambda mark: (mark.number, mark.is_primary, mark.start))
    previous: int | None = None
    for number, here in groupby(marks, key=lambda mark: mark.number):
        if previous is not None and number > previous + 1:
            yield line(Piece("." * gutter + " |", "gutter"))
        previous = number
        known = 0 < number <= len(source)
        text = on_screen(source[number - 1]) if known else _UNKNOWN
        room = width - gutter - 3
        group = list(here)
        offset = _offset(text, group, room)
        yield line(Piece(f"{number:>{gutter}} | ", "gutter"), _window(text, offset, room))
        for mark in group:
            yield from _underline(mark, offset, gutter, room)


def marks_of(annotation: Annotation, is_primary: bool, source: Sequence[str]) -> Iterator[Mark]:
    """One underline per shown line of the span; the label stands at the last."""
    span = annotation.span
    shown = _shown_lines(span)
    for number in shown:
        label = annotation.label if number == shown[-1] else ""
        if not 0 < number <= len(source):
            yield Mark(number, 0, columns(_UNKNOWN), label, is_primary)
            continue
        text = source[number - 1]
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        if number == span.line and span.column is not None:
            start = characters(text, span.column)
        if number == span.last_line and span.end_column is not None:
            end = characters(text, span.end_column)
        first = columns(on_screen(text[:start]))
        yield Mark(number, first, max(columns(on_screen(text[:end])), first + 1), label, is_primary)


def _shown_lines(span: Span) -> list[int]:
    numbers = range(span.line, span.last_line + 1)
    return list(numbers) if len(numbers) <= MOST_LINES else [*numbers[:2], numbers[-1]]


def _underline(mark: Mark, offset: int, gutter: int, room: int) -> Iterator[Line]:
    """The underline with its label beside it, or below it where there is no room beside."""
    edge = Piece(" " * gutter + " | ", "gutter")
    role, sign = ("primary", "^") if mark.is_primary else ("secondary", "-")
    start = max(mark.start - offset, 0)
    end = max(min(mark.end - offset, room), start + 1)
    drawn = " " * start + sign * (end - start)
    label = printable(mark.label)
    if not label:
        yield line(edge, Piece(drawn, role))
    elif end + 1 + columns(label) <= room:
        yield line(edge, Piece(f"{drawn} {label}", role))
    else:
        yield line(edge, Piece(drawn, role))
        indent = min(start, max(room - max(FEWEST_LABEL, columns(label)), 0))
        for text in wrap(label, room, " " * indent):
            yield line(edge, Piece(text, role))


def _offset(text: str, marks: Sequence[Mark], room: int) -> int:
    """How many columns of a long line are hidden at its left, so that the main underline is seen."""
    if columns(text) <= room:
        return 0
    main = next((mark for mark in marks if mark.is_primary), marks[0])
    return 0 if main.end < room else max(main.start - room // 4, 0)


def _window(text: str, offset: int, room: int) -> str:
    """The part of a long line that is shown, with an ellipsis where something is hidden."""
    if columns(text) <= room:
        return text
    left, shown, seen = "…" if offset else "", "", 0
    for character in text:
        seen += columns(character)
        if seen > offset + len(left) and columns(left + shown + character) < room:
            shown += character
    return left + shown + ("…" if offset + room <= columns(text) else "")


def _edge(gutter: int) -> Line:
    return line(Piece(" " * gutter + " |", "gutter"))


def characters(text: str, n_bytes: int) -> int:
    """How many characters the first bytes of the line hold; Python counts columns in bytes."""
    return len(text.encode("utf-8", "surrogatepass")[:n_bytes].decode("utf-8", "ignore"))


def on_screen(text: str) -> str:
    """The line as it is shown: tabs as blanks, no control characters."""
    first, *others = text.split("\t")
    shown = printable(first)
    for part in others:
        shown += " " * (TAB - columns(shown) % TAB) + printable(part)
    return shown
