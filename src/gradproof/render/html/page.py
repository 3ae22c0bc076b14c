"""The whole page: one file that needs nothing else and asks nobody for anything."""

from __future__ import annotations

import base64
import hashlib

from gradproof.diagnosis.report import Report
from gradproof.render.html.gradient import detail_section
from gradproof.render.html.markup import Html, join, tag
from gradproof.render.html.overview import overview_section
from gradproof.render.html.program import captured_programs, program_ids, program_section
from gradproof.render.html.resources import resource, script
from gradproof.render.html.source import places_of, source_section
from gradproof.render.html.table import table_section

_SECTIONS = {
    "overview": "Overview",
    "gradients": "Gradients",
    "source": "Source",
    "details": "Details",
    "program": "Program",
}


def page(report: Report) -> Html:
    """The document from its first character to its last."""
    places = places_of(report)
    programs = captured_programs(report)
    sections = [
        overview_section(report, places),
        table_section(report, places),
        source_section(report, places),
        detail_section(report, places, program_ids(programs)) if report.gradients else None,
        program_section(programs, places, report.sources),
    ]
    shown = dict(zip(_SECTIONS, sections))
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#main", class_="skip"),
        _header([key for key, section in shown.items() if section is not None]),
        tag("main", *sections, id="main", tabindex=-1),
        Html(f"<script>{script()}</script>"),
    )
    return Html(f"<!DOCTYPE html>\n{tag('html', _head(report), body, lang='en')}\n")


def _head(report: Report) -> Html:
    about = "gradients" if report.script is None else report.script.path
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"gradproof {report.version}"),
        tag("title", f"{about} · gradproof"),
        Html(f"<style>{resource('page.css')}</style>"),
    )


def _policy() -> str:
    """Nothing is loaded from anywhere, and of all scripts only ours runs, known by its hash.

    Should a name in a report ever slip through unescaped, the browser still refuses to run it.
    """
    digest = base64.b64encode(hashlib.sha256(script().encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _header(shown: list[str]) -> Html:
    links = [tag("a", _SECTIONS[key], href=f"#{key}") for key in shown]
    return tag(
        "header",
        tag("a", "gradproof", href="#overview", class_="brand"),
        tag("nav", join(links), aria_label="Sections"),
        tag("button", "Dark theme", type="button", id="theme", aria_pressed="false"),
    )
