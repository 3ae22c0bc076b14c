"""Steps that pile up on each other are told from steps that start anew."""

from __future__ import annotations

import pytest

from gradproof.audit.history import Histories
from gradproof.ir.capture import CallRun, Capture
from gradproof.ir.span import Span
from gradproof.ir.surroundings import History


def _capture(occurrence: int, target: int, made_of: set[int], line: int = 3) -> Capture:
    run = CallRun(occurrence, targets=(target,), made_of=frozenset(made_of))
    return Capture("numpy", Span("train.py", line), "loss", (), None, run=run)


def test_a_target_made_of_an_earlier_one_names_its_execution() -> None:
    histories = Histories()
    histories.noted(_capture(1, 10, {1, 10}))
    second = histories.noted(_capture(2, 20, {1, 10, 20}))
    assert second.around.history is not None
    assert second.around.history.contains == 1


def test_a_target_computed_anew_contains_nothing() -> None:
    histories = Histories()
    histories.noted(_capture(1, 10, {1, 10}))
    second = histories.noted(_capture(2, 20, {1, 20}))
    assert second.around.history is not None
    assert second.around.history.contains == 0


def test_the_same_target_differentiated_again_does_not_contain_itself() -> None:
    histories = Histories()
    histories.noted(_capture(1, 10, {1, 10}))
    second = histories.noted(_capture(2, 10, {1, 10}))
    assert second.around.history is not None
    assert second.around.history.contains == 0


def test_another_line_has_another_history() -> None:
    histories = Histories()
    histories.noted(_capture(1, 10, {1, 10}))
    other = histories.noted(_capture(2, 20, {1, 10, 20}, line=9))
    assert other.around.history is not None
    assert other.around.history.contains == 0


@pytest.mark.parametrize(
    ("sizes", "grows"),
    [
        (((1, 6), (2, 8), (10, 24)), True),
        (((1, 6), (2, 6), (10, 6)), False),
        (((1, 6), (2, 8)), False),  # two steps are no law
        (((1, 60), (2, 61), (10, 69)), False),  # not doubled: a list that is kept beside the work
        (((1, 6), (2, 30), (10, 31)), False),  # a jump, and then no more
    ],
)
def test_growth_is_a_matter_of_proportion(sizes: tuple[tuple[int, int], ...], grows: bool) -> None:
    assert History(0, sizes).grows is grows
