"""A library with faults planted in it: the sweep finds all of them, and nothing in what is sound."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from typing import Any

import pytest

from gradproof.sweep import trial
from gradproof.sweep.issue_text import to_issue
from gradproof.sweep.one_op import swept
from gradproof.sweep.page import roots_of, to_page
from gradproof.sweep.plan import Plan
from tests.sweep import planted

PLAN = Plan(dtypes=("float32",), points=("ordinary", "zeros", "negative", "large", "small", "huge"))
Results = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def results() -> Results:
    library = planted.library()
    return {op.name: swept(library, op, PLAN) for op in library.ops()}


def test_every_planted_fault_is_found(results: Results) -> None:
    assert len(planted.FAULTS) >= 20
    found = {name: {fault["kind"] for fault in results[name]["faults"]} for name in planted.FAULTS}
    assert {name: kinds for name, kinds in found.items() if planted.FAULTS[name][2] not in kinds} == {}


def test_a_fault_of_one_mode_is_found_and_named(results: Results) -> None:
    (fault,) = results["mode_dependent"]["faults"]
    assert (fault["kind"], fault["mode"]) == ("mode-dependent", "other")


def test_sound_rules_have_no_fault(results: Results) -> None:
    assert {name: results[name]["faults"] for name in planted.SOUND} == {name: [] for name in planted.SOUND}
    assert all(results[name]["verdicts"].get("correct", 0) >= 5 for name in planted.SOUND)


def test_what_departs_on_purpose_is_no_fault_of_a_library(results: Results) -> None:
    (clipped,) = (results[name] for name in planted.INTENDED)
    assert clipped["verdicts"]["wrong"] >= 1
    assert clipped["faults"] == []


def test_the_script_prints_what_was_observed(results: Results) -> None:
    for name in ("scale", "nan_at_zero", "forgets_term", "mode_dependent"):
        (fault, *_) = results[name]["faults"]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(fault["script"], {})
        assert float(printed.getvalue()) == pytest.approx(float(fault["observed"]), nan_ok=True)


def test_a_find_is_reduced_to_one_number_without_weights(results: Results) -> None:
    (fault, *_) = results["scale"]["faults"]
    assert "x = np.array(0.4, np.float32)" in fault["script"]
    assert "return planted.OPS['scale'](x)\n" in fault["script"]


def test_a_find_that_calls_of_the_op_contradict_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all inputs are zero even a wrong meaning has the right value; the op's own slope tells it."""
    library = planted.library()
    op = next(op for op in library.ops() if op.name == "half")
    plan = Plan(dtypes=("float32",), points=("ordinary",))
    assert swept(library, op, plan)["faults"]

    monkeypatch.setattr(trial, "contradicted", lambda *_: frozenset({"x"}))
    found = swept(library, op, plan)
    assert not found["faults"]
    assert found["reasons"] == {trial.CONTRADICTED: 1}


def test_a_find_that_the_oracle_does_not_confirm_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    library = planted.library()
    op = next(op for op in library.ops() if op.name == "half")
    monkeypatch.setattr("gradproof.sweep.find.by_differences", lambda *_: 123.0)
    assert not swept(library, op, Plan(dtypes=("float32",), points=("ordinary",)))["faults"]


def test_the_page_counts_by_kind_and_says_what_reproduces_a_row(results: Results) -> None:
    page = to_page(results.values())
    kinds = [fault["kind"] for result in results.values() for fault in result["faults"]]
    assert f"| {kinds.count('wrong')} | {kinds.count('nonfinite')} |" in page
    assert "`--ops scale --dtypes float32 --points ordinary`" in page


def test_faults_of_one_rule_are_one_row_that_names_their_ops(results: Results) -> None:
    (fault, *_) = results["scale"]["faults"]
    of_a_rule = {**fault, "cause": "framework-rule", "rule": "exp"}
    twice = [{**results["scale"], "op": op, "faults": [of_a_rule]} for op in ("lib.exp", "lib.raw.Exp")]
    (root,) = roots_of(twice)
    assert root.ops == ["lib.exp", "lib.raw.Exp"]
    page = to_page(twice)
    assert "| `lib.exp`, `lib.raw.Exp` |" in page
    assert "**wrong: framework-rule**" in page
    other = [
        {**results["scale"], "op": op, "faults": [{**of_a_rule, "cause": "overflow"}]} for op in ("f", "g")
    ]
    assert len(roots_of(other)) == 2  # a product that overflows is none of another op


def test_a_page_says_that_a_sweep_is_not_at_its_end(results: Results) -> None:
    assert "Not swept" not in to_page(results.values())
    page = to_page([{**result, "of": len(results) + 7} for result in results.values()])
    assert "**Not swept to its end**: 7 ops are left" in page
    assert f"| {len(results)} of {len(results) + 7} |" in page


def test_the_text_for_a_tracker_has_script_and_both_values(results: Results) -> None:
    result = results["scale"]
    (fault, *_) = result["faults"]
    text = to_issue(result, fault)
    assert fault["script"].strip() in text
    assert fault["observed"] in text
    assert fault["expected"] in text


def test_what_float64_mends_is_inaccurate_and_not_wrong(results: Results) -> None:
    """Constants of the rule are rounded to float32: its verdict is `wrong`, and more precision helps."""
    assert results["rounded_constant"]["verdicts"]["wrong"] >= 1
    assert {fault["kind"] for fault in results["rounded_constant"]["faults"]} == {"inaccurate"}


def test_a_fault_of_second_order_is_found_there_and_a_sound_one_is_not() -> None:
    library = planted.library()
    ops = {op.name: op for op in library.ops()}
    plan = Plan(dtypes=("float64",), points=("ordinary",))
    for name in planted.SECOND:
        assert swept(library, ops[name], plan)["faults"] == [], name
        found = swept(library, ops[name], replace(plan, order=2))
        (fault,) = found["faults"]
        assert fault["kind"] == "wrong", name
        assert "directions = " in fault["script"]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(fault["script"], {})
        assert float(printed.getvalue()) == pytest.approx(float(fault["observed"]))
        page = to_page([found])
        assert "**second order, wrong" in page
        assert f"`--ops {name} --dtypes float64 --points ordinary --order 2`" in page
    for name in ("sine", "cube"):
        found = swept(library, ops[name], replace(plan, order=2))
        assert (found["faults"], found["verdicts"]) == ([], {"correct": 1}), name
