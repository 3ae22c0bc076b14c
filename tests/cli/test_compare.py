"""`gradproof compare`: what changed between two audits, the worst first, and an exit status for CI."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gradproof.cli.main import main
from gradproof.diagnosis.changes import Change, changes
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.to_json import to_json

GOOD = GradientReport(
    Span("train.py", 12),
    "numpy",
    "loss",
    "w",
    (),
    "float64",
    Verdict.CORRECT,
    digits=15.0,
    digits_possible=15.9,
)


def _kinds(before: list[GradientReport], after: list[GradientReport]) -> list[str]:
    return [change.kind for change in changes(Report(tuple(before)), Report(tuple(after)))]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        (GOOD, GOOD, "same"),
        (GOOD, replace(GOOD, digits=14.5), "same"),
        (GOOD, replace(GOOD, digits=13.0), "worse"),
        (replace(GOOD, digits=13.0), GOOD, "better"),
        (GOOD, replace(GOOD, verdict=Verdict.WRONG, digits=0.0), "worse"),
        (GOOD, replace(GOOD, verdict=Verdict.UNVERIFIED, digits=None), "worse"),
        (replace(GOOD, verdict=Verdict.NONFINITE, digits=None), GOOD, "fixed"),
        (replace(GOOD, verdict=Verdict.WRONG), replace(GOOD, verdict=Verdict.INACCURATE), "better"),
        (replace(GOOD, verdict=Verdict.WRONG), replace(GOOD, verdict=Verdict.UNVERIFIED), "better"),
    ],
)
def test_two_verdicts_of_one_gradient(before: GradientReport, after: GradientReport, kind: str) -> None:
    assert Change(before, after).kind == kind


def test_gradients_are_matched_by_name_and_not_by_line() -> None:
    moved = replace(GOOD, call=Span("train.py", 40))
    assert _kinds([GOOD], [moved]) == ["same"]
    assert _kinds([GOOD], [replace(moved, source="b")]) == ["new", "gone"]
    faulty = replace(GOOD, source="b", verdict=Verdict.MISSING)
    assert _kinds([GOOD], [GOOD, faulty]) == ["new fault", "same"]


def test_of_several_of_one_name_those_at_the_same_line_belong_together() -> None:
    late = replace(GOOD, call=Span("train.py", 20), digits=3.0, verdict=Verdict.INACCURATE)
    assert _kinds([GOOD, late], [late, GOOD]) == ["same", "same"]
    assert _kinds([GOOD, late], [late]) == ["gone", "same"]


def test_the_command_says_what_is_worse_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, after = tmp_path / "before.json", tmp_path / "after.json"
    wrong = replace(GOOD, verdict=Verdict.WRONG, digits=0.0)
    before.write_text(to_json(Report((GOOD, replace(wrong, source="b")))))
    after.write_text(to_json(Report((wrong, replace(GOOD, source="b")))))
    assert main(["compare", str(before), str(after)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "worse     train.py:12: d loss / d w: correct, 15.0 of 15.9 digits, then wrong, 0.0 of 15.9 digits",
        "fixed     train.py:12: d loss / d b: wrong, 0.0 of 15.9 digits, then correct, 15.0 of 15.9 digits",
        "",
        "gradproof: 2 gradients compared: 1 worse and 1 fixed",
    ]
    assert main(["compare", str(before), str(before)]) == 0
    assert capsys.readouterr().out == "gradproof: 2 gradients compared: 2 the same\n"


def test_a_report_that_cannot_be_read_is_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "no.json"
    assert main(["compare", str(path), str(path)]) == 2
    assert "cannot be read" in capsys.readouterr().err
