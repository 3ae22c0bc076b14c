"""Modes for which there is no time are listed with that reason; what was run before is kept."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.clock import TimeIsOver
from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for, plain_modes
from gradproof.judge.verdict import Verdict
from gradproof.modes.table import compared
from gradproof.options import Options


def _ends(*asked: Any) -> Any:
    raise TimeIsOver("the time was over")


def _square(x: Any) -> Any:
    return np.sum(x * x)


def test_what_was_run_before_the_time_was_over_is_kept() -> None:
    x = np.array([0.5, 3.0])
    (capture,) = frontend_for((x,), {}).check(Request(_square, (x,))).captures
    (tape,) = plain_modes("numpy")
    slow = replace(tape, name="slow", runs_as="", gradient=_ends)
    found = compared(capture, [tape, slow, replace(slow, name="never")], [], Options())
    assert found is not None
    (line,) = found.lines
    assert line.is_own and line.verdict is Verdict.CORRECT
    assert {one.name: one.reason for one in found.lacking} == {
        "tape in other precisions": "the time was over",
        "slow": "the time was over",
        "never": "the time was over",
    }
    assert found.conclusion.kind == "agree"
    assert found.conclusion.verdict == (
        "your own run agrees with the proven gradient in float64; no other mode was run in float64"
    )
    assert found.notes == ("not all of it was looked at: the time was over",)


def test_without_time_nothing_is_claimed() -> None:
    report = gradproof.compare(_square, np.array([0.5]), frameworks=[], options=Options(seconds=0.0))
    (call,) = report.calls
    assert call.conclusion.kind == "unverified"
    assert call.conclusion.verdict.startswith(
        "no other mode was run; whether your own run is right was not decided"
    )
    assert [line.mode for line in call.lines] == ["eager, as it ran"]
    reason = "the 0 s for this gradient were over (Options.seconds or --budget gives more)"
    assert [(one.name, one.reason) for one in call.lacking] == [("tape", reason)]


def test_a_small_entry_of_a_sum_is_no_sign_of_another_formula() -> None:
    from gradproof.modes.rule_parting import is_material

    one = np.array([1.0, 1e-7], np.float32)
    assert not is_material(one, np.array([1.0, 1.5e-7], np.float32))
    assert is_material(one, np.array([1.0, 1e-4], np.float32))
    assert is_material(one, np.array([1.0, np.nan], np.float32))


def test_a_budget_is_shared_by_all_gradients(monkeypatch: Any) -> None:
    import gradproof.comparing as comparing
    from gradproof.audit.budget import Budget
    from gradproof.clock import seconds_left

    x = np.array([0.5, 3.0])
    (capture,) = frontend_for((x,), {}).check(Request(_square, (x,))).captures
    had: list[float] = []

    def compared_at_once(*asked: Any) -> None:
        left = seconds_left()
        assert left is not None
        had.append(left)

    monkeypatch.setattr(comparing, "_compared", compared_at_once)
    comparing.compared_calls([capture] * 4, Options(), ".", [], True, budget=Budget(1000.0))
    assert [round(1000 / one) for one in had] == [4, 3, 2, 1]


def test_where_modes_part_is_looked_for_before_other_precisions() -> None:
    x = np.array([0.5, 3.0])
    (capture,) = frontend_for((x,), {}).check(Request(_square, (x,))).captures
    (tape,) = plain_modes("numpy")
    asked: list[tuple[str, str]] = []

    def values(fed: Any, outputs: Any) -> Any:
        asked.append(("values", fed.program[outputs[-1]].dtype))
        return tape.values(fed, outputs)

    def gradient(fed: Any, target: int, wrt: Any) -> Any:
        asked.append(("gradient", fed.program[target].dtype))
        value, found = tape.gradient(fed, target, wrt)
        return value, [one + one.dtype.type(1) for one in found]

    off = replace(tape, name="off", runs_as="", is_single=False, values=values, gradient=gradient)
    assert compared(capture, [tape, off], [], Options()) is not None
    assert asked.index(("values", "float64")) < asked.index(("gradient", "float32"))


def test_processes_of_their_own_come_after_this_one() -> None:
    x = np.array([0.5, 3.0])
    (capture,) = frontend_for((x,), {}).check(Request(_square, (x,))).captures
    (tape,) = plain_modes("numpy")
    apart = replace(tape, name="apart", runs_as="", gradient=_ends, is_apart=True)
    found = compared(capture, [apart, tape], [], Options())
    assert found is not None and {line.dtype for line in found.lines} >= {"float64", "float32"}
    assert [one.name for one in found.lacking] == ["apart"]


def test_of_a_slow_mode_only_what_it_returns_comes_before_other_frameworks() -> None:
    x = np.array([0.5, 3.0])
    (capture,) = frontend_for((x,), {}).check(Request(_square, (x,))).captures
    (tape,) = plain_modes("numpy")
    asked: list[tuple[str, str, str]] = []

    def spied(name: str, framework: str, **facts: Any) -> Any:
        def values(fed: Any, outputs: Any) -> Any:
            asked.append((name, "values", fed.program[outputs[-1]].dtype))
            return tape.values(fed, outputs)

        def gradient(fed: Any, target: int, wrt: Any) -> Any:
            asked.append((name, "gradient", fed.program[target].dtype))
            value, found = tape.gradient(fed, target, wrt)
            return value, [one + one.dtype.type(1) for one in found]

        given = {"is_single": False, "runs_as": "", **facts}
        return replace(tape, name=name, framework=framework, values=values, gradient=gradient, **given)

    slow, other = spied("slow", "numpy", is_slow=True), spied("other", "jax")
    assert compared(capture, [tape, slow, other], [], Options()) is not None
    order = [*dict.fromkeys(asked)]
    assert order.index(("slow", "gradient", "float64")) < order.index(("other", "gradient", "float64"))
    assert order.index(("other", "gradient", "float16")) < order.index(("slow", "values", "float64"))
    assert order.index(("slow", "values", "float64")) < order.index(("slow", "gradient", "float32"))
    asked.clear()
    users = spied("slow", "numpy", is_slow=True, runs_as=tape.runs_as)
    assert compared(capture, [replace(tape, runs_as=""), users, other], [], Options()) is not None
    order = [(name, dtype) for name, _, dtype in asked]
    assert order.index(("slow", "float32")) < order.index(("other", "float64"))


@pytest.mark.parametrize("framework", ["tensorflow", "jax", "torch"])
def test_a_run_that_is_repeated_is_not_compiled_again(framework: str, monkeypatch: Any) -> None:
    pytest.importorskip(framework)
    from gradproof.frontends.select import _modes_of
    from gradproof.modes.rows import asked_of

    x = np.array([0.5, 3.0])
    (capture,) = frontend_for((x,), {}).check(Request(_square, (x,))).captures
    wrt = [one.node for one in capture.sources]
    assert capture.program is not None and None not in wrt
    module = _modes_of(framework)
    traced: list[str] = []
    wrapped = module.value_in

    def value_in(*given: Any) -> Any:
        traced.append("op")
        return wrapped(*given)

    monkeypatch.setattr(module, "value_in", value_in)
    names = {"graph", "XLA", "jit", "grad of jit", "jit without fusion", "x64", "compiled, aot_eager"}
    modes = [mode for mode in module.MODES if mode.name in names]
    assert modes
    for mode in modes:
        fed = asked_of(capture.program, wrt)
        first = mode.gradient(fed, capture.program.outputs[0], wrt)
        n = len(traced)
        again = mode.gradient(fed, capture.program.outputs[0], wrt)
        assert n and len(traced) == n, mode.name
        assert np.array_equal(first[1][0], again[1][0])
        assert not pickle.loads(pickle.dumps(fed))._made and fed._made
        traced.clear()
