"""JUnit: one test case for each gradient, failing where it is wrong, and XML whatever the names are."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree as xml

import pytest

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic
from gradproof.diagnosis.report import Report, Script
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.to_junit import to_junit
from tests.render.reports import BY_VERDICT, RICH, gradient
from tests.render.snapshot import assert_snapshot

OUTCOMES = {
    "correct": None,
    "inaccurate": "failure",
    "wrong": "failure",
    "missing": "failure",
    "nonfinite": "failure",
    "undefined": "skipped",
    "unverified": "skipped",
}


def cases(report: Report) -> list[xml.Element]:
    return xml.fromstring(to_junit(report).encode()).findall("testsuite/testcase")


@pytest.mark.parametrize("name", [*BY_VERDICT, "rich"])
def test_a_report_reads_as_expected(name: str) -> None:
    assert_snapshot(f"{name}.junit.xml", to_junit({**BY_VERDICT, "rich": RICH}[name]))


@pytest.mark.parametrize("verdict", BY_VERDICT)
def test_each_verdict_has_its_outcome(verdict: str) -> None:
    [case] = cases(BY_VERDICT[verdict])
    assert [child.tag for child in case] == ([OUTCOMES[verdict]] if OUTCOMES[verdict] else [])


def test_the_counts_are_those_of_the_cases() -> None:
    suite = xml.fromstring(to_junit(RICH).encode())[0]
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert int(suite.attrib[attribute]) == len(suite.findall(f"testcase/{tag}"))
    assert suite.attrib["tests"] == str(len(RICH.gradients) + 1)
    assert suite.attrib["time"] == "1.750"


def test_a_failure_shows_the_diagnosis() -> None:
    [case] = cases(BY_VERDICT["inaccurate"])
    [failure] = case
    assert failure.attrib["type"] == "cancellation"
    assert failure.attrib["message"].startswith("a subtraction leaves 0 of 7 correct digits")
    assert "computed 0, proven 1" in (failure.text or "")


def test_an_error_of_a_correct_gradient_is_a_failure_and_a_note_is_not() -> None:
    note = Diagnostic("vanishing", "note", "measured", "small")
    [failing] = cases(Report((gradient(Verdict.CORRECT, diagnostics=(replace(note, severity="error"),)),)))
    [passing] = cases(Report((gradient(Verdict.CORRECT, diagnostics=(note,)),)))
    assert [child.tag for child in failing] == ["failure"]
    assert [child.tag for child in passing] == ["system-out"]


def test_a_correct_gradient_that_the_user_has_marked_is_not_counted_as_passed() -> None:
    [case] = cases(Report((gradient(Verdict.CORRECT, digits=7.0, intended=True),)))
    assert [child.tag for child in case] == ["skipped"]


def test_a_program_that_ended_early_is_an_error_of_its_own() -> None:
    crash = Diagnostic(CRASH, "error", "measured", "`g` holds no gradient", Annotation(Span("a.py", 3)))
    [case] = cases(Report((), script=Script("a.py", "TypeError: no", 1, crash)))
    [error] = case
    assert (error.tag, error.attrib["type"], error.attrib["message"]) == (
        "error",
        "TypeError",
        "TypeError: no",
    )
    assert "`g` holds no gradient" in (error.text or "")


def test_no_name_breaks_the_document() -> None:
    hostile = '<&>"]]>\x00\x1b[2J\ud800\uffff\u202e'
    fault = Diagnostic(
        hostile, "error", "proven", hostile, Annotation(Span(hostile, 1), hostile), why=hostile
    )
    row = gradient(Verdict.WRONG, source=hostile, diagnostics=(fault,), call=Span(hostile, 1))
    [case, other] = cases(Report((row,), script=Script(hostile, hostile, 1, fault)))
    assert '<&>"]]>' in other.attrib["name"]
    assert case.find("error") is not None
