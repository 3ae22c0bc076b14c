"""One gradient in every mode as HTML: a matrix of modes by precisions with digits as heat, and the ops that part."""

from __future__ import annotations

from collections.abc import Mapping

from gradproof.diagnosis import words
from gradproof.diagnosis.parting import OpSeen
from gradproof.ir import types
from gradproof.judge.verdict import Verdict
from gradproof.modes.model import CallModes, ModeLine, ModesReport
from gradproof.render.html.diagnostic import patch_block
from gradproof.render.html.fragment import SNIPPET_WIDTH, snippet_markup
from gradproof.render.html.markup import Html, join, prose, tag
from gradproof.render.html.resources import resource
from gradproof.render.modes_graph import graph_picture
from gradproof.render.modes_text import (
    BITS,
    MEASURES,
    MOST_SOURCES,
    by_mode,
    digits_text,
    entry_shown,
    lacking_together,
    number_text,
    op_rows,
    op_snippet,
    op_title,
    ops_of,
    other_precisions,
    place_shown,
    proven_shown,
    rewriting_text,
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
        _rewriting(call),
        _overview(call),
        *(_matrix(call, k) for k in range(min(len(call.sources), MOST_SOURCES))),
        graph_picture(call.graph),
        *(_op(op, lines, report.sources) for op, lines in ops_of(call)),
        _lacking(call),
        *(tag("p", prose(f"note: {note}")) for note in call.notes),
        class_="modes",
    )


def _rewriting(call: CallModes) -> Html | None:
    fix = call.conclusion.rewriting
    if fix is None:
        return None
    patch = patch_block(fix.patch) if fix.patch else None
    return tag("div", tag("p", "run: ", prose(f"{rewriting_text(fix)}.")), patch)


def _overview(call: CallModes) -> Html | None:
    """Modes by gradients, digits as heat; a single gradient has its own table already."""
    if len(call.sources) == 1:
        return None
    heads = [tag("th", tag("code", source.name), scope="col") for source in call.sources]
    rows = [
        tag("tr", _mode_name(same), *(_heat(same[call.dtype], k) for k in range(len(call.sources))))
        for same in by_mode(call)
        if call.dtype in same
    ]
    caption = tag("caption", f"digits of every gradient in {call.dtype}, at {place_shown(call)}")
    head = tag("thead", tag("tr", tag("th", "mode", scope="col"), *heads))
    return tag("div", tag("table", caption, head, tag("tbody", *rows)), class_="scroll")


def _mode_name(same: Mapping[str, ModeLine]) -> Html:
    first = next(iter(same.values()))
    return tag("th", f"{words.framework_name(first.framework)}, {first.mode}", scope="row")


def _matrix(call: CallModes, k: int) -> Html:
    index, others = entry_shown(call, k), other_precisions(call)
    source = call.sources[k]
    name = words.gradient_name(call.target, source.name, index)
    # The digits come first: on a narrow screen they are what is seen without moving the table.
    labels = ("mode", "digits", call.dtype, *(one for one in MEASURES if one != "digits"), *others)
    heads = [tag("th", label, scope="col") for label in labels]
    rows = [_row(call, same, k, index, others) for same in by_mode(call)]
    proven = proven_shown(source, index)
    if proven:
        rows.insert(0, tag("tr", tag("th", "proven", scope="row"), tag("td"), tag("td", proven)))
    caption = tag("caption", tag("code", name), f" at {place_shown(call)}")
    table = tag("table", caption, tag("thead", tag("tr", *heads)), tag("tbody", *rows))
    return tag("div", table, class_="scroll")


def _row(
    call: CallModes, same: Mapping[str, ModeLine], k: int, index: tuple[int, ...], others: list[str]
) -> Html:
    own = same.get(call.dtype)
    cells = [tag("td")] * (1 + len(MEASURES))
    if own is not None:
        cell = own.cells[k]
        gap = "your own run" if own.is_own and not cell.gap_ulps else ulps_text(cell.gap_ulps)
        cells = [
            _heat(own, k), tag("td", number_text(cell.gradient, index)), tag("td", number_text(own.value, ())),
            tag("td", gap), tag("td", BITS[own.repeats]), tag("td", BITS[own.rethreads]),
        ]  # fmt: skip
    heats = [_heat(same[one], k) if one in same else tag("td") for one in others]
    return tag("tr", _mode_name(same), *cells, *heats)


def _heat(line: ModeLine, k: int) -> Html:
    """The digits on a colour from red to green; the verdict is said by a sign too."""
    cell = line.cells[k]
    share = (cell.digits or 0.0) / types.digits_possible(line.counts)
    hue = round(_RED + (_GREEN - _RED) * min(max(share, 0.0), 1.0))
    style = f"background: hsl({hue} 60% 50% / 0.3)" if cell.digits is not None else None
    mark = _MARKS.get(cell.verdict, "✗")
    return tag("td", f"{mark} {digits_text(cell, line.counts)}", style=style)


def _op(op: OpSeen, lines: list[ModeLine], sources: Mapping[str, str]) -> Html:
    rows = [tag("tr", tag("th", name, scope="row"), tag("td", prose(value))) for name, value in op_rows(op)]
    shown = list(op_snippet(op, sources, SNIPPET_WIDTH))
    return tag(
        "details",
        tag("summary", op_title(op, lines)),
        tag("pre", snippet_markup(shown)) if shown else None,
        tag("table", tag("tbody", *rows)),
        open=True,
    )


def _lacking(call: CallModes) -> Html | None:
    if not call.lacking:
        return None
    items = [tag("li", f"{who}: ", prose(reason)) for who, reason in lacking_together(call)]
    return tag("details", tag("summary", "not run"), tag("ul", join(items)))
