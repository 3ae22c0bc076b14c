"""Levels, exit status and what a report says of itself."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, Severity
from gradproof.diagnosis.report import FailOn, GradientReport, Report, Script
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict
from gradproof.render.faults import ordered_diagnostics
from gradproof.render.from_json import from_json
from gradproof.render.to_json import to_json


def gradient(verdict: Verdict, *severities: Severity, intended: bool = False) -> GradientReport:
    diagnostics = tuple(
        Diagnostic("kink", severity, "proven", "a kink", primary=Annotation(Span("f.py", 3)))
        for severity in severities
    )
    return GradientReport(
        call=Span("f.py", 9), framework="jax", target="loss", source="x", shape=(), dtype="float32",
        verdict=verdict, diagnostics=diagnostics, intended=intended,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("judged", "level"),
    [
        (gradient(Verdict.CORRECT), "note"),
        (gradient(Verdict.CORRECT, "warning"), "warning"),
        (gradient(Verdict.WRONG), "error"),
        (gradient(Verdict.WRONG, "note"), "error"),
        (gradient(Verdict.WRONG, "warning"), "warning"),
        (gradient(Verdict.WRONG, "warning", "error"), "error"),
        (gradient(Verdict.WRONG, "error", intended=True), "note"),
        (gradient(Verdict.UNDEFINED), "warning"),
        (gradient(Verdict.UNVERIFIED), "warning"),
        (gradient(Verdict.MISSING), "error"),
        (gradient(Verdict.NONFINITE), "error"),
        (gradient(Verdict.INACCURATE), "error"),
    ],
)
def test_the_level_is_that_of_the_gravest_cause_or_of_the_verdict(judged: GradientReport, level: str) -> None:
    assert judged.level == level


@pytest.mark.parametrize(
    ("judged", "fail_on", "status"),
    [
        (gradient(Verdict.CORRECT), "warning", 0),
        (gradient(Verdict.CORRECT, "warning"), "error", 0),
        (gradient(Verdict.CORRECT, "warning"), "warning", 1),
        (gradient(Verdict.WRONG), "error", 1),
        (gradient(Verdict.WRONG), "never", 0),
        (gradient(Verdict.WRONG, intended=True), "warning", 0),
        (gradient(Verdict.UNVERIFIED), "error", 0),
        (gradient(Verdict.UNVERIFIED), "warning", 1),
    ],
)
def test_the_exit_status_follows_the_level(judged: GradientReport, fail_on: FailOn, status: int) -> None:
    assert Report((judged,)).exit_status(fail_on) == status


def test_the_exit_status_of_the_script_is_passed_on_where_nothing_else_is_to_be_said() -> None:
    script = Script("train.py", None, 7)
    assert Report((gradient(Verdict.CORRECT),), script=script).exit_status() == 7
    assert Report((gradient(Verdict.WRONG),), script=script).exit_status() == 1
    assert Report((gradient(Verdict.WRONG),), script=script).exit_status("never") == 7


def test_the_worst_verdict_is_that_of_the_gravest_gradient_not_intended() -> None:
    wrong = gradient(Verdict.WRONG, intended=True)
    assert Report((gradient(Verdict.CORRECT), gradient(Verdict.MISSING), wrong)).worst is Verdict.MISSING
    assert Report((wrong,)).worst is Verdict.WRONG
    assert Report(()).worst is None
    assert Report((wrong,)).verdicts == (Verdict.WRONG,)


def test_the_diagnostics_of_a_report_name_every_fault_once() -> None:
    report = Report((gradient(Verdict.WRONG, "error"), gradient(Verdict.WRONG, "error")))
    assert len(report.diagnostics) == 1


def test_arrays_that_do_not_fit_give_no_table() -> None:
    fields = {"observed": np.ones(3), "reference": np.ones(2), "digits_possible": 7.2}
    base = vars(gradient(Verdict.WRONG))
    assert GradientReport(**{**base, **fields}).entry_table is None
    assert GradientReport(**{**base, **fields, "reference": np.ones(3)}).entry_table is not None
    misfit = {**base, **fields, "reference": np.ones(3), "reference_radius": np.ones(2)}
    assert GradientReport(**misfit).entry_table is None


def test_only_an_enclosure_is_a_proof() -> None:
    base = vars(gradient(Verdict.CORRECT))
    proofs = [
        GradientReport(**{**base, "oracle": oracle}).is_proven
        for oracle in ("ball", "ball64", "differences", None)
    ]
    assert proofs == [True, True, False, False]


def test_a_report_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        Report(()).notes = ("changed",)  # type: ignore[misc]


def test_of_one_fault_of_several_gradients_the_one_with_a_change_that_was_run_is_shown() -> None:
    told = Fix("use softmax")
    ran = Fix("use softmax", patch="- a\n+ b\n", checked="with this change JAX returns 1.0")
    once, mended, again = (
        replace(one, source=name, diagnostics=tuple(replace(each, fix=fix) for each in one.diagnostics))
        for one, name, fix in zip([gradient(Verdict.NONFINITE, "error")] * 3, "xyz", (told, ran, told))
    )
    report = Report(gradients=(once, mended, again))
    assert [one.fix for one in report.diagnostics] == [ran]
    [shown] = ordered_diagnostics(report)
    assert shown.notes == ("the same fault reaches d loss / d x and d loss / d z",)


@pytest.mark.parametrize("serves_all", [True, False])
def test_what_one_change_fixes_in_all_places_is_one_fault(serves_all: bool) -> None:
    fix = Fix("scale the loss", serves_all=serves_all)
    small, large = (
        Diagnostic("underflow", severity, "proven", "too small", Annotation(Span("a.py", line)), fix=fix)
        for severity, line in (("warning", 3), ("error", 7))
    )
    report = Report(
        gradients=(
            replace(gradient(Verdict.INACCURATE), source="x", diagnostics=(small,)),
            replace(gradient(Verdict.INACCURATE), source="y", diagnostics=(large,)),
        )
    )
    shown = ordered_diagnostics(report)
    assert [(one.severity, one.span) for one in shown][:1] == [("error", large.span)], "the gravest is shown"
    assert len(shown) == (1 if serves_all else 2)
    assert [one.says_the_same_as for one in from_json(to_json(report)).diagnostics] == [
        one.says_the_same_as for one in report.diagnostics
    ]
