"""SARIF: valid, at the right lines and columns, stable from run to run, and harmless."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic, Fix
from gradproof.diagnosis.report import Report, Script
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.to_sarif import FINGERPRINT, SCHEMA, to_log, to_sarif
from tests.render.reports import BY_VERDICT, RICH, gradient
from tests.render.sarif_shape import violations
from tests.render.snapshot import assert_snapshot

OFFICIAL = "GRADPROOF_SARIF_SCHEMA"
SOURCE = "import numpy as np\n\n\ndef f(x):\n    y = np.exp(x)\n    z = y - 1\n    return z * z\n"
PATCH = "@@ -4,4 +4,3 @@\n def f(x):\n-    y = np.exp(x)\n-    z = y - 1\n+    z = np.expm1(x)\n     return z * z\n"
PLACE = Span("a.py", 6, 4, 6, 13)
CRASHED = replace(
    RICH,
    script=Script(
        "train.py",
        "TypeError: no",
        1,
        Diagnostic(CRASH, "error", "measured", "`g` holds no gradient", Annotation(Span("train.py", 13))),
    ),
)
REPORTS = {**BY_VERDICT, "rich": RICH, "crashed": CRASHED, "empty": Report(())}


def fault(patch: str = "", span: Span = PLACE, headline: str = "a fault", **fields: Any) -> Diagnostic:
    return Diagnostic(
        "cancellation", "error", "proven", headline, Annotation(span), fix=Fix("mend it", patch), **fields
    )


def report_of(*diagnostics: Diagnostic, source: str = SOURCE, **fields: Any) -> Report:
    return Report(
        (gradient(Verdict.WRONG, diagnostics=diagnostics, **fields),),
        sources={each.span.file: source for each in diagnostics if each.span},
    )


def results(report: Report) -> list[dict[str, Any]]:
    found = to_log(report)["runs"][0]["results"]
    assert isinstance(found, list)
    return found


def region(result: dict[str, Any]) -> dict[str, Any]:
    found = result["locations"][0]["physicalLocation"]["region"]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", REPORTS)
def test_a_log_has_the_shape_that_sarif_prescribes(name: str) -> None:
    assert list(violations(json.loads(to_sarif(REPORTS[name])))) == []


@pytest.mark.skipif(OFFICIAL not in os.environ, reason=f"{OFFICIAL} names no copy of {SCHEMA}")
@pytest.mark.parametrize("name", REPORTS)
def test_a_log_obeys_the_official_schema(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(Path(os.environ[OFFICIAL]).read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    validator = kind(schema, format_checker=kind.FORMAT_CHECKER)
    assert [error.message for error in validator.iter_errors(json.loads(to_sarif(REPORTS[name])))] == []


@pytest.mark.parametrize("name", BY_VERDICT)
def test_a_log_of_each_verdict_reads_as_expected(name: str) -> None:
    assert_snapshot(f"{name}.sarif", _log_text(BY_VERDICT[name]))


def test_a_rich_log_reads_as_expected() -> None:
    assert_snapshot("rich.sarif", _log_text(RICH))


def _log_text(report: Report) -> str:
    """Without the pages of the causes, which have tests of their own."""
    log = to_log(report)
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        for page in ("help", "fullDescription"):
            rule.pop(page, None)
    return json.dumps(log, indent=1) + "\n"


def test_every_fault_is_one_result_and_so_is_a_verdict_without_a_cause() -> None:
    kinds = [result["ruleId"] for result in results(RICH)]
    assert kinds == [
        "cancellation",
        "custom-gradient",
        "not-watched",
        "masked-branch",
        "kink",
        "unverified",
        "vanishing",
        "wrong",
    ]
    unverified = results(RICH)[5]
    assert unverified["level"] == "warning"
    assert "d loss / d x is unverified" in unverified["message"]["text"]
    assert "likewise d loss / d b" in unverified["message"]["text"]


def test_a_correct_gradient_without_remarks_is_no_result() -> None:
    assert results(BY_VERDICT["correct"]) == []


def test_the_crash_comes_first() -> None:
    first = results(CRASHED)[0]
    assert (first["ruleId"], first["level"], region(first)["startLine"]) == ("crash", "error", 13)


def test_columns_count_characters_from_1_and_the_end_is_the_first_one_beyond() -> None:
    source = "größe = f(x) + g(y)\n"
    start, end = len("größe = ".encode()), len("größe = f(x)".encode())
    [result] = results(report_of(fault(span=Span("a.py", 1, start, 1, end)), source=source))
    assert region(result) == {"startLine": 1, "startColumn": 9, "endColumn": 13}
    [result] = results(report_of(fault(span=Span("a.py", 5, 8, 6, 5))))
    assert region(result) == {"startLine": 5, "endLine": 6, "startColumn": 9, "endColumn": 6}


def test_without_the_source_a_place_is_whole_lines() -> None:
    [result] = results(replace(report_of(fault()), sources={}))
    assert region(result) == {"startLine": 6}


def test_a_place_without_a_line_has_no_region() -> None:
    [result] = results(Report((gradient(Verdict.WRONG, call=Span("<unknown>", 0)),)))
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "%3Cunknown%3E", "uriBaseId": "%SRCROOT%"},
            }
        }
    ]


@pytest.mark.parametrize(
    ("file", "written"),
    [
        ("src/my model.py", {"uri": "src/my%20model.py", "uriBaseId": "%SRCROOT%"}),
        ("a#b?c%d:e.py", {"uri": "a%23b%3Fc%25d%3Ae.py", "uriBaseId": "%SRCROOT%"}),
        ("größe.py", {"uri": "gr%C3%B6%C3%9Fe.py", "uriBaseId": "%SRCROOT%"}),
        ("/home/me/a b.py", {"uri": "file:///home/me/a%20b.py"}),
        ("C:\\me\\a b.py", {"uri": "file:///C:/me/a%20b.py"}),
        ("\ud800.py", {"uri": "%ED%A0%80.py", "uriBaseId": "%SRCROOT%"}),
    ],
)
def test_files_are_uris(file: str, written: dict[str, str]) -> None:
    report = report_of(fault(span=Span(file, 6)))
    [result] = results(report)
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == written
    assert list(violations(json.loads(to_sarif(report)))) == []


def test_what_contributed_is_related() -> None:
    [result] = results(report_of(fault(secondary=(Annotation(Span("a.py", 5), "rounded here"),))))
    [related] = result["relatedLocations"]
    assert related["physicalLocation"]["region"] == {"startLine": 5}
    assert related["message"] == {"text": "rounded here"}


def applied(source: str, change: dict[str, Any]) -> str:
    """What a reader of the log makes of a source with its replacements."""
    lines = source.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:k]) for k in range(len(lines))]
    for each in sorted(change["replacements"], key=lambda each: -each["deletedRegion"]["startLine"]):
        deleted = each["deletedRegion"]
        start = starts[deleted["startLine"] - 1] + deleted["startColumn"] - 1
        end = starts[deleted["endLine"] - 1] + deleted["endColumn"] - 1
        source = source[:start] + each["insertedContent"]["text"] + source[end:]
    return source


@pytest.mark.parametrize(
    ("source", "patch", "mended"),
    [
        (SOURCE, PATCH, SOURCE.replace("y = np.exp(x)\n    z = y - 1", "z = np.expm1(x)")),
        ("a\nb\n", "@@ -1,0 +2 @@\n+new\n", "a\nnew\nb\n"),
        ("a\nb\n", "@@ -2,0 +3 @@\n+new\n", "a\nb\nnew\n"),
        ("a\nb", "@@ -2 +2 @@\n-b\n+c\n", "a\nc"),
        ("a\nb", "@@ -2,0 +3 @@\n+new\n", "a\nb\nnew"),
        ("a\nb\nc\n", "-b\n", "a\nc\n"),
    ],
)
def test_a_patch_is_replacements_that_mend_the_source(source: str, patch: str, mended: str) -> None:
    [result] = results(report_of(fault(patch, span=Span("a.py", 1)), source=source))
    [[change]] = [each["artifactChanges"] for each in result["fixes"]]
    assert change["artifactLocation"]["uri"] == "a.py"
    assert applied(source, change) == mended


def test_only_the_lines_that_change_are_replaced() -> None:
    [result] = results(report_of(fault(PATCH)))
    [replacement] = result["fixes"][0]["artifactChanges"][0]["replacements"]
    assert replacement["deletedRegion"] == {"startLine": 5, "startColumn": 1, "endLine": 7, "endColumn": 1}


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "@@ -4 +4 @@\n-def g(x):\n+def h(x):\n",
        "@@ -99,0 +100 @@\n+z\n",
        "@@ -0,1 +1 @@\n-\n+z\n",
        "-gone\n",
    ],
)
def test_a_patch_that_does_not_fit_the_source_is_left_out(patch: str) -> None:
    [result] = results(report_of(fault(patch)))
    assert "fixes" not in result


def test_intended_deviations_are_suppressed_and_others_are_not() -> None:
    assert [len(result.get("suppressions", [])) for result in results(RICH)] == [0] * 7 + [1]
    meant, unmeant = report_of(fault(), intended=True), report_of(fault())
    assert results(meant)[0]["suppressions"][0]["kind"] == "inSource"
    both = replace(meant, gradients=meant.gradients + unmeant.gradients)
    assert "suppressions" not in results(both)[0]


def fingerprints(report: Report) -> list[str]:
    return [result["partialFingerprints"][FINGERPRINT] for result in results(report)]


def test_a_fault_is_known_again_when_lines_above_it_move_and_numbers_change() -> None:
    before = fingerprints(report_of(fault()))
    moved = fault(span=Span("a.py", 8, 4, 8, 13), headline="a fault of 7 digits")
    assert fingerprints(report_of(moved, source="# new\n\n" + SOURCE)) == before
    assert fingerprints(report_of(fault(), source=SOURCE.replace("y - 1", "y - 2"))) != before


def test_equal_lines_have_fingerprints_of_their_own() -> None:
    twice = [fault(span=Span("a.py", line, 4, line, 13)) for line in (1, 2)]
    found = fingerprints(report_of(*twice, source="z = y - 1\nz = y - 1\n"))
    assert len(set(found)) == 2


def test_rules_explain_the_causes_that_were_found() -> None:
    rules = to_log(RICH)["runs"][0]["tool"]["driver"]["rules"]
    assert [rules[result["ruleIndex"]]["id"] for result in results(RICH)] == [
        result["ruleId"] for result in results(RICH)
    ]
    [rule] = [rule for rule in rules if rule["id"] == "masked-branch"]
    assert rule["shortDescription"]["text"] == "A branch that was not selected sends NaN into the gradient."
    assert "Stays silent when" in rule["help"]["text"]
    assert "```python" in rule["help"]["markdown"]
    assert rule["defaultConfiguration"] == {"level": "error"}


def test_a_kind_that_this_gradproof_does_not_know_has_a_plain_rule() -> None:
    log = to_log(report_of(replace(fault(), kind="future-cause")))
    [rule] = log["runs"][0]["tool"]["driver"]["rules"]
    assert (rule["id"], rule["name"]) == ("future-cause", "FutureCause")


def test_names_make_no_links_no_placeholders_and_no_control_characters() -> None:
    [result] = results(report_of(fault(headline="[click](http://evil) {0} \x1b[2J\u202e")))
    text = result["message"]["text"]
    assert "](" not in text
    assert "{{0}}" in text
    assert not {"\x1b", "\u202e"} & set(text)


def test_what_concerns_the_whole_run_is_told_beside_the_results() -> None:
    told = to_log(RICH)["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [each["level"] for each in told] == ["warning", "note", "note"]
    assert told[0]["message"]["text"] == "the script ended with ValueError: no more data"
