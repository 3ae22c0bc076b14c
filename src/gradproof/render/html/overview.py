"""The top of the page: the one sentence to act on, how many of each verdict, the table of all gradients."""

from __future__ import annotations

import os.path
from collections import Counter
from collections.abc import Iterator

from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import count, digits_text, framework_name
from gradproof.judge.verdict import Verdict
from gradproof.render.faults import gravest_first, main_cause, main_span, roots
from gradproof.render.html.badges import verdict_badge
from gradproof.render.html.diagnostic import level_badge, patch_block
from gradproof.render.html.markup import Html, join, prose, tag
from gradproof.render.html.source import Places
from gradproof.render.sentence import name, unserved_text
from gradproof.render.summary_text import levels, verdict_line

FEW = 5  # rows below which there is nothing to look for
TALL = 14  # rows from which the table scrolls by itself and can be filtered


def overview_section(report: Report, places: Places) -> Html:
    """Everything a colleague reads before deciding whether to read on."""
    return tag(
        "section",
        tag("p", _subject(report), class_="subject"),
        tag("h1", prose(_sentence_case(verdict_line(report)))),
        _counts(report),
        _first(report, places),
        _unserved_words(report),
        _crash_words(report),
        _facts(report),
        _remarks(report, places),
        id="overview",
        aria_label="Overview",
    )


def _sentence_case(said: str) -> str:
    return said if said.endswith((".", "!")) else f"{said}."


def _subject(report: Report) -> Html:
    called = "Gradients checked" if report.script is None else report.script.path
    return join([tag("span", "gradproof report", class_="faint"), " ", tag("code", called)])


def _counts(report: Report) -> Html | None:
    """One number per verdict that occurs; each is a button that shows only those in the table."""
    counts = Counter(gradient.verdict for gradient in report.gradients)
    if not counts:
        return None
    items = [
        tag(
            "li",
            tag(
                "button",
                tag("b", f"{counts[verdict]:,}"),
                " ",
                verdict_badge(verdict, explained=True),
                type="button",
                data_verdict=str(verdict),
                aria_pressed="false",
            ),
        )
        for verdict in reversed(Verdict)
        if counts[verdict]
    ]
    found = levels(report)
    told = [
        tag("li", tag("span", count(found[level], level), class_=f"badge {level}"))
        for level in ("error", "warning")
        if found[level]
    ]
    return tag("ul", *told, *items, class_="counts", aria_label="faults by level, gradients by verdict")


def _first(report: Report, places: Places) -> Html | None:
    """The card with the fault to fix first, and its fix; the whole message stands at its line."""
    found = next(iter(roots(report)), None)
    if found is None:
        return None
    fix = found.fix
    return tag(
        "aside",
        tag("h2", "Fix this first"),
        tag("p", level_badge(found), " ", tag("strong", prose(found.headline))),
        None if found.span is None else tag("p", places.link(found.span), class_="place"),
        None if fix is None else tag("p", prose(fix.text)),
        None if fix is None or not fix.patch else patch_block(fix.patch),
        None if fix is None or not fix.checked else tag("p", prose(fix.checked), class_="checked"),
        class_=f"first {found.severity}",
        aria_label="Fix this first",
    )


def _unserved_words(report: Report) -> Html | None:
    if report.script is None or not report.script.unserved:
        return None
    return tag("p", f"Warning: {unserved_text(report.script)}.", class_="crash")


def _crash_words(report: Report) -> Html | None:
    if report.script is None or not report.script.exception:
        return None
    return tag("p", "The script ended with ", tag("code", report.script.exception), ".", class_="crash")


def _facts(report: Report) -> Html | None:
    tools = {"gradproof": report.version, **report.frameworks}
    versions = [f"{framework_name(key)} {version}" for key, version in tools.items() if version]
    times = [f"{stage} {seconds:.2f} s" for stage, seconds in report.timing.items()]
    facts = {"versions": ", ".join(versions), "time": ", ".join(times)}
    pairs = [tag("div", tag("dt", key), tag("dd", value)) for key, value in facts.items() if value]
    return tag("dl", *pairs, class_="facts") if pairs else None


def _remarks(report: Report, places: Places) -> Html | None:
    """What was not checked and what the run itself has to say."""
    items = [
        tag(
            "li",
            f"not checked: {count(row.count, 'gradient')} at ",
            places.link(row.call),
            ": ",
            prose(row.reason),
        )
        for row in report.unchecked
    ]
    items += [tag("li", prose(note)) for note in report.notes]
    return tag("ul", *items, class_="remarks") if items else None


def table_section(report: Report, places: Places) -> Html:
    """One row per gradient, the gravest first; sorted and filtered in place."""
    head = tag("h2", "Gradients", id="gradients-heading")
    if not report.gradients:
        empty = tag("p", "No gradient was computed.", class_="faint")
        return tag("section", head, empty, id="gradients", aria_labelledby="gradients-heading")
    numbers = {id(gradient): k for k, gradient in enumerate(report.gradients)}
    one_file = len({main_span(gradient).file for gradient in report.gradients}) == 1
    rows = [_row(gradient, numbers[id(gradient)], places, one_file) for gradient in gravest_first(report)]
    columns = [
        tag("th", tag("button", label, type="button"), scope="col", class_=f"col-{label}")
        for label in ("gradient", "verdict", "digits", "cause", "line")
    ]
    table = tag(
        "table",
        tag("caption", "Every gradient that was checked, the gravest first", class_="hidden"),
        tag("thead", tag("tr", *columns)),
        tag("tbody", *rows),
        id="table",
    )
    tall = " tall" if len(rows) >= TALL else ""
    return tag(
        "section",
        head,
        tag("div", *_controls(report), class_="control", hidden=len(rows) < FEW),
        tag(
            "div",
            table,
            class_=f"scroll{tall}",
            tabindex=0 if tall else None,
            role="region",
            aria_label="table of gradients",
        ),
        id="gradients",
        aria_labelledby="gradients-heading",
    )


def _controls(report: Report) -> Iterator[Html]:
    kinds = sorted({str(gradient.verdict) for gradient in report.gradients})
    options = [tag("option", "every verdict", value=""), *(tag("option", kind, value=kind) for kind in kinds)]
    yield tag("label", "Find ", tag("input", type="search", id="find", placeholder="name, cause or line"))
    yield tag("label", "Show ", tag("select", *options, id="show"))
    shown = count(len(report.gradients), "gradient")
    yield tag("output", shown, id="shown", class_="faint", for_="find show", aria_live="polite")


def _row(gradient: GradientReport, k: int, places: Places, one_file: bool) -> Html:
    span = main_span(gradient)
    known = gradient.known_digits
    digits = "" if known is None else digits_text(*known).removesuffix(" digits")
    lost = 0.0 if known is None else 1 - min(known[0] / known[1], 1.0) if known[1] > 0 else 0.0
    meter = tag("span", class_="meter", style=f"--lost:{lost:.3f}", aria_hidden="true") if known else None
    file = os.path.basename(span.file)
    called = join([None if one_file else tag("span", f"{file}:", class_="file"), str(span.line)])
    return tag(
        "tr",
        tag("th", tag("a", name(gradient), href=f"#g{k}"), scope="row"),
        tag("td", verdict_badge(gradient.verdict, gradient.intended), data_sort=gradient.verdict.severity),
        tag("td", meter, digits, data_sort="" if known is None else f"{known[0] / (known[1] or 1):.6f}"),
        tag("td", main_cause(gradient)),
        tag("td", places.link(span, called), data_sort=f"{file}:{span.line:09d}", title=str(span)),
        data_verdict=str(gradient.verdict),
    )
