"""The search for fixes takes no longer than the checks, and where it ended early the report says so."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from gradproof.fixes import allowance, find, search, verify
from gradproof.fixes.allowance import (
    LEAST_SECONDS,
    MOST_IN_VAIN,
    SearchTime,
    checking,
    cut_short,
    deadline,
    searching,
)
from gradproof.ir.program import Program
from tests.fixes.patched import audited

# Roots of a sum that cancels: no rule helps, so that the search goes on as long as it may.
MANY = """import numpy as np
import gradproof as gp
xs = [gp.Variable(np.array(1.0 + k * 1e-3)) for k in range(12)]
with gp.GradientTape() as tape:
    loss = sum(np.tan(np.sin(1e8 + x) - np.cos(3e8 * x)) for x in xs)
print(tape.gradient(loss, xs))
"""


class _Clock:
    """A clock that others move on."""

    def __init__(self) -> None:
        self.now = 0.0

    def thread_time(self) -> float:
        return self.now

    monotonic = perf_counter = process_time = thread_time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> _Clock:
    made = _Clock()
    for module in (allowance, find, search, verify):
        monkeypatch.setattr(module, "time", made)
    return made


def test_a_search_may_take_as_long_as_the_checks_did(clock: _Clock) -> None:
    total = SearchTime()
    for _ in range(2):
        with checking(total):
            clock.now += 8.0
            with searching():
                assert deadline() == clock.now + 8.0
                clock.now += 8.0
    assert (total.checked, total.searched, total.left) == (16.0, 16.0, 0.0)
    assert deadline() == math.inf


def test_quick_checks_have_a_few_seconds_together(clock: _Clock) -> None:
    total, most = SearchTime(), 0.75 * LEAST_SECONDS
    for left in (LEAST_SECONDS, LEAST_SECONDS - most):
        with checking(total), checking():
            clock.now += 0.01
            with searching():
                assert deadline() - clock.now == pytest.approx(left)
                clock.now += most
    assert total.left < 0


@pytest.mark.parametrize(("checked", "limit"), [(8.0, "as long as the checks took"), (0.1, "the least")])
def test_what_ended_a_search_is_told_as_it_was(clock: _Clock, checked: float, limit: str) -> None:
    with checking():
        clock.now += checked
        with searching():
            clock.now = deadline()
        assert limit in cut_short()


def test_searches_that_take_long_end_and_the_report_says_so(
    clock: _Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fingerprint, n_tried = search._fingerprint, 0

    def slow(program: Program) -> str:
        nonlocal n_tried
        n_tried += 1
        clock.now += 0.2
        return fingerprint(program)

    monkeypatch.setattr(search, "_fingerprint", slow)
    path = tmp_path / "script.py"
    path.write_text(MANY, encoding="utf-8")
    report = audited(path)
    faulty = [one for one in report.gradients if one.level == "error"]
    assert len(faulty) > 3
    assert (
        1 < n_tried * 0.2 <= LEAST_SECONDS + 0.2 * len(faulty)
    )  # each search tries one before it looks at the clock
    notes = [note for one in faulty[-1].diagnostics for note in one.notes]
    assert any("fixes were looked for" in note for note in notes)


def test_a_place_at_which_nothing_was_found_twice_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched, reached = [], find.reached
    monkeypatch.setattr(
        find, "reached", lambda *given, **named: searched.append(1) or reached(*given, **named)
    )
    monkeypatch.setattr(allowance, "LEAST_SECONDS", 1e3)
    path = tmp_path / "script.py"
    path.write_text(MANY, encoding="utf-8")
    report = audited(path)
    assert len([one for one in report.gradients if one.level == "error"]) > 3
    places = {one.diagnostics[0].primary for one in report.gradients if one.diagnostics}
    assert len(searched) <= MOST_IN_VAIN * max(len(places), 2)
