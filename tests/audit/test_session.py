"""A session survives its own faults and counts what it did not look at."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.audit.budget import Budget, every
from gradproof.audit.session import INTERRUPTED, Session
from gradproof.ir.capture import Capture, Source
from gradproof.ir.program import Builder
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict

CALL = Span("train.py", 12)


def facts(reason: str) -> Capture:
    source = Source("x", (), "float64", None, np.array(6.0))
    return Capture("numpy", CALL, "loss", (source,), None, failure=reason)


def square() -> list[Capture]:
    builder = Builder()
    x = builder.input(np.array(3.0), "x")
    y = builder.add("mul", x, x, value=np.array(9.0))
    source = Source("x", (), "float64", x, np.array(6.0))
    return [Capture("numpy", CALL, "loss", (source,), builder.build([y]))]


def test_a_gradient_is_examined_when_it_comes() -> None:
    session = Session()
    session.receive(square, facts)
    [found] = session.gradients
    assert found.verdict is Verdict.CORRECT
    assert found.reference == 6.0
    assert session.report().timing["checks"] > 0


def test_a_fault_of_ours_makes_the_gradient_unverified_and_says_how_to_report_it() -> None:
    def broken() -> list[Capture]:
        raise RuntimeError("a bug")

    session = Session()
    session.receive(broken, facts)
    [found] = session.gradients
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None
    assert "a fault of gradproof (RuntimeError: a bug, in test_session.py:" in found.reason
    assert "please report it" in found.reason


class ResourceExhaustedError(Exception):
    """As a framework has it."""


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 153 MiB"),
        ResourceExhaustedError("OOM"),
        RuntimeError("CUDA out of memory"),
    ],
)
def test_without_memory_the_gradient_is_unverified_and_nobody_is_asked_to_report_a_fault(
    error: Exception,
) -> None:
    def read() -> list[Capture]:
        raise error

    session = Session()
    session.receive(read, facts)
    [found] = session.report().gradients
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason == f"the check ran out of memory ({error})"


def test_without_memory_to_say_anything_a_note_says_so() -> None:
    def read() -> list[Capture]:
        raise MemoryError

    def none(reason: str) -> Capture:
        raise MemoryError(reason)

    session = Session()
    session.receive(read, none)
    [note] = session.report().notes
    assert note.startswith("a check ran out of memory")
    assert "please report" not in note


def test_gradients_of_many_threads_are_all_judged() -> None:
    def work() -> None:
        for k in range(3):
            x = gradproof.Variable(np.linspace(0.1, 1.0, 20) * (k + 1))
            with gradproof.GradientTape() as tape:
                y = np.sum(np.exp(np.sin(x)))
            tape.gradient(y, x)

    with gradproof.watch("all") as report:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [str(verdict) for verdict in report.verdicts] == ["correct"] * 24
    assert sorted(gradient.occurrence for gradient in report.gradients) == list(range(1, 25))


def test_a_fault_that_leaves_nothing_to_say_does_not_reach_the_program() -> None:
    def broken(*_: str) -> Capture:
        raise RuntimeError("a bug")

    session = Session()
    session.receive(lambda: [broken()], broken)
    assert session.gradients == []
    assert len(session.faults) == 2


def test_a_call_whose_sources_are_not_known_is_still_an_entry() -> None:
    session = Session()
    session.receive(lambda: [Capture("numpy", CALL, "loss", (), None, failure="it raised")], facts)
    [found] = session.gradients
    assert (found.verdict, found.reason, found.call) == (Verdict.UNVERIFIED, "it raised", CALL)


def test_after_the_budget_the_first_execution_of_a_line_is_named_and_others_are_counted() -> None:
    session = Session(budget=Budget(0.0), policy=every)
    assert session._wants(1)
    assert not session._wants(2)
    session.receive(square, facts)
    [found] = session.gradients
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None
    assert "the budget of 0 s was used up" in found.reason


def test_an_interrupted_check_is_written_down_and_the_program_is_told() -> None:
    def interrupted() -> list[Capture]:
        raise KeyboardInterrupt

    session = Session()
    with pytest.raises(KeyboardInterrupt):
        session.receive(interrupted, facts)
    [found] = session.gradients
    assert (found.verdict, found.reason) == (Verdict.UNVERIFIED, INTERRUPTED)


def test_gradients_that_check_was_called_for_can_be_left_to_it() -> None:
    for hears, n in ((True, 1), (False, 0)):
        session = Session(hears_checks=hears)
        session.start()
        try:
            gradproof.check(lambda x: x * x, 3.0)
        finally:
            session.stop()
        assert len(session.gradients) == n


@pytest.mark.parametrize(
    ("by_hand", "verdict"), [(lambda x: 3.0 * x**2, "correct"), (lambda x: x**2, "wrong")]
)
def test_what_a_script_has_checked_itself_is_told_as_it_was_judged(by_hand: Any, verdict: str) -> None:
    with gradproof.watch() as report:
        own = gradproof.check(lambda x: np.sum(x**3), np.array([1.0, 2.0]), gradient=by_hand)
    assert (
        [str(one.verdict) for one in report.gradients]
        == [str(one.verdict) for one in own.gradients]
        == [verdict]
    )
    assert [one.kind for one in report.gradients[0].diagnostics] == ["custom-gradient"] * (verdict == "wrong")


def test_no_call_of_check_is_left_out() -> None:
    with gradproof.watch(checks="1") as report:
        for k in range(3):
            gradproof.check(lambda x, k=k: np.sum(x**k), np.array([1.0, 2.0]))
    assert len(report.gradients) == 3 and not report.unchecked


def test_a_part_of_a_program_can_have_its_own_first_execution() -> None:
    session = Session(policy=lambda n: n == 1)
    session.start()
    for part in range(3):
        session.recount()
        for _ in range(4):
            x = gradproof.Variable(3.0)
            with gradproof.GradientTape() as tape:
                y = x * x
            tape.gradient(y, x)
        assert len(session.gradients) == part + 1
    session.stop()
    [unchecked] = session.report().unchecked
    assert unchecked.count == 9
