"""Text reports: exact output for every verdict, and what holds at every width."""

import re

import numpy as np
import pytest

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic
from gradproof.diagnosis.report import BudgetLine, Report, Script, Unchecked
from gradproof.diagnosis.words import columns
from gradproof.ir.span import Span
from gradproof.judge.unknown import NO_NUMBER_GIVEN
from gradproof.judge.verdict import Verdict
from gradproof.render.budget_text import bar
from gradproof.render.line import cut, cut_middle
from gradproof.render.to_text import Detail, to_text
from tests.render.reports import BY_VERDICT, CORRECT, RICH, UNVERIFIED, gradient
from tests.render.samples import CANCELLATION, MASKED_BRANCH, NOT_WATCHED
from tests.render.snapshot import assert_snapshot


@pytest.mark.parametrize("verdict", BY_VERDICT)
def test_a_report_of_each_verdict_reads_as_expected(verdict: str) -> None:
    report = BY_VERDICT[verdict]
    texts = [to_text(report, detail=detail) for detail in ("normal", "verbose", "concise", "quiet")]
    assert_snapshot(f"{verdict}.txt", f"{'=' * 60}\n".join(texts))


@pytest.mark.parametrize("detail", ["normal", "verbose", "concise", "quiet"])
def test_a_rich_report_reads_as_expected(detail: Detail) -> None:
    assert_snapshot(f"rich_{detail}.txt", to_text(RICH, detail=detail))


@pytest.mark.parametrize("width", range(60, 201, 7))
@pytest.mark.parametrize("detail", ["normal", "verbose"])
def test_no_line_is_wider_than_the_screen_but_code_to_copy_and_the_last(width: int, detail: Detail) -> None:
    *lines, _ = to_text(RICH, width=width, detail=detail).splitlines()
    wide = [each for each in lines if columns(each) > width and not re.match(r"     [-+ ] ", each)]
    assert wide == []


def test_widths_beyond_the_limits_are_those_of_the_limits() -> None:
    assert to_text(RICH, width=3) == to_text(RICH, width=60)
    assert to_text(RICH, width=1000) == to_text(RICH, width=200)


@pytest.mark.parametrize("detail", ["normal", "verbose", "concise", "quiet"])
def test_colour_adds_escapes_and_changes_no_character(detail: Detail) -> None:
    coloured = to_text(RICH, detail=detail, colour=True)
    without = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert without == to_text(RICH, detail=detail)
    assert ("\x1b[" in coloured) == (detail in ("normal", "verbose"))


def test_markup_in_names_is_no_markup() -> None:
    report = Report((gradient(Verdict.CORRECT, source="[bold red]x[/]"),))
    assert "[bold red]x[/]" in re.sub(r"\x1b\[[0-9;]*m", "", to_text(report, colour=True))


def test_printing_a_report_prints_its_text() -> None:
    assert str(RICH) == to_text(RICH)


def test_one_fault_of_several_gradients_is_told_once_and_says_whom_it_reaches() -> None:
    names = ["W", "b", "c", "d", "e", "f", "g"]
    faults = tuple(gradient(Verdict.INACCURATE, source=s, diagnostics=(CANCELLATION,)) for s in names)
    text = to_text(Report(faults))
    assert text.count("error[cancellation]") == 1
    reached = "the same fault reaches 6 other gradients: for `b`, `c`, `d` and 3 more"
    assert reached in " ".join(text.split())
    assert "and 3 more, not correct" in text
    assert "reaches d loss / d b and d loss / d c" in " ".join(to_text(Report(faults[:3])).split())


def test_errors_come_before_warnings() -> None:
    warning = Diagnostic("kink", "warning", "proven", "a kink", primary=Annotation(Span("f.py", 1)))
    report = Report((gradient(Verdict.WRONG, diagnostics=(warning, NOT_WATCHED)),))
    text = to_text(report)
    assert text.index("error[not-watched]") < text.index("warning[kink]")


def test_beyond_five_faults_a_line_each_and_beyond_ten_their_number() -> None:
    faults = [Diagnostic("kink", "error", "proven", f"fault {k}") for k in range(20)]
    text = to_text(Report((gradient(Verdict.WRONG, diagnostics=tuple(faults)),)))
    assert text.count("more: gradproof explain kink") == 5
    assert "error[kink]: fault 14\n" in text
    assert "fault 15" not in text
    assert "and 5 more; --verbose prints all of them in full" in text


def test_notes_are_one_line_each_unless_all_is_asked_for() -> None:
    assert "train.py:12: note[vanishing]: the gradient" in to_text(RICH)
    assert "more: gradproof explain vanishing" in to_text(RICH, detail="verbose")


def test_gradients_undecided_for_the_same_reason_share_a_sentence() -> None:
    text = " ".join(to_text(RICH).split())
    assert "d loss / d x unverified: the op `PyFunc` at line 8" in text
    assert "; likewise d loss / d b" in text


def test_many_correct_gradients_are_counted_not_listed() -> None:
    right = tuple(gradient(Verdict.CORRECT, source=f"w{k}", digits=7.0) for k in range(100))
    text = to_text(Report((*right, UNVERIFIED)))
    assert "and 95 more, correct" in text
    assert "w99" not in text
    assert "w99" in to_text(Report(right), detail="verbose")


def test_the_last_line_names_place_cause_and_cure_of_the_first_fault() -> None:
    last = to_text(RICH, detail="quiet")
    assert last == to_text(RICH).splitlines()[-1] + "\n"
    assert "custom_gradient_tf.py:9:21 (custom-gradient): return the exact derivative" in last


@pytest.mark.parametrize(
    ("report", "last"),
    [
        (Report(()), "gradproof: no gradient was seen, so none was checked"),
        (
            Report((), script=Script("fit.py")),
            "gradproof: no gradient was seen, so none was checked; `gradproof.check(f, x, gradient=g)` checks one "
            "that is written by hand",
        ),
        (Report((CORRECT, CORRECT)), "gradproof: 2 gradients correct, proven; nothing to fix"),
        (
            Report((CORRECT, UNVERIFIED)),
            "gradproof: 1 of 2 gradients correct, 1 unverified; d loss / d x at train.py:12:9: the op "
            "`PyFunc` at line 8 runs code whose meaning is not known",
        ),
        (
            Report((gradient(Verdict.WRONG),)),
            "gradproof: 1 error: 1 gradient wrong; look first at d loss / d x, wrong at train.py:12:9: no cause was "
            "found",
        ),
        (
            Report((gradient(Verdict.WRONG, intended=True),)),
            "gradproof: 1 gradient intended; nothing to fix",
        ),
    ],
)
def test_the_last_line_says_what_there_is_to_do(report: Report, last: str) -> None:
    assert to_text(report, detail="quiet") == last + "\n"


def test_estimates_are_not_called_proven() -> None:
    text = to_text(Report((gradient(Verdict.CORRECT, oracle="differences", digits=5.0),)), detail="verbose")
    assert "correct, 5.0 of 7.2 digits, estimated by differences" in text
    assert "proven" not in text


def test_a_bar_is_as_long_as_its_share() -> None:
    assert bar(1.0) == "█" * 20
    assert bar(-0.5) == "█" * 10 + " " * 10
    assert bar(0.0) == " " * 20
    assert bar(7.0) == bar(float("nan")) == bar(1.0)
    assert bar(1 / 40) == "▌" + " " * 19


def test_the_budget_puts_the_largest_share_first_whatever_its_sign_and_keeps_the_sum() -> None:
    parts = (0.9, -1.5, 1.598, 0.001, 0.001)
    budget = tuple(BudgetLine(Span("f.py", k + 1), part, "Add") for k, part in enumerate(parts))
    sources = {"f.py": "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"}
    text = to_text(Report((gradient(Verdict.INACCURATE, budget=budget),), sources=sources))
    rows = [each.split() for each in text.splitlines() if " % " in each]
    assert [row[0] for row in rows] == ["160", "-150", "90", "<"]
    assert [row[-4:-1] for row in rows[:3]] == [["c", "=", "3"], ["b", "=", "2"], ["a", "=", "1"]]
    assert "2 other lines" in text


def test_places_not_checked_are_capped_and_counted() -> None:
    rows = tuple(Unchecked(Span("f.py", k + 1), 3, "over budget") for k in range(8))
    text = to_text(Report((CORRECT,), unchecked=rows))
    assert "not checked: 3 gradients at f.py:5: over budget" in text
    assert "f.py:6" not in text
    assert "not checked: 3 more places" in text


def test_cutting_keeps_the_width_with_wide_characters() -> None:
    assert columns(cut("値値値値", 5)) <= 5
    assert columns(cut_middle("値値値値", 5)) <= 5
    assert cut_middle("sequential/dense/kernel", 11) == "seque…ernel"


def test_what_is_intended_is_explained_only_when_all_is_asked_for() -> None:
    meant = gradient(Verdict.WRONG, diagnostics=(CANCELLATION,), intended=True)
    kind = CANCELLATION.kind + "]"
    assert kind not in to_text(Report((meant,)))
    assert kind not in to_text(Report((meant,)), detail="concise")
    assert kind in to_text(Report((meant,)), detail="verbose")
    unmeant = gradient(Verdict.WRONG, diagnostics=(CANCELLATION,))
    assert kind in to_text(Report((meant, unmeant)))


def test_what_an_earlier_nan_left_behind_is_one_line() -> None:
    """Later runs begin with the NaN of the first: they are no faults of their own, and not told one by one."""
    first = gradient(Verdict.NONFINITE, observed=np.array(np.nan), diagnostics=(MASKED_BRANCH,))
    later = [
        gradient(Verdict.UNVERIFIED, source=name, occurrence=2, reason=NO_NUMBER_GIVEN, digits=None)
        for name in ("x", "y", "z")
    ]
    text = to_text(Report(gradients=(first, *later)))
    assert text.count("unverified") == 2, "in one sentence, and in the last line"
    assert "  3 gradients of later runs unverified: a step before, whose gradient was NaN or infinite" in text
    assert "and 3 more, not correct" in text
    alone = to_text(Report(gradients=tuple(later)))
    assert NO_NUMBER_GIVEN in alone, "without an earlier NaN nothing is known to have left it"


def test_a_nan_that_a_where_hides_from_the_target_is_left_behind_as_well() -> None:
    first = gradient(Verdict.NONFINITE, observed=np.array(np.nan), diagnostics=(MASKED_BRANCH,))
    note = Diagnostic("invalid-domain", "note", "likely", "`x` is NaN since an earlier step")
    later = [gradient(Verdict.NONFINITE, source=name, occurrence=2, diagnostics=(note,)) for name in "xy"]
    text = to_text(Report(gradients=(first, *later)))
    assert "  2 gradients of later runs NaN/inf: a step before, whose gradient was NaN or infinite" in text
    assert text.splitlines()[-1].startswith("gradproof: 1 error: 3 gradients NaN/inf; fix first")
    assert "no cause was found" not in text
    assert "no cause was found" in to_text(Report(gradients=tuple(later))), "no earlier NaN is known"
