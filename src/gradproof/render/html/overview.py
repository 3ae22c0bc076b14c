"""The top of the page: the one sentence to act on, how many of each verdict, what to fix in which order."""

from __future__ import annotations

from collections import Counter

from gradproof.diagnosis.report import Report
from gradproof.diagnosis.words import count, framework_name
from gradproof.judge.verdict import Verdict
from gradproof.render.faults import roots
from gradproof.render.html.badges import verdict_badge
from gradproof.render.html.diagnostic import level_badge, number_badge, patch_block
from gradproof.render.html.markup import Html, join, prose, tag
from gradproof.render.html.source import Places, diagnostic_ids
from gradproof.render.sentence import unserved_text
from gradproof.render.summary_text import levels, verdict_line, zero_reason

MOST_NEXT = 9  # faults that are listed behind the first; the source has them all


def overview_section(report: Report, places: Places) -> Html:
    """Everything a colleague reads before deciding whether to read on."""
    return tag(
        "section",
        tag("p", _subject(report), class_="subject"),
        tag("h1", prose(_sentence_case(verdict_line(report)))),
        _counts(report),
        _first(report, places),
        _next(report, places),
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
    faults = roots(report)
    found = faults[0] if faults else zero_reason(report)
    if found is None:
        return None
    fix = found.fix
    number = number_badge(1) if len(faults) > 1 else None
    heading = "Fix this first" if faults else "Look at this first"
    return tag(
        "aside",
        tag("h2", heading),
        tag("p", number, level_badge(found), " ", tag("strong", prose(found.headline))),
        None if found.span is None else tag("p", places.link(found.span), class_="place"),
        None if fix is None else tag("p", prose(fix.text)),
        None if fix is None or not fix.patch else patch_block(fix.patch),
        None if fix is None or not fix.checked else tag("p", prose(fix.checked), class_="checked"),
        class_=f"first {found.severity}",
        aria_label=heading,
    )


def _next(report: Report, places: Places) -> Html | None:
    """The other faults by their headlines, numbered as in the source: what to look at when the first is fixed."""
    ids = diagnostic_ids(report)
    others = roots(report)[1:]
    if not others:
        return None
    items = [
        tag(
            "li",
            number_badge(k),
            level_badge(each),
            " ",
            tag("a", prose(each.headline), href=f"#{ids[each.says_the_same_as]}"),
            " ",
            None if each.span is None else places.link(each.span),
        )
        for k, each in enumerate(others[:MOST_NEXT], 2)
    ]
    left = len(others) - MOST_NEXT
    more = tag("p", f"and {left:,} more below", class_="faint") if left > 0 else None
    return tag("div", tag("h2", "Then"), tag("ul", *items), more, class_="next")


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
