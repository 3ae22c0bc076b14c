"""Gradient calls that no tape can answer, and programs that end over them: each in the user's terms."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf
from tests.audit.crashing import audited

import gradproof
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Report

pytestmark = pytest.mark.tensorflow

HEAD = "import numpy as np\nimport tensorflow as tf\n"


def report(folder: Path, body: str) -> Report:
    return audited(folder, HEAD + body)


def only(report: Report) -> tuple[GradientReport, Diagnostic]:
    [gradient] = report.gradients
    [cause] = gradient.diagnostics
    return gradient, cause


def crash_of(report: Report) -> Diagnostic:
    assert report.script is not None and report.script.crash is not None
    return report.script.crash


def test_arguments_that_are_exchanged_are_told(tmp_path: Path) -> None:
    body = "x = tf.Variable(3.0)\nwith tf.GradientTape() as tape:\n    y = x * x\ntape.gradient(x, y)\n"
    gradient, cause = only(report(tmp_path, body))
    assert (str(gradient.verdict), cause.kind, cause.span and cause.span.line) == (
        "missing",
        "not-connected",
        6,
    )
    assert "`y` was computed from `x`" in cause.headline


@pytest.mark.parametrize(
    ("target", "source", "kind", "words"),
    [
        ("w * 2.0", "3.0", "not-watched", "`x` is a plain number"),
        ("w * 2.0", "np.ones(2)", "not-watched", "`x` is a NumPy array"),
        ("3.0 * 3.0", "w", "not-connected", "`y` is a plain number"),
    ],
)
def test_plain_numbers_in_the_place_of_tensors_are_told(
    target: str, source: str, kind: str, words: str, tmp_path: Path
) -> None:
    opened = "with tf.GradientTape() as tape:"
    body = f"w = tf.Variable(2.0)\nx = {source}\n{opened}\n    y = {target}\ntape.gradient(y, x)\n"
    gradient, cause = only(report(tmp_path, body))
    assert (str(gradient.verdict), cause.kind) == ("missing", kind)
    assert words in cause.headline


def test_what_went_through_a_data_set_or_through_text_has_no_value_that_could_be_given(
    tmp_path: Path,
) -> None:
    through_data = (
        "x = tf.Variable([1.0, 2.0])\nwith tf.GradientTape() as tape:\n    y = 0.0\n"
        "    for e in tf.data.Dataset.from_tensor_slices(x):\n        y += e * e\ntape.gradient(y, x)\n"
    )
    gradient, cause = only(report(tmp_path, through_data))
    assert (cause.kind, cause.span and cause.span.line, gradient.reference) == ("not-connected", 6, None)
    assert "data set" in cause.headline
    through_text = (
        "x = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n"
        "    y = tf.strings.to_number(tf.strings.as_string(x))\ntape.gradient(y, x)\n"
    )
    gradient, cause = only(report(tmp_path, through_text))
    assert (cause.kind, cause.span and cause.span.line, gradient.reference) == (
        "no-gradient-registered",
        5,
        None,
    )


NOT_WATCHED = "x = tf.constant(3.0)\nwith tf.GradientTape() as tape:\n    y = x * x\n"


@pytest.mark.parametrize("use", ["tape.gradient(y, x).numpy()", "x = x - 0.1 * tape.gradient(y, x)"])
def test_a_line_that_uses_the_missing_gradient_it_asks_for_is_certainly_to_blame(
    use: str, tmp_path: Path
) -> None:
    crash = crash_of(report(tmp_path, NOT_WATCHED + use + "\n"))
    assert (crash.certainty, crash.headline) == (
        "measured",
        "line 6 uses the gradient it asks for, and there is none",
    )


def test_a_name_that_is_none_is_named_where_a_helper_returned_it(tmp_path: Path) -> None:
    body = (
        "def step(x):\n    with tf.GradientTape() as tape:\n        y = x * x\n    return tape.gradient(y, x)\n"
        "d = step(tf.constant(3.0))\nprint(2.0 * d)\n"
    )
    crash = crash_of(report(tmp_path, body))
    assert crash.certainty == "likely"
    assert crash.headline.startswith("`d` is None where line 8 uses it")


def test_a_crash_for_another_reason_is_not_blamed_on_a_missing_gradient(tmp_path: Path) -> None:
    found = report(tmp_path, NOT_WATCHED + "g = tape.gradient(y, x)\nprint(1 / 0)\n")
    assert found.script is not None and found.script.crash is None


def test_a_function_that_has_moved_is_named_and_the_gradient_is_had_with_it(tmp_path: Path) -> None:
    body = "x = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = tf.log(x)\ntape.gradient(y, x)\n"
    found = report(tmp_path, body)
    crash = crash_of(found)
    assert crash.fix is not None and crash.fix.text == "call `tf.math.log`"
    [gradient] = found.gradients
    assert (str(gradient.verdict), float(gradient.reference or 0.0)) == ("missing", 0.5)
    assert "with `tensorflow.math.log` in its place TensorFlow returns 0.5" in (gradient.reason or "")
    assert not hasattr(tf, "log")


def test_a_tape_that_is_asked_twice_is_told_to_be_persistent(tmp_path: Path) -> None:
    asked = "tape.gradient(y, x)\n"
    body = f"x = tf.Variable(2.0)\nwith tf.GradientTape() as tape:\n    y = x * x\n{asked}{asked}"
    found = report(tmp_path, body)
    crash = crash_of(found)
    assert crash.span is not None and crash.span.line == 7
    assert [one.span.line for one in crash.secondary] == [4, 6]
    assert crash.fix is not None and "+with tf.GradientTape(persistent=True) as tape:" in crash.fix.patch
    assert [str(one.verdict) for one in found.gradients] == ["correct", "missing"]
    assert found.gradients[1].reference == 4.0


def test_tf_gradients_outside_of_a_graph_is_an_entry(tmp_path: Path) -> None:
    [gradient] = report(tmp_path, "x = tf.Variable(2.0)\ny = x * x\ntf.gradients(y, x)\n").gradients
    assert gradient.call.line == 5
    assert (gradient.reason or "").startswith("RuntimeError: tf.gradients is not supported")


def test_check_judges_each_gradient_by_its_own_paths() -> None:
    def weighted(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return a * a * float(a * b)

    came, missing = gradproof.check(weighted, tf.constant(2.0), tf.constant(3.0)).gradients
    assert (came.source, str(came.verdict), came.reference) == ("a", "correct", 24.0)
    assert [(one.kind, one.severity) for one in came.diagnostics] == [("left-framework", "warning")]
    assert (missing.source, str(missing.verdict), missing.reference) == ("b", "missing", 8.0)
