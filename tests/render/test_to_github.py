"""What GitHub Actions is told: commands it reads as meant, a summary that shows what was found, nothing forged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.report import Report
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.to_github import MOST_FAULTS, MOST_ROWS, to_annotations, to_summary
from tests.render.reports import BY_VERDICT, RICH, gradient
from tests.render.snapshot import assert_snapshot


@pytest.mark.parametrize("name", [*BY_VERDICT, "rich"])
def test_what_github_is_told_reads_as_expected(name: str) -> None:
    report = {**BY_VERDICT, "rich": RICH}[name]
    assert_snapshot(f"{name}.github.md", f"{to_annotations(report)}\n{to_summary(report)}")


def fault(headline: str = "a fault", span: Span | None = None) -> Diagnostic:
    place = None if span is None else Annotation(span)
    return Diagnostic("kink", "error", "proven", headline, place)


def report_of(*diagnostics: Diagnostic) -> Report:
    return Report(
        (gradient(Verdict.WRONG, diagnostics=diagnostics),), sources={"a.py": "größe = f(x)\ny = g(\nz)\n"}
    )


def test_a_command_has_the_place_with_line_and_column_from_1() -> None:
    start = len("größe = ".encode())
    assert to_annotations(report_of(fault(span=Span("a.py", 1, start, 1, start + 4)))) == (
        "::error file=a.py,line=1,col=9,title=gradproof%3A kink::a fault.\n"
    )


def test_a_place_of_several_lines_has_no_column() -> None:
    assert "file=a.py,line=2,endLine=3,title" in to_annotations(
        report_of(fault(span=Span("a.py", 2, 4, 3, 2)))
    )


def test_a_fault_without_a_line_is_told_without_a_place() -> None:
    report = Report((gradient(Verdict.WRONG, call=Span("<unknown>", 0)),))
    assert to_annotations(report).startswith("::error title=gradproof%3A wrong::d loss / d x is wrong")


def test_files_get_their_path_in_the_repository() -> None:
    report = report_of(fault(span=Span("a.py", 1)))
    assert "file=models/a.py," in to_annotations(report, lambda file: f"models/{file}")


def test_no_name_ends_a_command_or_begins_another() -> None:
    file = "a,b:c%\n::error::x.py"
    [command, *others] = to_annotations(
        report_of(fault("50 % off\n::error::forged", Span(file, 1)))
    ).splitlines()
    assert others == []
    properties, _, message = command.removeprefix("::error ").partition("::")
    assert properties == "file=a%2Cb%3Ac%25 %3A%3Aerror%3A%3Ax.py,line=1,title=gradproof%3A kink"
    assert message == "50 %25 off ::error::forged."


def test_paragraphs_stay_apart() -> None:
    mended = replace(fault(span=Span("a.py", 1)), why="Because.", fix=Fix("mend it"))
    assert "a fault.%0ABecause.%0Afix: mend it%0Anot checked: " in to_annotations(report_of(mended))


def test_what_is_intended_or_a_note_is_not_annotated() -> None:
    meant = Report((gradient(Verdict.WRONG, intended=True, diagnostics=(fault(),)),))
    note = report_of(replace(fault(), severity="note"))
    assert to_annotations(meant) == ""
    assert "kink" not in to_annotations(note)


def test_many_errors_leave_room_for_the_warnings() -> None:
    errors = [fault(f"error {k}") for k in range(30)]
    warnings = [replace(fault(f"warning {k}"), severity="warning") for k in range(30)]
    commands = to_annotations(report_of(*errors, *warnings)).splitlines()
    assert [sum(each.startswith(f"::{level}") for each in commands) for level in ("error", "warning")] == [
        10,
        10,
    ]


def test_markup_in_names_is_text_in_the_summary() -> None:
    hostile = gradient(
        Verdict.WRONG, source="</details>|`x`|<img src=x>", diagnostics=(fault("<b>`</summary>"),)
    )
    summary = to_summary(Report((hostile,)))
    assert "<img" not in summary.replace("\\<", "")
    assert "|`x`|" not in summary
    assert "error[kink]: &lt;b&gt;`&lt;/summary&gt;" in summary


def test_a_diagnostic_cannot_end_the_block_it_stands_in() -> None:
    summary = to_summary(report_of(replace(fault(), why="```` </details>")))
    assert summary.count("`````") == 2


def test_many_gradients_and_faults_are_counted() -> None:
    faults = [fault(f"fault {k}") for k in range(MOST_FAULTS + 3)]
    rows = tuple(
        gradient(Verdict.WRONG, source=f"w{k}", diagnostics=tuple(faults)) for k in range(MOST_ROWS + 7)
    )
    summary = to_summary(Report(rows))
    assert "and 7 more gradients" in summary
    assert "and 3 more faults" in summary


def test_a_summary_stays_below_what_github_accepts() -> None:
    faults = tuple(replace(fault(f"{k}" * 100), why="x " * 100_000) for k in range(50))
    rows = tuple(gradient(Verdict.WRONG, source="s" * 10_000, diagnostics=faults) for _ in range(100))
    assert len(to_summary(Report(rows)).encode()) < 1 << 20
