"""Deviations that the user has declared deliberate: by a comment at the line that is blamed, by a decorator, or by a
test that asserts a gradient to be None."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from gradproof.audit.draw import sharing_time
from gradproof.audit.expected_none import expects_none
from gradproof.audit.settings import unknown_kind
from gradproof.diagnosis.intent import is_declared
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.snippet import source_lines, with_sources

_MARK = re.compile(r"#\s*gradproof:\s*intended\b")
_IGNORE = re.compile(r"#\s*gradproof:\s*ignore\b(?:\[([^\]]*)\])?")


def finished(report: Report) -> Report:
    """The report with the text of its files, and the gradients marked that are meant to be as they are.

    A gradient is, if every fault of it stands at a line that says so.
    """
    report = with_sources(report)
    gradients = tuple(_marked(gradient, report.sources) for gradient in report.gradients)
    notes = (*report.notes, *_misspelt(report.sources))
    return sharing_time(replace(report, gradients=gradients, notes=notes))


def _misspelt(sources: Mapping[str, str]) -> Iterator[str]:
    """A comment that names no cause accepts nothing, and whoever wrote it should know."""
    for file, text in sources.items():
        for number, line in enumerate(text.split("\n"), 1):
            for found in _IGNORE.finditer(line):
                unknown = unknown_kind(_names(found))
                if unknown is not None:
                    yield f"{file}:{number} ignores {unknown}"


def _names(found: re.Match[str]) -> set[str]:
    """What a comment lists; nothing where it has no list, and ignores everything at its line."""
    return {name.strip() for name in (found[1] or "").split(",") if name.strip()}


def _marked(gradient: GradientReport, sources: Mapping[str, str]) -> GradientReport:
    if gradient.level == "note":
        return gradient
    if gradient.verdict is Verdict.MISSING and expects_none(
        gradient.call, sources.get(gradient.call.file, "")
    ):
        return replace(gradient, intended=True)
    # A fault without a known place is accepted at the call that suffered from it.
    blamed = [(d.span or gradient.call, d.kind) for d in gradient.diagnostics if d.rank > 0]
    blamed = blamed or [(gradient.call, str(gradient.verdict))]
    if all(_is_marked(span, {kind, str(gradient.verdict)}, sources) for span, kind in blamed):
        return replace(gradient, intended=True)
    return gradient


def _is_marked(span: Span, kinds: set[str], sources: Mapping[str, str]) -> bool:
    if is_declared(span):
        return True
    return any(
        _MARK.search(text) or _ignores(text, kinds)
        for text in source_lines(span.file, sources)[span.line - 1 : span.last_line]
    )


def _ignores(line: str, kinds: set[str]) -> bool:
    return any(found[1] is None or kinds & _names(found) for found in _IGNORE.finditer(line))
