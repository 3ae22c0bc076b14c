"""The diff of all fixes: it applies to the sources, and says nothing it cannot place."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.report import GradientReport, Report, Script
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.to_diff import count_fixes, to_diff

SOURCE = "import numpy as np\n\n\ndef f(x):\n    y = np.exp(x)\n    z = y - 1\n    return z * z\n"
NUMBERED = "--- a.py\n+++ a.py\n@@ -5,2 +5 @@\n-    y = np.exp(x)\n-    z = y - 1\n+    z = np.expm1(x)\n"
UNNUMBERED = " def f(x):\n+    tape.watch(x)\n     y = np.exp(x)\n"


def _report(*patches: str, source: str = SOURCE) -> Report:
    gradients = tuple(
        GradientReport(
            call=Span("a.py", 9),
            framework="numpy",
            target="y",
            source="x",
            shape=(),
            dtype="float64",
            verdict=Verdict.INACCURATE,
            diagnostics=(
                Diagnostic(
                    "cancellation",
                    "error",
                    "proven",
                    "a fault",
                    Annotation(Span("a.py", 6)),
                    fix=Fix("mend it", patch),
                ),
            ),
        )
        for patch in patches
    )
    return Report(gradients, sources={"a.py": source})


def _added(diff: str) -> list[str]:
    return [
        line[1:].strip() for line in diff.splitlines() if line.startswith("+") and not line.startswith("+++")
    ]


def test_a_patch_becomes_a_diff_with_context() -> None:
    diff = to_diff(_report(NUMBERED))
    told, changes = diff.split("--- a/a.py\n")
    assert changes.startswith("+++ b/a.py\n@@ -2,6 +2,5 @@\n")
    assert told.splitlines() == [
        "# a.py:6 (cancellation): mend it",
        "#   not checked: the program with this change was not run",
    ]
    assert _added(diff) == ["z = np.expm1(x)"]


def test_a_patch_without_line_numbers_is_placed_by_its_lines() -> None:
    assert _added(to_diff(_report(UNNUMBERED))) == ["tape.watch(x)"]


def test_lines_that_occur_twice_place_nothing() -> None:
    assert to_diff(_report(UNNUMBERED, source=SOURCE + SOURCE)) == ""


def test_of_two_changes_of_the_same_lines_the_first_counts() -> None:
    assert _added(to_diff(_report(NUMBERED, NUMBERED.replace("expm1", "other")))) == ["z = np.expm1(x)"]


def test_a_file_that_is_not_the_one_that_ran_is_left_alone() -> None:
    assert to_diff(_report(NUMBERED, source=SOURCE.replace("y - 1", "y - 2"))) == ""


def test_without_patches_the_diff_is_empty() -> None:
    assert to_diff(_report("")) == ""


def test_what_is_declared_intended_is_not_patched() -> None:
    report = _report(NUMBERED)
    meant = replace(report, gradients=tuple(replace(one, intended=True) for one in report.gradients))
    assert to_diff(report)
    assert to_diff(meant) == ""


def test_what_a_patch_changes_stands_ahead_of_it() -> None:
    (gradient,) = _report(NUMBERED).gradients
    (diagnostic,) = gradient.diagnostics
    assert diagnostic.fix is not None
    fix = replace(diagnostic.fix, changes_meaning="a root of 0 becomes 0.001", checked="it was run")
    meant = replace(gradient, diagnostics=(replace(diagnostic, fix=fix),))
    diff = to_diff(replace(_report(NUMBERED), gradients=(meant,)))
    assert diff.splitlines()[1] == "#   changes: a root of 0 becomes 0.001"
    assert "not checked" not in diff


def test_a_fix_of_what_ended_the_program_is_written_too() -> None:
    report = _report(NUMBERED)
    crash = replace(report.gradients[0].diagnostics[0], kind="crash")
    crashed = Report((), sources=report.sources, script=Script("a.py", "RuntimeError: no", 1, crash))
    assert _added(to_diff(crashed)) == ["z = np.expm1(x)"]
    assert (count_fixes(crashed), count_fixes(report), count_fixes(_report(""))) == (1, 1, 0)
    assert count_fixes(_report(NUMBERED, NUMBERED)) == 1


HOSTILE = "x.py\n--- a/other.py\n+++ b/other.py\n@@ -1 +1 @@\n-old\n+new\r\x1b\u202e\u200f\x85\u2028.py"


def _renamed(report: Report, file: str) -> Report:
    gradients = []
    for gradient in report.gradients:
        (diagnostic,) = gradient.diagnostics
        moved = replace(diagnostic, primary=Annotation(Span(file, 6)))
        gradients.append(replace(gradient, diagnostics=(moved,)))
    return replace(report, gradients=tuple(gradients), sources={file: SOURCE})


def test_the_name_of_a_file_brings_no_lines_of_its_own() -> None:
    plain, hostile = to_diff(_report(NUMBERED)), to_diff(_renamed(_report(NUMBERED), HOSTILE))
    assert len(hostile.split("\n")) == len(plain.split("\n"))
    heads = [line for line in hostile.split("\n") if line.startswith(("---", "+++", "@@"))]
    assert [head[:6] for head in heads] == ['--- "a', '+++ "b', "@@ -2,"]
    assert not {"\r", "\x1b", "\u202e", "\u200f", "\x85", "\u2028"} & set(hostile)


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
@pytest.mark.parametrize(
    "file", ["with blank.py", 'quo"te\\.py', "line\nbreak.py", "größe.py", "tab\t.py", "\udcff.py"]
)
def test_a_file_with_an_odd_name_is_patched(file: str, tmp_path: Path) -> None:
    (tmp_path / file).write_text(SOURCE)
    diff = to_diff(_renamed(_report(NUMBERED), file))
    done = subprocess.run(
        ["patch", "-p1"], cwd=tmp_path, input=diff.encode(), capture_output=True, timeout=30
    )
    assert done.returncode == 0, done.stdout
    assert "np.expm1" in (tmp_path / file).read_text()


def test_a_form_feed_ends_no_line() -> None:
    source = SOURCE.replace("\n\n\ndef", "\n\x0c\n\ndef")
    diff = to_diff(_report(NUMBERED, source=source))
    assert _added(diff) == ["z = np.expm1(x)"]
    assert "\n \x0c\n" in diff


def test_lines_that_only_surround_a_change_are_free_for_another() -> None:
    """As for a tape that is made persistent and is told to watch a constant: the second is placed by the first."""
    other = "@@ -4 +4 @@\n-def f(x):\n+def f(x, axis=0):\n"
    report = _report(other, UNNUMBERED)
    assert _added(to_diff(report)) == ["def f(x, axis=0):", "tape.watch(x)"]
    assert count_fixes(report) == 2
    assert count_fixes(_report(NUMBERED, "@@ -6 +6 @@\n-    z = y - 1\n+    z = y - 2\n")) == 1
