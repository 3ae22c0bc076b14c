"""A report for the output cell of a notebook: the sentence, the table, the faults, and nothing that runs."""

from __future__ import annotations

from collections.abc import Iterable

from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import digits_text
from gradproof.render.faults import gravest_first, main_span, ordered_diagnostics, told_cause
from gradproof.render.html.badges import verdict_badge
from gradproof.render.html.diagnostic import diagnostic_article
from gradproof.render.html.markup import Html, join, prose, tag
from gradproof.render.html.resources import resource
from gradproof.render.line import Line
from gradproof.render.sentence import name
from gradproof.render.snippet import snippet
from gradproof.render.summary_text import last_line

MOST_ROWS = 200  # a cell is scrolled through by hand; the page has them all
MOST_FAULTS = 20
SNIPPET_WIDTH = 100


def fragment(report: Report) -> Html:
    """A division with its own styles; the first fault is open, the others wait behind their headlines."""
    crash = None if report.script is None else report.script.crash
    faults = ([] if crash is None else [crash]) + ordered_diagnostics(report)
    said = last_line(report).removeprefix("gradproof: ")
    return tag(
        "div",
        Html(f"<style>{resource('fragment.css')}</style>"),
        tag("p", prose(f"{said}."), class_="said"),
        _table(report) if report.gradients else None,
        *(_fault(fault, report, is_open=k == 0) for k, fault in enumerate(faults[:MOST_FAULTS])),
        _more(len(faults) - MOST_FAULTS, "faults"),
        *(tag("p", prose(f"note: {note}")) for note in report.notes),
        class_="gradproof-report",
    )


def _table(report: Report) -> Html:
    ordered = gravest_first(report)
    heads = [tag("th", label, scope="col") for label in ("gradient", "verdict", "digits", "cause", "line")]
    rows = [_row(report, gradient) for gradient in ordered[:MOST_ROWS]]
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    return join([tag("div", table, class_="scroll"), _more(len(ordered) - MOST_ROWS, "gradients")])


def _row(report: Report, gradient: GradientReport) -> Html:
    known = gradient.known_digits
    span = main_span(gradient)
    return tag(
        "tr",
        tag("th", tag("code", name(gradient)), scope="row"),
        tag("td", verdict_badge(gradient.verdict, gradient.intended)),
        tag("td", "" if known is None else digits_text(*known).removesuffix(" digits")),
        tag("td", told_cause(report, gradient)),
        tag("td", str(span.line)),
    )


def _fault(diagnostic: Diagnostic, report: Report, is_open: bool) -> Html:
    level = tag("code", f"{diagnostic.severity}[{diagnostic.kind}]", class_=diagnostic.severity)
    summary = tag("summary", level, " ", prose(diagnostic.headline))
    lines = snippet(diagnostic, report.sources, SNIPPET_WIDTH)
    return tag(
        "details",
        summary,
        tag("pre", snippet_markup(lines)) if diagnostic.primary is not None else None,
        diagnostic_article(diagnostic, None, None, None),
        open=is_open,
    )


def snippet_markup(lines: Iterable[Line]) -> Html:
    """The lines of the terminal with their roles; line breaks are ours, the characters are text."""
    shown = [
        join(tag("span", piece.text, class_=piece.role) if piece.role else piece.text for piece in line)
        for line in lines
    ]
    return Html("\n".join(shown))


def _more(left: int, what: str) -> Html | None:
    return tag("p", f"and {left:,} more {what}") if left > 0 else None
