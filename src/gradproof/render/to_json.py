"""A report in the stable machine format, version 1: fields may be added, never changed."""

from __future__ import annotations

import json

from gradproof.diagnosis.report import Report
from gradproof.render.codec import JSON, WritingState
from gradproof.render.report_format import PROGRAMS, REPORT


def to_json(report: Report, *, full: bool = False) -> str:
    """The report as JSON; with `full`, arrays of any size entry by entry."""
    return json.dumps(to_document(report, full=full), indent=1, allow_nan=False, ensure_ascii=False) + "\n"


def to_document(report: Report, *, full: bool = False) -> dict[str, JSON]:
    """The report as the object that `to_json` writes."""
    writing = WritingState(full)
    document = REPORT.write(report, writing)
    return {**document, "programs": PROGRAMS.write(writing.tables.get("programs", ()), writing)}
