"""No check takes much longer than it may: what is not known by then is said to be unverified, with the limit."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

import gradproof
from gradproof import GradientTape, Options, Report, Variable, Verdict
from gradproof.audit import examine
from gradproof.audit.budget import Budget
from gradproof.audit.session import Session
from gradproof.clock import TimeIsOver

MARGIN = 2.0  # seconds a slow machine may take for what lies between two ticks and for the report


def costly(x: np.ndarray) -> np.ndarray:
    """Needs balls of more than 100 digits in 40,000 entries: about ten seconds on a machine of 2025."""
    y = x
    for _ in range(12):
        y = np.exp(np.sin(y))
    return np.sum(y) - np.sum(y) + 1e-60 * np.sum(y)


def costly_from_the_start(x: np.ndarray) -> np.ndarray:
    """Has no quick enclosure in float64: seconds on the first rung already."""
    y = x
    for _ in range(40):
        y = np.cbrt(y + 1.0)
    return np.sum(y)


def timed(action: Callable[[], Report]) -> tuple[Report, float]:
    started = time.monotonic()
    report = action()
    return report, time.monotonic() - started


def test_a_check_that_takes_too_long_is_given_up_and_says_so() -> None:
    x = np.linspace(0.0, 1.0, 40_000)
    report, took = timed(lambda: gradproof.check(costly_from_the_start, x, options=Options(seconds=0.5)))
    [found] = report.gradients
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason == "the check took longer than 0.5 s (Options.seconds)"
    assert took < 2 * 0.5 + MARGIN


def test_the_budget_ends_a_check_that_it_falls_into() -> None:
    session = Session(budget=Budget(0.5))
    session.start()
    x = Variable(np.linspace(0.0, 1.0, 40_000))
    with GradientTape() as tape:
        y = costly(x)
    tape.gradient(y, x)
    session.stop()
    [found] = session.gradients
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None
    assert found.reason.startswith(
        "the check took longer than the 0.5 s that were left of the budget (--budget)"
    )
    assert session.budget.spent < 2 * 0.5 + MARGIN


def test_a_jacobian_shares_one_limit_among_its_rows() -> None:
    x = np.linspace(0.0, 1.0, 40_000)

    def rows(x: np.ndarray) -> np.ndarray:
        return np.stack([costly(x + k) for k in range(3)])

    report, took = timed(lambda: gradproof.check(rows, x, output="each", options=Options(seconds=0.5)))
    assert {found.verdict for found in report.gradients} == {Verdict.UNVERIFIED}
    assert took < 2 * 0.5 + 2 * MARGIN


def _late(case: object) -> object:
    raise TimeIsOver("the check took longer than 1 s (Options.seconds)")


def test_a_verdict_stays_when_the_time_ends_in_the_search_for_its_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(examine, "with_faults", _late)
    report = gradproof.check(lambda x: (x + 1e16) - 1e16, 1.0, gradient=lambda x: 2.0)
    [found] = report.gradients
    assert found.verdict is Verdict.WRONG
    assert found.reason is not None
    assert "its cause was not looked for to the end" in found.reason


def test_no_rule_is_blamed_because_none_of_the_others_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def both_sides(x: float) -> float:
        return np.maximum(x, 0.0) + np.minimum(x, 0.0)

    monkeypatch.setattr(examine, "with_faults", _late)
    [found] = gradproof.check(both_sides, 0.0, gradient=lambda x: 3.0).gradients
    assert found.verdict is Verdict.WRONG
    assert [one for one in found.diagnostics if one.kind == "framework-rule"] == []
