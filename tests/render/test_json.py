"""The machine format: the fields of version 1, and back to the same report."""

import json

import numpy as np
import pytest

from gradproof.diagnosis.report import Report, Script
from gradproof.judge.verdict import Verdict
from gradproof.render.from_json import from_json
from gradproof.render.schema import violations
from gradproof.render.to_html import to_html
from gradproof.render.to_json import to_document, to_json
from gradproof.render.to_text import Detail, to_text
from tests.render.reports import BY_VERDICT, INACCURATE, RICH, gradient, scalar
from tests.render.snapshot import assert_snapshot

REPORTS = {**BY_VERDICT, "rich": RICH, "empty": Report(())}


def test_the_fields_of_version_1_have_their_names_and_values() -> None:
    report = Report(
        (INACCURATE,), version="0.1.0", frameworks={"tensorflow": "2.21.0"}, script=Script("train.py")
    )
    document = to_document(report)
    assert document["schema"] == 1
    assert document["gradproof"] == "0.1.0"
    assert document["frameworks"] == {"tensorflow": "2.21.0"}
    assert document["script"] == {"path": "train.py", "exception": None, "exit_status": 0, "crash": None}
    [found] = document["gradients"]
    assert {key: found[key] for key in list(found)[:17]} == {
        "file": "cancellation_tf.py",
        "line": 7,
        "occurrence": 1,
        "framework": "tensorflow",
        "target": {"name": "loss"},
        "source": {"name": "x", "shape": [], "dtype": "float32"},
        "verdict": "inaccurate",
        "oracle": "ball",
        "reason": None,
        "observed": 0.0,
        "reference": 2.0e10,
        "reference_radius": 0.0,
        "relative_error": 1.0,
        "digits": 0.0,
        "digits_possible": pytest.approx(7.22, abs=0.01),
        "one_sided": None,
        "causes": found["causes"],
    }
    [cause] = found["causes"]
    assert {key: cause[key] for key in list(cause)[:6]} == {
        "kind": "cancellation",
        "severity": "error",
        "file": "cancellation_tf.py",
        "line": 6,
        "op": "Sub",
        "share": 1.0,
    }
    assert cause["message"].startswith("a subtraction leaves 0 of 7")
    assert set(cause["fix"]) == {"text", "patch", "checked", "changes_meaning"}


@pytest.mark.parametrize("name", REPORTS)
def test_each_report_keeps_to_the_schema_and_to_strict_json(name: str) -> None:
    text = to_json(REPORTS[name])
    assert list(violations(json.loads(text, parse_constant=pytest.fail))) == []


def test_a_rich_report_is_written_as_expected() -> None:
    assert_snapshot("rich.json", to_json(RICH))


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("detail", ["normal", "verbose", "concise", "quiet"])
def test_a_report_read_back_renders_the_same(name: str, detail: Detail) -> None:
    report = REPORTS[name]
    assert to_text(from_json(to_json(report)), detail=detail) == to_text(report, detail=detail)


@pytest.mark.parametrize("name", REPORTS)
def test_the_page_of_a_report_read_back_is_the_same(name: str) -> None:
    assert to_html(from_json(to_json(REPORTS[name]))) == to_html(REPORTS[name])


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("full", [False, True])
def test_a_report_read_back_is_written_the_same(name: str, full: bool) -> None:
    text = to_json(REPORTS[name], full=full)
    again = json.loads(to_json(from_json(text), full=full))
    first = json.loads(text)
    for old, new in zip(first["gradients"], again["gradients"]):
        if isinstance(old["observed"], dict):
            # Of a summarised array only the table of entries comes back.
            for field in ("observed", "reference", "reference_radius"):
                assert new.pop(field) is None
                old.pop(field)
    assert again == first


def test_numbers_json_does_not_know_are_strings() -> None:
    observed = np.array([np.nan, np.inf, -np.inf, -0.0])
    [found] = to_document(Report((gradient(Verdict.WRONG, observed=observed),)))["gradients"]
    assert found["observed"] == ["nan", "inf", "-inf", 0.0]
    [back] = from_json(to_json(Report((gradient(Verdict.WRONG, observed=observed),)))).gradients
    np.testing.assert_array_equal(back.observed, observed)


def test_complex_numbers_are_written_by_their_parts() -> None:
    observed = np.array([1 + 2j, complex(np.nan, 0)])
    report = Report((gradient(Verdict.WRONG, observed=observed, dtype="complex64"),))
    [found] = to_document(report)["gradients"]
    assert found["observed"] == [{"re": 1.0, "im": 2.0}, {"re": "nan", "im": 0.0}]
    [back] = from_json(to_json(report)).gradients
    np.testing.assert_array_equal(back.observed, observed)


def test_bfloat16_is_written_as_numbers() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    observed = np.array([0.5, 3.0], ml_dtypes.bfloat16)
    [found] = to_document(Report((gradient(Verdict.CORRECT, observed=observed),)))["gradients"]
    assert found["observed"] == [0.5, 3.0]


def test_arrays_of_a_thousand_entries_are_written_out_and_larger_ones_summed_up() -> None:
    def written(n: int, full: bool = False) -> object:
        observed = np.ones(n)
        report = Report((gradient(Verdict.CORRECT, observed=observed, reference=observed),))
        return to_document(report, full=full)["gradients"][0]

    assert written(1000)["observed"] == [1.0] * 1000
    large = written(1600)
    assert large["observed"] == {"shape": [1600], "norm": 40.0, "largest": 1.0, "not_finite": 0}
    assert large["entries"]["count"] == 1600
    assert large["entries"]["digits_histogram"][-1] == 1600
    assert len(large["entries"]["worst"]) == 10
    assert written(1600, full=True)["observed"] == [1.0] * 1600


def test_the_summary_of_an_array_survives_entries_that_are_not_finite() -> None:
    observed = np.full(2000, 3.0)
    observed[7] = np.nan
    [found] = to_document(Report((gradient(Verdict.NONFINITE, observed=observed),)))["gradients"]
    assert found["observed"]["not_finite"] == 1
    assert found["observed"]["largest"] == 3.0


def test_empty_arrays_are_written_and_read_back() -> None:
    report = Report((gradient(Verdict.CORRECT, observed=np.zeros((0,)), reference=np.zeros((0,))),))
    [back] = from_json(to_json(report)).gradients
    assert back.observed is not None
    assert back.observed.shape == (0,)
    assert "correct" in to_text(report, detail="verbose")


def test_a_document_with_only_the_fields_of_the_design_can_be_read() -> None:
    document = {
        "schema": 1,
        "gradproof": "x.y.z",
        "frameworks": {"tensorflow": "2.21.0"},
        "script": {"path": "train.py", "exception": None},
        "gradients": [
            {
                "file": "train.py", "line": 12, "occurrence": 1, "framework": "tensorflow",
                "target": {"name": "loss"}, "source": {"name": "x", "shape": [], "dtype": "float32"},
                "verdict": "inaccurate", "oracle": "ball", "reason": None,
                "observed": 0.0, "reference": 2.0e10, "reference_radius": 0.0,
                "relative_error": 1.0, "digits": 0.0, "digits_possible": 7.2, "one_sided": None,
                "causes": [
                    {
                        "kind": "absorption", "severity": "error", "file": "train.py", "line": 5,
                        "op": "AddV2", "share": 1.0, "message": "...",
                        "fix": {"text": "...", "patch": "...", "checked": "..."},
                    }
                ],
            }
        ],
    }  # fmt: skip
    report = from_json(json.dumps(document))
    assert report.worst is Verdict.INACCURATE
    assert "train.py:5" in str(report)


def test_a_scalar_is_a_number_not_a_list() -> None:
    [found] = to_document(Report((gradient(Verdict.CORRECT, observed=scalar(2.0)),)))["gradients"]
    assert found["observed"] == 2.0


def test_gradients_that_share_a_program_share_it_after_reading_too() -> None:
    document = to_document(RICH)
    pictured = [each["figures"] for each in document["gradients"] if each["figures"] is not None]
    assert [figures["program"] for figures in pictured] == [0, None, None, 0]
    assert len(document["programs"]) == 1
    back = [gradient.figures for gradient in from_json(to_json(RICH)).gradients]
    programs = {
        id(figures.program) for figures in back if figures is not None and figures.program is not None
    }
    assert len(programs) == 1


def test_pictures_come_back_as_they_were() -> None:
    before, after = INACCURATE.figures, from_json(to_json(Report((INACCURATE,)))).gradients[0].figures
    assert before is not None
    assert after is not None
    assert before.program is not None
    assert after.program is not None
    assert after.program.nodes == before.program.nodes
    assert after.program.omitted == before.program.omitted
    assert (after.modes, after.guilty, after.shares) == (before.modes, before.guilty, before.shares)
    for name in ("t", "proven_value", "proven_slope", "computed_value", "computed_slope"):
        np.testing.assert_array_equal(getattr(after.slice, name), getattr(before.slice, name))
    np.testing.assert_array_equal(after.steps.errors, before.steps.errors)


def test_a_report_without_pictures_can_still_be_read() -> None:
    document = to_document(RICH)
    del document["programs"]
    for each in document["gradients"]:
        del each["figures"]
    assert all(gradient.figures is None for gradient in from_json(json.dumps(document)).gradients)
