"""What is said about a comparison is no more than was run: alone, in vain, at no entry, for no gradient."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gradproof
from gradproof.comparing import compared_calls
from gradproof.frontends.check.request import Request
from gradproof.frontends.select import frontend_for, plain_modes
from gradproof.judge.verdict import Verdict
from gradproof.modes.concluding import concluded
from gradproof.modes.model import CallModes, ModesReport
from gradproof.modes.table import compared
from gradproof.modes.units import furthest
from gradproof.options import Options


def _alone(function: Callable[..., Any], *args: Any, **kwargs: Any) -> ModesReport:
    return gradproof.compare(function, *args, frameworks=[], only_here=True, **kwargs)


def _cubes(x: Any) -> Any:
    return np.sum(x * x * x)


def _with_others(*others: Callable[[Any], Any]) -> CallModes:
    """The tape, and modes whose gradient is the tape's after something was done to it."""
    x = np.array([0.5, 3.0])
    (capture,) = frontend_for((x,), {}).check(Request(_cubes, (x,))).captures
    (tape,) = plain_modes("numpy")

    def mode(k: int, change: Callable[[Any], Any]) -> Any:
        def gradient(fed: Any, target: int, wrt: Any) -> Any:
            value, found = tape.gradient(fed, target, wrt)
            return value, [change(one) for one in found]

        return replace(tape, name=f"other {k}", title="", runs_as="", is_single=False, gradient=gradient)

    modes = [tape, *(mode(k, change) for k, change in enumerate(others))]
    found = compared(capture, [replace(one, precisions=()) for one in modes], [], Options())
    assert found is not None
    return found


def test_modes_agree_only_where_there_are_several() -> None:
    said = _with_others().conclusion.verdict
    assert said == "your own run agrees with the proven gradient in float64; no other mode was run in float64"
    said = _with_others(lambda one: one).conclusion.verdict
    assert said == "all modes agree with the proven gradient in float64"


def test_where_every_mode_is_off_the_mode_is_not_to_blame() -> None:
    call = _with_others(lambda one: one * 2)
    said = call.conclusion.verdict
    assert said.startswith("NumPy other 0 is ") and "no mode is right" not in said
    bad = [
        replace(line, cells=tuple(replace(cell, verdict=Verdict.WRONG) for cell in line.cells))
        for line in call.lines
    ]
    said = concluded(bad, call.sources, "numpy", "float64").verdict
    assert (
        said.startswith("NumPy op by op is wrong") and "no mode is right, so that it is not the mode" in said
    )
    assert "no mode is right" not in concluded(bad[:1], call.sources, "numpy", "float64").verdict


def test_one_mode_is_off_in_another_precision() -> None:
    from gradproof.modes.concluding import _Lines

    lines = _with_others(lambda one: one).lines
    narrow = [replace(line, dtype="float32", is_own=False) for line in lines]
    said = _Lines([*lines, *narrow], "numpy", "float64").in_others(narrow[:1])
    assert said == "; in float32 1 of 2 modes is off"


def test_a_gradient_that_is_not_there_is_told_as_such() -> None:
    tf = pytest.importorskip("tensorflow")
    from tests.modes.test_jacobians import captures_of

    def run() -> None:
        table = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            total = tf.reduce_sum(tf.constant([3.0]))
        tape.gradient(total, table)

    report = compared_calls(captures_of(run), Options(), ".", [], True)
    (note,) = report.notes
    assert note.endswith("there is no gradient: `total` was not computed from `table`")


def test_arrays_without_entries() -> None:
    report = _alone(lambda x: np.sum(x * x), np.zeros((0, 3)))
    assert report.calls[0].conclusion.kind == "agree"
    assert "proven" not in str(report).splitlines()[3] and "<table>" in report._repr_html_()


def test_a_function_of_nothing() -> None:
    report = _alone(lambda x: np.float64(3.0), np.array([2.0]))
    (call,) = report.calls
    assert call.lacking[0].reason == "the target does not depend on what is differentiated for"
    assert not call.notes and call.conclusion.verdict.startswith("your own run agrees")
    assert str(gradproof.check(lambda x: np.float64(3.0), np.array([2.0])).gradients[0].verdict) == "correct"


def test_the_first_rows_of_a_function_with_many_results() -> None:
    report = _alone(lambda x: x * x, np.arange(1.0, 7.0), output="each")
    assert [call.target for call in report.calls] == ["f[0]", "f[1]", "f[2]", "f[3]"]
    assert [note.partition(": ")[2] for note in report.notes] == ["of 6 rows the first 4 were compared"]


def test_policies_for_rows_of_a_table_and_complex_numbers() -> None:
    tf = pytest.importorskip("tensorflow")
    taken = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    (call,) = _alone(lambda x: tf.reduce_sum(tf.square(tf.gather(x, [0, 0]))), taken).calls
    assert {"mixed_bfloat16", "mixed_float16"} <= {line.mode for line in call.lines}
    turned = tf.constant([1.0 + 2.0j], tf.complex64)
    (call,) = _alone(lambda z: tf.reduce_sum(tf.abs(z) ** 2), turned).calls
    reasons = {one.name: one.reason for one in call.lacking}
    assert reasons["mixed_float16"] == "it is about real numbers, and these are complex"


def test_equal_infinities_are_not_where_two_arrays_differ() -> None:
    inf, nan = np.inf, np.nan
    assert furthest(np.array([inf, 1.0, nan]), np.array([inf, 1.5, nan])) == (1,)
    assert furthest(np.array([1.0, 2.0]), np.array([9.0, nan])) == (1,)
