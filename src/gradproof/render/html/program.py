"""The captured programs: data for the graph, and a table by source line for those without it."""

from __future__ import annotations

import math
import os.path
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradproof.diagnosis.figures import Figures, NodeView, ProgramView
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import capped_list, count, ordinal, printable, shape_text, share
from gradproof.ir.span import Span
from gradproof.render.faults import gravest_first
from gradproof.render.html.gradient import drawn_gradients
from gradproof.render.html.markup import Html, data_block, join, tag
from gradproof.render.html.source import Places
from gradproof.render.sentence import name
from gradproof.render.snippet import source_line

MOST_NODES = 20_000  # of all programs together: about 2 MB of the page
MOST_LINES = 60  # rows of the table by source line
LONGEST_VALUE = 160  # characters; a value is a number or a range, so more is no longer read
LONGEST_CODE = 80  # characters of a source line; a box shows the first twenty
MOST_NAMED = 3  # gradients by which a program is told from others of the same call
LEAST_SHARE = 1e-4  # a smaller part of the error is not worth a number at its op


@dataclass
class Captured:
    """A program and the gradients that were computed by it."""

    view: ProgramView
    gradients: list[tuple[int, GradientReport, Figures]] = field(default_factory=list)


def captured_programs(report: Report) -> list[Captured]:
    """Every program once, though several gradients share it; the gravest gradients first."""
    drawn = drawn_gradients(report)
    numbers = {id(gradient): k for k, gradient in enumerate(report.gradients)}
    found: dict[int, Captured] = {}
    for gradient in gravest_first(report):
        k = numbers[id(gradient)]
        figures = gradient.figures if k in drawn else None
        if figures is not None and figures.program is not None and figures.program.nodes:
            captured = found.setdefault(id(figures.program), Captured(figures.program))
            captured.gradients.append((k, gradient, figures))
    return list(found.values())


def program_ids(programs: list[Captured]) -> dict[int, str]:
    """The element that shows the program of each gradient."""
    return {k: f"p{n}" for n, each in enumerate(programs) for k, _, _ in each.gradients}


def program_section(programs: list[Captured], places: Places, sources: Mapping[str, str]) -> Html | None:
    """The programs, of which one is shown: its graph is drawn when it comes into view."""
    if not programs:
        return None
    parts, room = [], MOST_NODES
    for n, captured in enumerate(programs):
        room -= len(captured.view.nodes)
        shown = _program(captured, n, places, sources, is_drawn=room >= 0)
        parts.append(tag("div", shown, class_="program", id=f"p{n}"))
    head = tag("h2", "Program", id="program-heading")
    choice = _choice(programs) if len(programs) > 1 else None
    return tag("section", head, choice, *parts, id="program", aria_labelledby="program-heading")


def _choice(programs: list[Captured]) -> Html:
    """Which program is shown, by the call it ran for; without the script all of them are."""
    options = [tag("option", _ran_for(each), value=f"p{n}") for n, each in enumerate(programs)]
    return tag("p", tag("label", "Program of ", tag("select", *options, id="programs")), class_="control")


def _ran_for(captured: Captured) -> str:
    _, first, _ = captured.gradients[0]
    call = f"{os.path.basename(first.call.file)}:{first.call.line}"
    turn = "" if first.occurrence == 1 else f", {ordinal(first.occurrence)} run"
    return f"{call}{turn}: {capped_list([g.source for _, g, _ in captured.gradients], MOST_NAMED)}"


def _program(captured: Captured, n: int, places: Places, sources: Mapping[str, str], is_drawn: bool) -> Html:
    view, (_, first, _) = captured.view, captured.gradients[0]
    total = count(len(view.nodes), "op")
    left = f"; {view.omitted:,} more were left out of the middle" if view.omitted else ""
    heading = tag("h3", "What ran for ", places.link(first.call), " ", tag("small", f"{total}{left}"))
    table = _by_source_line(captured, places)
    if not is_drawn:
        why = f"Not drawn: the programs before it already fill the page with {MOST_NODES:,} ops."
        return join([heading, tag("p", why, class_="faint"), table])
    return join(
        [heading, _graph(captured, n), table, data_block(f"program{n}", _data(captured, places, sources))]
    )


def _graph(captured: Captured, n: int) -> Html:
    """The frame that the script fills. Everything in it can be reached by keyboard."""
    options = [tag("option", name(g), value=k) for k, (_, g, _) in enumerate(captured.gradients)]
    help_text = (
        "Arrow keys go to inputs (up), users (down) and neighbours; Enter opens and closes a source line."
    )
    controls = tag(
        "div",
        tag("label", "Show the path of ", tag("select", *options, class_="chosen"), class_="way"),
        tag(
            "label",
            "Find ",
            tag("input", type="search", class_="find", placeholder="op, name, value or line"),
        ),
        tag("button", "Open all lines", type="button", class_="open-all"),
        tag("button", "Close all lines", type="button", class_="close-all"),
        tag("label", tag("input", type="checkbox", class_="constants"), " constants"),
        tag("output", class_="found faint", aria_live="polite"),
        class_="control",
    )
    canvas = tag(
        "div",
        class_="canvas",
        tabindex=0,
        role="listbox",
        aria_label=f"ops of the program. {help_text}",
    )
    side = tag("div", tag("p", help_text, class_="faint"), class_="side", aria_live="polite")
    return tag(
        "div", controls, tag("div", canvas, side, class_="split"), class_="graph", data_program=f"program{n}"
    )


def _by_source_line(captured: Captured, places: Places) -> Html:
    """How many ops each line ran and its part in the error: what the graph says, in words."""
    shares = captured.gradients[0][2].shares
    rows: dict[tuple[str, int], list[NodeView]] = {}
    spans: dict[tuple[str, int], Span] = {}
    for node in captured.view.nodes:
        key = ("", 0) if node.span is None else (node.span.file, node.span.line)
        rows.setdefault(key, []).append(node)
        if node.span is not None:
            spans.setdefault(key, node.span)
    body = []
    for key, nodes in list(rows.items())[:MOST_LINES]:
        part = sum(shares.get(node.id, 0.0) for node in nodes)
        place = places.link(spans[key]) if key in spans else "no line of the user's"
        kinds = ", ".join(dict.fromkeys(node.op for node in nodes[:8]))
        body.append(
            tag(
                "tr",
                tag("th", place, scope="row"),
                tag("td", f"{len(nodes):,}"),
                tag("td", share(part) if abs(part) >= LEAST_SHARE else ""),
                tag("td", f"{kinds}{', …' if len(nodes) > 8 else ''}"),
            )
        )
    heads = [tag("th", label, scope="col") for label in ("line", "ops", "share in the error", "which")]
    left = len(rows) - MOST_LINES
    more = tag("p", f"and {left:,} more lines", class_="faint") if left > 0 else None
    table = tag("table", tag("thead", tag("tr", *heads)), tag("tbody", *body), class_="by-line")
    scroll = tag("div", table, class_="scroll", tabindex=0, role="region", aria_label="ops by source line")
    return tag("details", tag("summary", "The same by source line"), scroll, more)


def _data(captured: Captured, places: Places, sources: Mapping[str, str]) -> dict[str, Any]:
    """The nodes by column, repeated words as numbers: thousands of ops in a few hundred kilobytes."""
    words: dict[str, int] = {}

    def word(text: str) -> int:
        return words.setdefault(printable(text), len(words))

    columns: dict[str, list[Any]] = {
        key: [] for key in ("id", "op", "in", "type", "value", "line", "name", "back")
    }
    for node in captured.view.nodes:
        row = (
            node.id,
            word(node.op),
            list(node.inputs),
            word(f"{node.dtype} {shape_text(node.shape)}" if node.shape else node.dtype),
            printable(node.value)[:LONGEST_VALUE],
            word("" if node.span is None else f"{node.span.file}:{node.span.line}"),
            word(node.name),
            int(node.phase == "backward"),
        )
        for key, value in zip(columns, row):
            columns[key].append(value)
    anchors, code = {}, {}
    for node in captured.view.nodes:
        if node.span is not None and node.span.file in places.files:
            place = printable(f"{node.span.file}:{node.span.line}")
            anchors[place] = places.anchor(node.span.file, node.span.line)
            if place not in code:
                code[place] = source_line(node.span, sources)[:LONGEST_CODE]
    ways = [
        {
            "guilty": sorted(figures.guilty),
            "shares": {
                str(key): round(part, 4)
                for key, part in figures.shares.items()
                if math.isfinite(part) and abs(part) >= LEAST_SHARE
            },
        }
        for _, _, figures in captured.gradients
    ]
    return {"words": list(words), "anchors": anchors, "code": code, "ways": ways, **columns}
