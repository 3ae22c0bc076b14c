"""The table of all gradients: a row for each, gathered by call, with the executions of a call as columns."""

from __future__ import annotations

import os.path
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gradproof.diagnosis.report import GradientReport, Report
from gradproof.diagnosis.words import count, digits_text, gradient_name
from gradproof.render.executions import CallRows, Followed, calls, runs_text
from gradproof.render.faults import main_span, told_cause
from gradproof.render.html.badges import verdict_badge
from gradproof.render.html.markup import Html, join, path, tag
from gradproof.render.html.source import Places
from gradproof.render.sentence import name

FEW = 5  # rows below which there is nothing to look for
TALL = 14  # rows from which the table scrolls by itself and can be filtered


def table_section(report: Report, places: Places) -> Html:
    """The call with the gravest gradient first; sorted and filtered in place."""
    head = tag("h2", "Gradients", id="gradients-heading")
    if not report.gradients:
        empty = tag("p", "No gradient was computed.", class_="faint")
        return tag("section", head, empty, id="gradients", aria_labelledby="gradients-heading")
    found = calls(report)
    shown = _Shown(
        report,
        places,
        numbers={id(gradient): k for k, gradient in enumerate(report.gradients)},
        n_runs=max(len(call.runs) for call in found),
        n_calls=len(found),
        one_file=len({main_span(gradient).file for gradient in report.gradients}) == 1,
    )
    n_rows = sum(len(call.gradients) for call in found)
    tall = " tall" if n_rows >= TALL else ""
    return tag(
        "section",
        head,
        tag("div", *_controls(report), class_="control", hidden=n_rows < FEW),
        tag(
            "div",
            _table(found, shown),
            class_=f"scroll{tall}",
            tabindex=0 if tall or shown.n_runs > 1 else None,
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


@dataclass(frozen=True)
class _Shown:
    """What every row has to know. With one execution of every call, verdict and digits have a column each."""

    report: Report
    places: Places
    numbers: Mapping[int, int]
    n_runs: int
    n_calls: int
    one_file: bool

    def panel(self, gradient: GradientReport) -> str:
        return f"#g{self.numbers[id(gradient)]}"


def _table(found: Sequence[CallRows], shown: _Shown) -> Html:
    labels = ["gradient", *(("verdict", "digits") if shown.n_runs == 1 else ()), "cause", "line"]
    heads = [
        tag("th", tag("button", label, type="button"), scope="col", class_=f"col-{label}") for label in labels
    ]
    if shown.n_runs > 1:
        button = tag("button", "verdict and digits, by run", type="button")
        heads.append(tag("th", button, scope="colgroup", colspan=shown.n_runs, class_="col-runs"))
    return tag(
        "table",
        tag("caption", "Every gradient that was checked, by call, the gravest first", class_="hidden"),
        tag("thead", tag("tr", *heads)),
        *(_group(call, shown) for call in found),
        id="table",
        class_="by-run" if shown.n_runs > 1 else None,
        style=f"--runs:{shown.n_runs}" if shown.n_runs > 1 else None,
    )


def _group(call: CallRows, shown: _Shown) -> Html:
    needs_head = shown.n_runs > 1 or (shown.n_calls > 1 and len(call.gradients) > 1)
    rows = [_row(followed, call, shown) for followed in call.gradients]
    return tag("tbody", _head(call, shown) if needs_head else None, *rows)


def _head(call: CallRows, shown: _Shown) -> Html:
    words = "Call at ", shown.places.link(call.span)
    if shown.n_runs == 1:
        return tag("tr", tag("th", *words, scope="rowgroup", colspan=5), class_="call")
    runs = [tag("th", runs_text(runs), scope="col") for runs in call.runs]
    place = tag("th", *words, scope="rowgroup")
    return tag("tr", place, tag("td"), tag("td"), *runs, *_blank(call, shown), class_="call")


def _blank(call: CallRows, shown: _Shown) -> list[Html]:
    left = shown.n_runs - len(call.runs)
    return [tag("td", colspan=left)] if left else []


def _row(followed: Followed, call: CallRows, shown: _Shown) -> Html:
    gravest = followed.gravest
    span = main_span(gravest)
    file = os.path.basename(span.file)
    line = join([None if shown.one_file else tag("span", f"{file}:", class_="file"), str(span.line)])
    called = name(gravest) if len(call.runs) == 1 else gradient_name(gravest.target, gravest.source)
    cause = tag("td", told_cause(shown.report, gravest))
    key = f"{file}:{span.line:09d}"
    place = tag("td", shown.places.link(span, line), data_sort=key, data_label="line", title=str(span))
    if shown.n_runs == 1:
        cells = [*_apart(gravest), cause, place]
    else:
        cells = [cause, place, *_cells(followed, call, shown), *_blank(call, shown)]
    head = tag("th", tag("a", path(called), href=shown.panel(gravest)), scope="row")
    return tag("tr", head, *cells, data_verdicts=_verdicts(followed.by_run))


def _cells(followed: Followed, call: CallRows, shown: _Shown) -> Iterator[Html]:
    """A cell for each execution. What a row is sorted by stands in its first: the gravest of all."""
    gravest = followed.gravest
    for k, runs in enumerate(call.runs):
        key = f"{gravest.verdict.severity + 1 - min(_right(gravest), 1.0):.6f}" if k == 0 else None
        gradient = followed.at(runs)
        if gradient is None:
            yield tag("td", data_sort=key)
            continue
        badge = verdict_badge(gradient.verdict, gradient.intended)
        digits = tag("span", *_digits(gradient), class_="digits")
        link = tag("a", badge, href=shown.panel(gradient))
        yield tag("td", link, " ", digits, data_sort=key, data_label=runs_text(runs))


def _apart(gradient: GradientReport) -> tuple[Html, Html]:
    known = gradient.known_digits
    badge = verdict_badge(gradient.verdict, gradient.intended)
    key = "" if known is None else f"{_right(gradient):.6f}"
    return tag("td", badge, data_sort=gradient.verdict.severity), tag("td", *_digits(gradient), data_sort=key)


def _digits(gradient: GradientReport) -> tuple[Html | None, str]:
    known = gradient.known_digits
    if known is None:
        return None, ""
    lost = 1 - min(_right(gradient), 1.0) if known[1] > 0 else 0.0
    meter = tag("span", class_="meter", style=f"--lost:{lost:.3f}", aria_hidden="true")
    return meter, digits_text(*known).removesuffix(" digits")


def _right(gradient: GradientReport) -> float:
    """The part of the possible digits that is right; where it is not known, as if none were."""
    known = gradient.known_digits
    return 0.0 if known is None else known[0] / (known[1] or 1)


def _verdicts(by_run: Mapping[int, GradientReport]) -> str:
    """The verdict of every gradient that a row stands for, by which rows are found and counted."""
    return " ".join(str(gradient.verdict) for gradient in by_run.values())
