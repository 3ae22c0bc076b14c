"""The user's source: beside each line its share in the error, below it what is to be said about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import comma_list, count, share
from gradproof.ir.span import Span
from gradproof.render.budget_text import LEAST_SHARE, by_line
from gradproof.render.faults import gravest_first, ordered_diagnostics, roots
from gradproof.render.html.badges import call_badges
from gradproof.render.html.diagnostic import diagnostic_article
from gradproof.render.html.listing import Listing, listing_rows
from gradproof.render.html.markup import Html, data_block, join, tag, text
from gradproof.render.html.tokens import tokens_by_line
from gradproof.render.sentence import name
from gradproof.render.snippet import Mark, marks_of, place_text, source_lines

MOST_BUDGETS = 200  # gradients whose budgets can be chosen; a list of more is not looked through

LineOps = dict[str, dict[int, tuple[float, str]]]


@dataclass
class Places:
    """Where in the page a source line stands: the number of each file that is shown, by its name."""

    files: dict[str, int] = field(default_factory=dict)

    def link(self, span: Span, shown: str | None = None) -> Html:
        """The place as a link to its line, or as text where the source is not in the report."""
        words = shown if shown is not None else f"{span.file}:{span.line}"
        if span.file not in self.files:
            return join([words])
        return tag("a", words, href=f"#{self.anchor(span.file, span.line)}")

    def anchor(self, file: str, line: int) -> str:
        return f"f{self.files[file]}L{line}"


def places_of(report: Report) -> Places:
    """The files that something is said about and whose text the report holds, in the order of the run."""
    spans = [span for d in _all_diagnostics(report) for span in _spans(d)]
    for gradient in report.gradients:
        spans += [row.span for row in gradient.budget] + [gradient.call]
    files = dict.fromkeys(span.file for span in spans if report.sources.get(span.file))
    return Places({file: k for k, file in enumerate(files)})


def source_section(report: Report, places: Places) -> Html:
    """Every file with its diagnostics; errors that have no line to stand at come first, the rest of these last."""
    diagnostics = _all_diagnostics(report)
    homeless = [d for d in diagnostics if d.span is None or d.span.file not in places.files]
    budgets = _budgets(report)
    first = next(iter(budgets.values()), (None, {}))[1]
    grave = [d for d in homeless if d.severity == "error"]
    slight = [d for d in homeless if d.severity != "error"]
    articles = _articles(diagnostics, report, places)
    parts: list[Html] = [articles[diagnostics.index(d)] for d in grave]
    parts += [_budget_choice(budgets, places)] if budgets else []
    parts += [
        _file(file, report, list(zip(articles, diagnostics)), first.get(file, {}), places)
        for file in places.files
    ]
    parts += [articles[diagnostics.index(d)] for d in slight]
    if not parts:
        parts = [tag("p", "The report holds no source text.", class_="faint")]
    heads = tag("h2", "Source and diagnostics", id="source-heading")
    return tag("section", heads, *parts, id="source", aria_labelledby="source-heading")


def _all_diagnostics(report: Report) -> list[Diagnostic]:
    crash = None if report.script is None else report.script.crash
    return ([] if crash is None else [crash]) + ordered_diagnostics(report)


def diagnostic_ids(report: Report) -> dict[object, str]:
    """The element that holds each fault, by what tells faults apart."""
    return {d.says_the_same_as: f"d{k}" for k, d in enumerate(_all_diagnostics(report))}


def _spans(diagnostic: Diagnostic) -> list[Span]:
    annotations = [] if diagnostic.primary is None else [diagnostic.primary]
    return [annotation.span for annotation in (*annotations, *diagnostic.secondary)]


def _articles(diagnostics: Sequence[Diagnostic], report: Report, places: Places) -> list[Html]:
    """The message of each fault; of several, each has its number in the order in which they are to be fixed."""
    order = roots(report)
    numbers = {d.says_the_same_as: k for k, d in enumerate(order, 1)} if len(order) > 1 else {}
    made = []
    for k, diagnostic in enumerate(diagnostics):
        place = text("no single line is to blame")
        if (span := diagnostic.span) is not None:
            place = places.link(span, place_text(span, source_lines(span.file, report.sources)))
        number = numbers.get(diagnostic.says_the_same_as)
        made.append(diagnostic_article(diagnostic, f"d{k}", "h3", place, number))
    return made


def _budgets(report: Report) -> dict[int, tuple[str, LineOps]]:
    """Share and ops of every line that has a noticeable part, by gradient, the gravest gradient first."""
    numbers = {id(gradient): k for k, gradient in enumerate(report.gradients)}
    found: dict[int, tuple[str, LineOps]] = {}
    for gradient in gravest_first(report):
        lines: LineOps = {}
        for span, part, ops in by_line(gradient):
            if abs(part) >= LEAST_SHARE and span.file in report.sources:
                lines.setdefault(span.file, {})[span.line] = (part, comma_list(ops))
        if lines and len(found) < MOST_BUDGETS:
            found[numbers[id(gradient)]] = (name(gradient), lines)
    return found


def _budget_choice(budgets: Mapping[int, tuple[str, LineOps]], places: Places) -> Html:
    """Which gradient's error is shown beside the lines; the shares of the others wait in the page."""
    words = "Beside each line: its share in the error of "
    if len(budgets) == 1:
        return tag("p", words, *(tag("code", label) for label, _ in budgets.values()), class_="control")
    options = [tag("option", label, value=k) for k, (label, _) in budgets.items()]
    shares = {
        k: {
            places.anchor(file, number): [share(part), round(min(abs(part), 1.0), 3), ops]
            for file, rows in lines.items()
            for number, (part, ops) in rows.items()
        }
        for k, (_, lines) in budgets.items()
    }
    return join(
        [
            tag(
                "p",
                tag("label", words, for_="budget"),
                tag("select", *options, id="budget"),
                class_="control",
            ),
            data_block("budgets", shares),
        ]
    )


def _file(
    file: str,
    report: Report,
    diagnostics: Sequence[tuple[Html, Diagnostic]],
    budget: Mapping[int, tuple[float, str]],
    places: Places,
) -> Html:
    """One file as a listing, what nobody looks for folded away."""
    lines = source_lines(file, report.sources)
    if lines and not lines[-1]:
        lines = lines[:-1]
    marks: dict[int, list[Mark]] = {}
    below: dict[int, list[Html]] = {}
    for article, diagnostic in diagnostics:
        annotations = [] if diagnostic.primary is None else [diagnostic.primary]
        for annotation in (*annotations, *diagnostic.secondary):
            if annotation.span.file != file:
                continue
            for mark in marks_of(annotation, annotation is diagnostic.primary, lines):
                if mark not in marks.setdefault(mark.number, []):
                    marks[mark.number].append(mark)
        if diagnostic.span is not None and diagnostic.span.file == file:
            last = min(max(diagnostic.span.last_line, 1), max(len(lines), 1))
            below.setdefault(last, []).append(article)
    calls: dict[int, list[tuple[int, GradientReport]]] = {}
    for k, gradient in enumerate(report.gradients):
        if gradient.call.file == file:
            calls.setdefault(gradient.call.line, []).append((k, gradient))
    badges = {line: call_badges(gradients) for line, gradients in calls.items()}
    is_warm = any(row.span.file == file for gradient in report.gradients for row in gradient.budget)
    listing = Listing(lines, tokens_by_line(lines), marks, below, budget, badges, places.files[file])
    wanted = {*marks, *below, *budget, *calls}
    label = f"file{places.files[file]}"
    return join(
        [
            tag("h3", tag("code", file), " ", tag("small", count(len(lines), "line")), id=label),
            tag(
                "div",
                *listing_rows(listing, wanted),
                class_="listing" if is_warm else "listing cold",
                role="group",
                aria_labelledby=label,
            ),
        ]
    )
