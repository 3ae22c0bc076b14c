"""Causes that have more than one story to tell: each is told in the words that fit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gradproof
from tests.audited import audited

LOOP = """
import tensorflow as tf
w = tf.Variable(1.0)
with tf.GradientTape(persistent=True) as tape:
    for step in range(ROUNDS):
        loss = (w - 3.0) ** 2
        g = tape.gradient(loss, w)
        w.assign_sub(0.1 * g)
"""
NORMALISED = """
import tensorflow as tf
x = tf.random.stateless_normal([4, 3], [1, 2])
with tf.GradientTape() as tape:
    tape.watch(x)
    centred = x - tf.reduce_mean(x, axis=AXIS, keepdims=True)
    y = centred * tf.sin(x)
tape.batch_jacobian(y, x)
"""


@pytest.mark.tensorflow
def test_a_persistent_tape_around_a_loop_is_told_and_not_every_round_is_checked(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "loop.py").write_text(LOOP.replace("ROUNDS", "12"))
    rows = audited(tmp_path / "loop.py")[0].gradients
    assert [(one.occurrence, one.verdict.value) for one in rows] == [(n, "correct") for n in (1, 2, 10)]
    (found,) = rows[-1].diagnostics
    assert (found.kind, found.severity, found.primary.span.line) == ("graph-grows", "warning", 4)


@pytest.mark.tensorflow
def test_a_few_calls_inside_the_block_are_no_growth(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "loop.py").write_text(LOOP.replace("ROUNDS", "3"))
    assert not any(one.diagnostics for one in audited(tmp_path / "loop.py")[0].gradients)


@pytest.mark.tensorflow
@pytest.mark.parametrize(("axis", "kinds"), [("0", ["framework-rule"]), ("1", [])])
def test_a_jacobian_by_examples_that_depend_on_each_other_is_named(
    axis: str, kinds: list[str], tmp_path: Path
) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "rows.py").write_text(NORMALISED.replace("AXIS", axis))
    (row,) = audited(tmp_path / "rows.py")[0].gradients
    assert [one.kind for one in row.diagnostics] == kinds
    if kinds:
        assert row.verdict.value == "wrong" and "depend on each other" in row.diagnostics[0].headline
        assert row.diagnostics[0].primary.span.line == 6


@pytest.mark.tensorflow
def test_a_second_jacobian_of_a_persistent_tape_is_recorded_to_its_end(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    text = NORMALISED.replace("AXIS", "0").replace("Tape()", "Tape(persistent=True)")
    (tmp_path / "rows.py").write_text(text + "tape.batch_jacobian(y, x)\n")
    rows = audited(tmp_path / "rows.py")[0].gradients
    assert [(row.call.line, row.verdict.value) for row in rows] == [(8, "wrong"), (9, "wrong")]


def test_an_arc_that_ends_at_its_clip_has_no_slope_however_its_argument_was_computed() -> None:
    turn = np.array([1.0, 0.0])
    (row,) = gradproof.check(lambda u: np.arccos(np.minimum(u @ np.array([1.0, 0.0]), 1.0)), turn).gradients
    assert row.verdict.value == "undefined"
    assert "singular-point" in [one.kind for one in row.diagnostics]


@pytest.mark.parametrize(
    ("function", "at", "named"),
    [
        ("xlog1py(0.1, y)", -1.0, "y = -1"),
        ("xlogy(0.1, y)", 0.0, "y = 0"),
        ("betainc(0.5, 0.7, y)", 2.0, "y = 2"),
        ("gammainc(y, 0.5)", -1.0, "y = -1"),
    ],
)
def test_the_argument_outside_the_domain_is_the_one_that_is_named(
    function: str, at: float, named: str
) -> None:
    special = pytest.importorskip("scipy.special")
    shown: dict[str, object] = {}
    exec(f"def f(y): return {function}", {**vars(special)}, shown)
    report = gradproof.check(shown["f"], np.float64(at))  # type: ignore[arg-type]
    said = [one.headline for row in report.gradients for one in row.diagnostics]
    assert any(named in one for one in said), said


STATES = """
import tensorflow as tf
text, frozen, held = tf.constant("a"), tf.Variable(2.0, trainable=False), tf.Variable(2.0)
with tf.GradientTape() as tape:
    tape.watch(text)
print(tape.gradient(text, text))
with tf.GradientTape() as tape:
    y = frozen * frozen
tape.gradient(y, frozen)
with tf.GradientTape(watch_accessed_variables=False) as tape:
    y = held * held
tape.gradient(y, held)
"""


@pytest.mark.tensorflow
def test_text_is_no_number_and_a_variable_is_not_told_to_become_one(tmp_path: Path) -> None:
    pytest.importorskip("tensorflow")
    (tmp_path / "states.py").write_text(STATES)
    text, frozen, held = (one.diagnostics[0] for one in audited(tmp_path / "states.py")[0].gradients)
    assert text.kind == "integer-dtype" and "text cannot change by a little" in text.why
    assert frozen.fix.text.endswith("before you use it; if `frozen` is a parameter, make it trainable")
    assert held.fix.text.endswith("before you use it")
