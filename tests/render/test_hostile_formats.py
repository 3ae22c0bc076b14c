"""Forged reports in the formats for machines: whatever is read is written as a valid document."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as xml

import pytest

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic, Fix
from gradproof.diagnosis.report import Script
from gradproof.errors import UnreadableReport
from gradproof.ir.span import Span
from gradproof.render.from_json import from_document
from gradproof.render.to_diff import to_diff
from gradproof.render.to_github import to_annotations, to_summary
from gradproof.render.to_json import to_json
from gradproof.render.to_junit import to_junit
from gradproof.render.to_sarif import to_log
from tests.nightly import SMALL_AND_LARGE
from tests.render.reports import RICH
from tests.render.sarif_shape import violations
from tests.render.test_hostile import forgeries, replaced

CRASH_OF_A_SCRIPT = Diagnostic(
    CRASH,
    "error",
    "likely",
    "it ended",
    Annotation(Span("train.py", 2, 0, 2, 3)),
    fix=Fix("mend it", "- a\n+ b\n"),
)


@pytest.mark.parametrize("is_large", SMALL_AND_LARGE)
def test_whatever_is_put_in_whatever_place_is_refused_or_written_as_a_valid_document(is_large: bool) -> None:
    # A few gradients have every field; more of them would only take longer.
    report = replace(
        RICH, gradients=RICH.gradients[1:4], script=Script("train.py", "E: x", 1, CRASH_OF_A_SCRIPT)
    )
    original = json.loads(to_json(report))
    n_written = 0
    for path, intruder in forgeries(original, is_large):
        try:
            read = from_document(replaced(original, path, intruder))
        except UnreadableReport:
            continue
        assert list(violations(json.loads(json.dumps(to_log(read))))) == [], (path, intruder)
        xml.fromstring(to_junit(read).encode())
        commands, summary = to_annotations(read), to_summary(read)
        assert all(line.startswith("::") for line in commands.splitlines()), (path, intruder)
        assert not {"\x1b", "\u202e"} & set(commands + summary), (path, intruder)
        to_diff(read)
        n_written += 1
    assert n_written > 300
