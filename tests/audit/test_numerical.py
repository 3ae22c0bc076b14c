"""Gradient checks by finite differences appear in the report of whoever watches."""

from __future__ import annotations

import numpy as np

import gradproof
from gradproof.blackbox.announce import LISTENERS
from gradproof.judge.verdict import Verdict


def test_a_check_that_agrees_is_an_entry_without_causes() -> None:
    with gradproof.watch() as report:
        gradproof.gradient_check_numerical(np.sin, [1.0])
    (row,) = report.gradients
    assert row.verdict is Verdict.CORRECT
    assert row.oracle == "differences"
    assert not row.is_proven
    assert not row.diagnostics
    assert not LISTENERS


def test_a_bad_step_is_blamed_at_the_line_of_the_check_and_the_gradient_is_left_open() -> None:
    with gradproof.watch() as report:
        gradproof.gradient_check_numerical(np.sin, [1.0], epsilon=1e-12)
    (row,) = report.gradients
    assert row.verdict is Verdict.UNVERIFIED
    (found,) = row.diagnostics
    assert found.kind == "step-size"
    assert found.span is not None
    assert found.span.file.endswith("test_numerical.py")


def test_a_wrong_gradient_is_wrong_and_no_step_is_blamed() -> None:
    with gradproof.watch() as report:
        gradproof.gradient_check_numerical(np.sin, [1.0], gradient=[0.9])
    (row,) = report.gradients
    assert row.verdict is Verdict.WRONG
    assert not row.diagnostics


def test_the_long_form_says_which_steps_would_serve() -> None:
    check = gradproof.gradient_check_numerical(np.sin, [1.0], epsilon=1e-12)
    text = check.explain()
    assert text.startswith("error[step-size]: epsilon 1e-12 is too small")
    assert "usable steps" in text


def test_the_long_form_of_a_check_without_a_fault_is_the_short_one() -> None:
    check = gradproof.gradient_check_numerical(np.sin, [1.0])
    assert check.explain() == repr(check)


def test_the_step_that_was_used_is_shown_beside_those_that_serve() -> None:
    with gradproof.watch() as report:
        gradproof.gradient_check_numerical(np.sin, [np.array([0.5, 1.0])], epsilon=1e-12)
    (row,) = report.gradients
    assert row.figures is not None
    curve = row.figures.steps
    assert curve is not None
    assert curve.direction.startswith("along `argument 1[")
    assert curve.used == 1e-12
    assert curve.usable is not None
    assert curve.usable[0] > 1e-12
    assert (np.diff(curve.steps) > 0).all()
    assert np.min(curve.errors) < 1e-6 < np.max(curve.errors)
    assert set(row.figures.lacking) == {"slice", "program"}


def test_without_a_slope_there_is_no_step_curve() -> None:
    with gradproof.watch() as report:
        gradproof.gradient_check_numerical(np.abs, [0.0])
    (row,) = report.gradients
    assert row.figures is not None
    assert row.figures.steps is None
    assert "no entry has a slope" in row.figures.lacking["steps"]
