"""Deviations that the user has declared deliberate: by a comment at the line that is blamed, or by a decorator."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from gradproof.audit.draw import sharing_time
from gradproof.diagnosis.intent import is_declared
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.ir.span import Span
from gradproof.render.snippet import source_lines, with_sources

_MARK = re.compile(r"#\s*gradproof:\s*intended\b")


def finished(report: Report) -> Report:
    """The report with the text of its files, and the gradients marked that are meant to be as they are.

    A gradient is, if every fault of it stands at a line that says so.
    """
    report = with_sources(report)
    return sharing_time(
        replace(report, gradients=tuple(_marked(g, report.sources) for g in report.gradients))
    )


def _marked(gradient: GradientReport, sources: Mapping[str, str]) -> GradientReport:
    if gradient.level == "note":
        return gradient
    # A fault without a known place is accepted at the call that suffered from it.
    blamed = [d.span or gradient.call for d in gradient.diagnostics if d.rank > 0] or [gradient.call]
    if all(_is_marked(span, sources) for span in blamed):
        return replace(gradient, intended=True)
    return gradient


def _is_marked(span: Span, sources: Mapping[str, str]) -> bool:
    if is_declared(span):
        return True
    lines = source_lines(span.file, sources)
    return any(_MARK.search(text) for text in lines[span.line - 1 : span.last_line])
