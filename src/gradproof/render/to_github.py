"""A report for GitHub Actions: annotations at the lines of a change, and the summary of a job in Markdown."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import count, digits_text, printable
from gradproof.ir.span import Span
from gradproof.render.diagnostic_text import diagnostic_lines
from gradproof.render.faults import gravest_first, main_span, told_cause
from gradproof.render.findings import Finding, findings, paragraphs
from gradproof.render.line import cut_middle, plain
from gradproof.render.sentence import name
from gradproof.render.snippet import characters, source_lines
from gradproof.render.summary_text import last_line

MOST_OF_A_LEVEL = 10  # GitHub shows no more annotations of one level for a step; the summary counts the rest
# GitHub drops a summary of more than 1 MiB whole. These keep it far below, and few people read further.
MOST_ROWS = 50
MOST_FAULTS = 20
MOST_CHARACTERS = 20_000  # of one diagnostic
WIDTH = 100
_CELL = 80

_HEADINGS = ("gradient", "verdict", "digits", "cause", "place")
_MARKUP = re.compile(r"([\\`*_\[\]<>|~#&$])")


def to_annotations(report: Report, rename: Callable[[str], str] = lambda file: file) -> str:
    """One workflow command for each fault that is not intended; notes do not deserve a mark in a review.

    `rename` gives a file its path in the repository.
    """
    found = _to_mend(report)
    shown = [
        finding
        for level in ("error", "warning")
        for finding in [each for each in found if each.level == level][:MOST_OF_A_LEVEL]
    ]
    return "".join(_command(finding, report.sources, rename) + "\n" for finding in shown)


def to_summary(report: Report) -> str:
    """What happened, the table of gradients, and every fault to unfold."""
    blocks = [
        "### Gradproof",
        _text(last_line(report).removeprefix("gradproof: ")),
        _table(report),
        *_details(_to_mend(report), report.sources),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n\n"


def _to_mend(report: Report) -> list[Finding]:
    return [finding for finding in findings(report) if finding.level != "note" and not finding.is_intended]


def _command(finding: Finding, sources: Mapping[str, str], rename: Callable[[str], str]) -> str:
    properties = {**_place(finding.span, sources, rename), "title": f"gradproof: {finding.kind}"}
    given = ",".join(f"{key}={_property(printable(value))}" for key, value in properties.items())
    return f"::{finding.level} {given}::{_data(chr(10).join(paragraphs(finding)))}"


def _place(span: Span, sources: Mapping[str, str], rename: Callable[[str], str]) -> dict[str, str]:
    """File and line from 1; the column, which GitHub wants only within one line, in characters from 1."""
    if span.line < 1:
        return {}
    place = {"file": rename(span.file), "line": str(span.line)}
    if span.last_line > span.line:
        return {**place, "endLine": str(span.last_line)}
    lines = source_lines(span.file, sources)
    if span.column is not None and span.line <= len(lines):
        place["col"] = str(characters(lines[span.line - 1], span.column) + 1)
    return place


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _table(report: Report) -> str:
    gradients = gravest_first(report)
    if not gradients:
        return ""
    rows = [
        _HEADINGS,
        ("---",) * len(_HEADINGS),
        *(_row(report, gradient) for gradient in gradients[:MOST_ROWS]),
    ]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    left = len(gradients) - MOST_ROWS
    return f"{table}\n\nand {count(left, 'more gradient')}" if left > 0 else table


def _row(report: Report, gradient: GradientReport) -> tuple[str, ...]:
    known = gradient.known_digits
    digits = "" if known is None else digits_text(*known).removesuffix(" digits")
    place = str(main_span(gradient))
    cells = (name(gradient), str(gradient.verdict), digits, told_cause(report, gradient), place)
    return tuple(_text(cut_middle(printable(cell), _CELL)) for cell in cells)


def _details(found: Sequence[Finding], sources: Mapping[str, str]) -> Iterator[str]:
    for finding in found[:MOST_FAULTS]:
        heading = html.escape(printable(f"{finding.level}[{finding.kind}]: {finding.headline}"))
        yield f"<details><summary>{heading}</summary>\n\n{_fenced(_body(finding, sources))}\n\n</details>"
    if len(found) > MOST_FAULTS:
        yield f"and {count(len(found) - MOST_FAULTS, 'more fault')}"


def _body(finding: Finding, sources: Mapping[str, str]) -> str:
    if finding.diagnostic is None:
        return "\n".join([printable(str(finding.span)), *paragraphs(finding)])
    return plain(diagnostic_lines(finding.diagnostic, sources, WIDTH))[:MOST_CHARACTERS].rstrip("\n")


def _fenced(text: str) -> str:
    """A block that the text cannot end, whatever backticks are in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _text(text: str) -> str:
    """Text in which Markdown finds nothing to understand."""
    return _MARKUP.sub(r"\\\1", text)
