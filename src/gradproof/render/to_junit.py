"""A report as JUnit XML, which build servers without SARIF read: one test case for each gradient."""

from __future__ import annotations

import re
from xml.etree import ElementTree as xml

from gradproof.diagnosis.report import GradientReport, Report, Script
from gradproof.diagnosis.words import printable
from gradproof.judge.verdict import Verdict
from gradproof.render.diagnostic_text import diagnostic_lines
from gradproof.render.faults import main_diagnostic
from gradproof.render.line import plain
from gradproof.render.sentence import name, sentence, unserved_text

WIDTH = 100
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def to_junit(report: Report) -> str:
    """A gradient with an error fails; one that was not decided, or is meant to be as it is, counts as skipped."""
    cases = [_case(gradient, report) for gradient in report.gradients]
    if report.script is not None and report.script.exception:
        cases.insert(0, _script_case(report.script, report))
    if report.script is not None and report.is_blind:
        case = _testcase("the gradients of the script can be seen", report.script.path)
        _outcome(case, "error", unserved_text(report.script), "", type="not-served")
        cases.append(case)
    suite = xml.Element(
        "testsuite",
        name="gradproof",
        tests=str(len(cases)),
        failures=_count(cases, "failure"),
        errors=_count(cases, "error"),
        skipped=_count(cases, "skipped"),
        time=f"{sum(report.timing.values()):.3f}",
    )
    suite.extend(cases)
    suites = xml.Element("testsuites")
    suites.append(suite)
    xml.indent(suites, " ")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{xml.tostring(suites, encoding="unicode")}\n'


def _case(gradient: GradientReport, report: Report) -> xml.Element:
    """`undefined` and `unverified` have no third state in JUnit: they are neither passed nor failed."""
    case = _testcase(f"{name(gradient)} at line {gradient.call.line}", gradient.call.file)
    main = main_diagnostic(gradient)
    if gradient.level == "error":
        said = sentence(gradient).replace("  ", " is ", 1) if main is None else main.headline
        kind = str(gradient.verdict) if main is None else main.kind
        _outcome(case, "failure", said, _text(gradient, report), type=kind)
    elif gradient.intended or gradient.verdict is not Verdict.CORRECT:
        said = sentence(gradient).replace("  ", " is ", 1)
        _outcome(case, "skipped", said, _text(gradient, report))
    elif gradient.diagnostics:
        xml.SubElement(case, "system-out").text = _valid(_text(gradient, report))
    return case


def _script_case(script: Script, report: Report) -> xml.Element:
    case = _testcase("the script runs to its end", script.path)
    crash = script.crash
    text = "" if crash is None else plain(diagnostic_lines(crash, report.sources, WIDTH))
    kind = (script.exception or "").split(":")[0]
    _outcome(case, "error", script.exception or "", text, type=kind)
    return case


def _testcase(called: str, file: str) -> xml.Element:
    return xml.Element("testcase", classname=_valid(printable(file)), name=_valid(printable(called)))


def _outcome(case: xml.Element, tag: str, said: str, text: str, **attributes: str) -> None:
    given = {key: _valid(printable(value)) for key, value in {"message": said, **attributes}.items()}
    xml.SubElement(case, tag, given).text = _valid(text) or None


def _text(gradient: GradientReport, report: Report) -> str:
    texts = [plain(diagnostic_lines(each, report.sources, WIDTH)) for each in gradient.diagnostics]
    return "\n".join([f"{sentence(gradient)}\n", *texts])


def _count(cases: list[xml.Element], tag: str) -> str:
    return str(sum(case.find(tag) is not None for case in cases))


def _valid(text: str) -> str:
    """Without the characters that XML cannot hold, not even as references."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
