"""One gradient in every mode as HTML: a matrix of modes by precisions with digits as heat, and the ops that part."""

from __future__ import annotations

from collections.abc import Mapping

from gradproof.diagnosis import words
from gradproof.ir import types
from gradproof.judge.verdict import Verdict
from gradproof.modes.model import CallModes, ModeLine, ModesReport, Parting
from gradproof.render.html.fragment import SNIPPET_WIDTH, snippet_markup
from gradproof.render.html.markup import Html, join, prose, tag
from gradproof.render.html.resources import resource
from gradproof.render.modes_text import (
    MOST_SOURCES,
    by_mode,
    digits_text,
    entry_shown,
    number_text,
    other_precisions,
    parting_rows,
    parting_snippet,
    parting_title,
    partings_of,
    ulps_text,
)

_GREEN, _RED = 140, 0  # hues: all digits of the dtype, and none
_MARKS = {Verdict.CORRECT: "✓", Verdict.UNVERIFIED: "?"}


def to_modes_html(report: ModesReport) -> str:
    """One file that needs nothing else: no script, no request."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag(
            "meta",
            http_equiv="Content-Security-Policy",
            content="default-src 'none'; style-src 'unsafe-inline'",
        ),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", "modes · gradproof"),
    )
    body = tag("body", Html(to_modes_fragment(report)))
    return f"<!DOCTYPE html>\n{tag('html', head, body, lang='en')}\n"


def to_modes_fragment(report: ModesReport) -> str:
    """For the output cell of a notebook, with styles of its own."""
    return str(
        tag(
            "div",
            Html(f"<style>{resource('fragment.css')}</style>"),
            *(_call(call, report) for call in report.calls),
            *(tag("p", prose(f"note: {note}")) for note in report.notes),
            class_="gradproof-report",
        )
    )


def _call(call: CallModes, report: ModesReport) -> Html:
    return tag(
        "section",
        tag("p", tag("strong", "verdict: "), prose(f"{call.conclusion.verdict}."), class_="said"),
        *(tag("p", "run: ", prose(f"{advice}.")) for advice in call.conclusion.advice),
        *(_matrix(call, k) for k in range(min(len(call.sources), MOST_SOURCES))),
        *(_parting(parting, lines, report.sources) for parting, lines in partings_of(call)),
        _lacking(call),
        *(tag("p", prose(f"note: {note}")) for note in call.notes),
    )


def _matrix(call: CallModes, k: int) -> Html:
    index, others = entry_shown(call, k), other_precisions(call)
    source = call.sources[k]
    name = words.gradient_name(call.target, source.name, index)
    labels = ("mode", call.dtype, "value", "digits", "gap to your run", "again", *others)
    heads = [tag("th", label, scope="col") for label in labels]
    rows = [_row(call, same, k, index, others) for same in by_mode(call)]
    if source.true is not None:
        proven = words.number(source.true.mid[index].item(), float(source.true.rad[index]))
        rows.insert(0, tag("tr", tag("th", "proven", scope="row"), tag("td", proven)))
    caption = tag("caption", tag("code", name), f" at {call.call}")
    table = tag("table", caption, tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    return tag("div", table, class_="scroll")


def _row(
    call: CallModes, same: Mapping[str, ModeLine], k: int, index: tuple[int, ...], others: list[str]
) -> Html:
    first, own = next(iter(same.values())), same.get(call.dtype)
    cells = [tag("td")] * 5
    if own is not None:
        cell = own.cells[k]
        again = {True: "same bits", False: "other bits", None: ""}[own.repeats]
        gap = "your own run" if own.is_own and not cell.gap_ulps else ulps_text(cell.gap_ulps)
        cells = [
            tag("td", number_text(cell.gradient, index)), tag("td", number_text(own.value, ())), _heat(own, k),
            tag("td", gap), tag("td", again),
        ]  # fmt: skip
    heats = [_heat(same[one], k) if one in same else tag("td") for one in others]
    name = f"{words.framework_name(first.framework)}, {first.mode}"
    return tag("tr", tag("th", name, scope="row"), *cells, *heats)


def _heat(line: ModeLine, k: int) -> Html:
    """The digits on a colour from red to green; the verdict is said by a sign too."""
    cell = line.cells[k]
    share = (cell.digits or 0.0) / types.digits_possible(line.counts)
    hue = round(_RED + (_GREEN - _RED) * min(max(share, 0.0), 1.0))
    style = f"background: hsl({hue} 60% 50% / 0.3)" if cell.digits is not None else None
    mark = _MARKS.get(cell.verdict, "✗")
    return tag("td", f"{mark} {digits_text(cell, line.counts)}", style=style)


def _parting(parting: Parting, lines: list[ModeLine], sources: Mapping[str, str]) -> Html:
    rows = [
        tag("tr", tag("th", name, scope="row"), tag("td", prose(value)))
        for name, value in parting_rows(parting)
    ]
    shown = list(parting_snippet(parting, sources, SNIPPET_WIDTH))
    return tag(
        "details",
        tag("summary", parting_title(parting, lines)),
        tag("pre", snippet_markup(shown)) if shown else None,
        tag("table", tag("tbody", *rows)),
        open=True,
    )


def _lacking(call: CallModes) -> Html | None:
    if not call.lacking:
        return None
    items = [
        tag("li", f"{words.framework_name(one.framework)}, {one.name}: ", prose(one.reason))
        for one in call.lacking
    ]
    return tag("details", tag("summary", "not run"), tag("ul", join(items)))
