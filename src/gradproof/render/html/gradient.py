"""Each gradient: observed against proven entries, its pictures, and why a picture is lacking."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from gradproof.diagnosis.entries import Entry, EntryTable
from gradproof.diagnosis.figures import Figures, ModeRow
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import (
    count,
    digits_number,
    digits_text,
    framework_name,
    number,
    ordinal,
    shape_text,
    significant,
)
from gradproof.ir.span import Span
from gradproof.render.faults import gravest_first
from gradproof.render.html.badges import verdict_badge
from gradproof.render.html.markup import Html, join, prose, tag
from gradproof.render.html.plots import passage_figure, slice_figure, steps_figure
from gradproof.render.html.source import Places, diagnostic_ids
from gradproof.render.html.table import TALL
from gradproof.render.sentence import name, reference_word, sentence

MOST_DRAWN = 120  # gradients with pictures: those of one more hardly tell anything new, and each weighs 15 kB
MOST_DETAILED = 1000  # gradients with a panel at all; the table lists the others
MOST_PASSAGES = 4  # lines of a loop that are drawn
MOST_BARS = 150  # bars beside each other in one call

_PICTURES = {
    "slice": "slice through the point",
    "steps": "error against the step",
    "passages": "size by time step",
    "modes": "execution modes",
    "program": "captured program",
}


def drawn_gradients(report: Report) -> set[int]:
    """The gradients that get pictures, by number: the gravest ones."""
    numbers = {id(gradient): k for k, gradient in enumerate(report.gradients)}
    return {numbers[id(gradient)] for gradient in gravest_first(report)[:MOST_DRAWN]}


def detail_section(report: Report, places: Places, programs: Mapping[int, str]) -> Html:
    """The gradients call by call; `programs` has the element of the program behind each of them."""
    drawn = drawn_gradients(report)
    ids = diagnostic_ids(report)
    head = tag("h2", "Gradient by gradient", id="details-heading")
    parts: list[Html] = []
    numbered = list(enumerate(report.gradients))[:MOST_DETAILED]
    first = _number(gravest_first(report)[0], report)
    calls: dict[tuple[Span, int], list[tuple[int, GradientReport]]] = {}
    for k, gradient in numbered:
        calls.setdefault((gradient.call, gradient.occurrence), []).append((k, gradient))
    for (call, occurrence), group in calls.items():
        turn = "" if occurrence == 1 else f", {ordinal(occurrence)} run"
        parts.append(tag("h3", "Call at ", places.link(call), turn))
        parts += [norms] if (norms := _norms([gradient for _, gradient in group])) else []
        parts += [
            _panel(gradient, k, places, ids, k in drawn, programs.get(k), k == first) for k, gradient in group
        ]
    left = len(report.gradients) - len(numbered)
    if left:
        parts.append(tag("p", f"{left:,} more stand in the table only.", class_="faint"))
    return tag("section", head, *parts, id="details", aria_labelledby="details-heading")


def _number(gradient: GradientReport, report: Report) -> int:
    return next(k for k, each in enumerate(report.gradients) if each is gradient)


def _panel(
    gradient: GradientReport,
    k: int,
    places: Places,
    ids: Mapping[object, str],
    is_drawn: bool,
    program: str | None,
    is_open: bool,
) -> Html:
    known = gradient.known_digits
    digits = "" if known is None else digits_text(*known)
    summary = tag(
        "summary",
        tag("h4", name(gradient)),
        " ",
        verdict_badge(gradient.verdict, gradient.intended, explained=True),
        " ",
        tag("span", digits, class_="faint"),
    )
    said = sentence(gradient).removeprefix(name(gradient)).strip()
    body = [
        tag("p", prose(f"{said}.")),
        _facts(gradient, ids, program),
        tag("div", *_tables(gradient), *_pictures(gradient, places, is_drawn), class_="figures"),
        _lacking(gradient, is_drawn),
    ]
    return tag("details", summary, *body, class_="gradient", id=f"g{k}", open=is_open)


def _facts(gradient: GradientReport, ids: Mapping[object, str], program: str | None) -> Html:
    facts: list[tuple[str, str]] = [
        ("source", f"{gradient.dtype} {shape_text(gradient.shape) if gradient.shape else 'number'}")
    ]
    table = _compared(gradient)
    if table is not None and gradient.oracle is not None:
        facts.append(("reference", reference_word(gradient)))
    if table is not None:
        observed, off = significant(table.observed_norm, 3), significant(table.difference_norm, 3)
        facts.append(("norm", f"{observed}, of the difference {off}"))
    causes = [
        tag("a", d.kind, href=f"#{ids[d.says_the_same_as]}", title=d.headline) for d in gradient.diagnostics
    ]
    if causes:
        facts.append(("causes", join(causes, ", ")))
    if program is not None:
        facts.append(("program", tag("a", "as a graph", href=f"#{program}")))
    pairs = [tag("div", tag("dt", key), tag("dd", value)) for key, value in facts]
    return tag("dl", *pairs, class_="facts")


def _compared(gradient: GradientReport) -> EntryTable | None:
    """The entries, where there is a reference for at least one of them; without any a table would be empty."""
    table = gradient.entry_table
    if table is None or all(cmath.isnan(entry.reference) for entry in table.worst):
        return None
    return table


def _tables(gradient: GradientReport) -> Iterator[Html]:
    table = _compared(gradient)
    if table is None or not table.count:
        return
    if table.count > 1:
        yield _histogram(table)
    yield _worst(gradient, table.worst)


def _histogram(table: EntryTable) -> Html:
    """How many entries have how many right digits. A table with bars: it needs no other words."""
    rows = [("not finite", table.not_finite)] if table.not_finite else []
    rows += [(count(k, "digit"), n) for k, n in enumerate(table.histogram) if n]
    most = max((n for _, n in rows), default=1)
    return _bars("Right digits", ("digits", "entries"), [(label, n / most, f"{n:,}") for label, n in rows])


def _worst(gradient: GradientReport, worst: Sequence[Entry]) -> Html:
    heads = [
        tag("th", label, scope="col")
        for label in ("entry", framework_name(gradient.framework), reference_word(gradient), "digits")
    ]
    rows = [
        tag(
            "tr",
            tag("th", f"[{', '.join(map(str, entry.index))}]" if entry.index else "value", scope="row"),
            tag("td", number(entry.observed, dtype=gradient.dtype)),
            tag("td", number(entry.reference, entry.radius)),
            tag("td", _digits(entry.digits)),
        )
        for entry in worst
    ]
    title = "Observed and reference" if len(worst) == 1 else f"The {len(worst)} worst entries"
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="numbers")
    return _titled(title, tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=title))


def _digits(digits: float | None) -> str:
    return "" if digits is None or math.isnan(digits) else digits_number(digits)


def _pictures(gradient: GradientReport, places: Places, is_drawn: bool) -> Iterator[Html]:
    figures = gradient.figures if is_drawn else None
    if figures is None:
        return
    if figures.slice is not None and figures.slice.t.size:
        yield slice_figure(figures.slice)
    if figures.steps is not None and figures.steps.steps.size:
        yield steps_figure(figures.steps)
    for passage in figures.passages[:MOST_PASSAGES]:
        if passage.sizes:
            yield passage_figure(passage, places.link(passage.span))
    if any(row.digits is not None for row in figures.modes):
        yield _modes(figures.modes)


def _modes(modes: Sequence[ModeRow]) -> Html:
    """The same gradient in every way of running it.

    A way that gets a whole digit less right than another of the same dtype is marked; a difference in the last
    digits is how floating point works.
    """
    best: dict[str, float] = {}
    for row in modes:
        best[row.dtype] = max(best.get(row.dtype, 0.0), row.digits or 0.0)
    rows = []
    for mode, run in groupby(modes, key=lambda row: row.mode):
        group = list(run)
        for k, row in enumerate(group):
            is_behind = row.digits is not None and row.digits <= best[row.dtype] - 1
            rows.append(
                tag(
                    "tr",
                    tag("th", prose(mode), scope="rowgroup", rowspan=len(group)) if k == 0 else None,
                    tag("td", row.dtype),
                    tag("td", row.value),
                    tag("td", _digits(row.digits)),
                    class_="differs" if is_behind else None,
                )
            )
    heads = [tag("th", label, scope="col") for label in ("mode", "dtype", "value", "digits")]
    title = "Execution modes"
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *rows), class_="numbers modes")
    return _titled(title, tag("div", table, class_="scroll", tabindex=0, role="region", aria_label=title))


def _lacking(gradient: GradientReport, is_drawn: bool) -> Html | None:
    """Why pictures are not there; never an empty box."""
    if not is_drawn:
        return tag("p", f"Pictures are drawn for the {MOST_DRAWN} gravest gradients.", class_="faint")
    figures: Figures | None = gradient.figures
    if figures is None:
        return tag("p", "There are no pictures: this report holds the numbers only.", class_="faint")
    items = [
        tag("li", f"no picture of the {_PICTURES.get(key, key)}: ", prose(reason))
        for key, reason in figures.lacking.items()
    ]
    return tag("ul", *items, class_="remarks") if items else None


def _norms(gradients: Sequence[GradientReport]) -> Html | None:
    """The sizes of the gradients of one call, on a scale of powers of ten, in the order they were asked for."""
    known = [
        (gradient, gradient.entry_table.observed_norm)
        for gradient in gradients
        if gradient.entry_table is not None and gradient.entry_table.count
    ]
    sizes = known[:MOST_BARS]
    positive = [size for _, size in sizes if math.isfinite(size) and size > 0]
    if len(sizes) < 2 or not positive:
        return None
    low = math.floor(math.log10(min(positive))) - 1
    span = max(math.ceil(math.log10(max(positive))) - low, 1)
    rows = [
        (
            gradient.source,
            (math.log10(size) - low) / span if math.isfinite(size) and size > 0 else 0.0,
            significant(size, 3),
        )
        for gradient, size in sizes
    ]
    shown = _bars("Size of the gradients of this call, powers of ten", ("source", "norm"), rows, "h4")
    left = [
        f"{n:,} {why}"
        for n, why in (
            (len(known) - len(sizes), "more are not shown"),
            (len(gradients) - len(known), "without numbers"),
        )
        if n
    ]
    remark = tag("p", "; ".join(left), class_="faint") if left else None
    return tag("div", shown, remark, class_="figures norms")


def _bars(
    title: str, heads: tuple[str, str], rows: Sequence[tuple[str, float, str]], heading: str = "h5"
) -> Html:
    body = [
        tag(
            "tr",
            tag("th", label, scope="row"),
            tag("td", tag("span", class_="bar", style=f"--part:{min(max(part, 0.0), 1.0):.4f}")),
            tag("td", shown),
        )
        for label, part, shown in rows
    ]
    columns = (tag("th", heads[0], scope="col"), tag("td"), tag("th", heads[1], scope="col"))
    table = tag("table", tag("thead", tag("tr", *columns)), tag("tbody", *body), class_="bars")
    if len(rows) < TALL:
        return _titled(title, table, heading)
    scroll = tag("div", table, class_="scroll tall", tabindex=0, role="region", aria_label=title)
    return _titled(title, scroll, heading)


def _titled(title: str, table: Html, heading: str = "h5") -> Html:
    return tag("figure", tag(heading, title), table)
