"""Crashes are explained in the user's terms, and the gradients they prevented are still had where possible."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from gradproof.judge.verdict import Verdict
from tests.audit.crashing import audited

pytestmark = pytest.mark.tensorflow

FLOAT_CONDITION = """\
import tensorflow as tf
def f(x):
    condition = tf.cast(x > 0.5, tf.float32)
    y = tf.where(condition, x * 2, x / 2)
    return y ** 2
x = tf.Variable(POINT)
with tf.GradientTape() as tape:
    loss = f(x)
g = tape.gradient(loss, x)
"""
FINITE_DIFFERENCE = """\
import tensorflow as tf
@tf.custom_gradient
def my_op(x):
    y = tf.sin(x)
    def grad(dy):
        RULE
    return y, grad
x = tf.constant(2.0, dtype=tf.float64)
with tf.GradientTape() as tape:
    y = my_op(x)
slope = tape.gradient(y, x)
print(slope.numpy())
"""
NO_SUCH_FUNCTION = """\
import tensorflow as tf
def f(x):
    return tf.reduce_sum(tf.sin(x))
x = tf.constant([1.0, 2.0], dtype=tf.float64)
for epsilon in [STEP]:
    tf.gradient_check_numercial(f, [x], epsilon=epsilon)
"""


def test_a_float_given_to_where_is_named_with_its_line_and_the_jump_behind_it_too(tmp_path: Path) -> None:
    report = audited(tmp_path, FLOAT_CONDITION.replace("POINT", "0.5"))
    assert report.script is not None
    crash = report.script.crash
    assert crash is not None and crash.span is not None
    assert crash.headline == "`tf.where` needs a boolean, and `condition` is float32"
    assert crash.span.line == 4
    assert [one.span.line for one in crash.secondary] == [3]
    assert crash.fix is not None
    assert crash.fix.patch.endswith("+    y = tf.where(tf.cast(condition, tf.bool), x * 2, x / 2)")
    assert "line 9, where TensorFlow returns 0.25 for `x`" in crash.fix.checked
    [gradient] = report.gradients
    assert (str(gradient.verdict), gradient.call.line, gradient.computed) == ("missing", 9, False)
    assert (gradient.target, gradient.source) == ("loss", "x")
    assert gradient.one_sided is not None
    assert [side.item() for side in gradient.one_sided] == [0.25, 4.0]
    assert [(one.kind, one.severity) for one in gradient.diagnostics] == [("jump", "warning")]


def test_away_from_the_jump_the_gradient_that_was_prevented_has_its_value(tmp_path: Path) -> None:
    [gradient] = audited(tmp_path, FLOAT_CONDITION.replace("POINT", "2.0")).gradients
    assert gradient.verdict is Verdict.MISSING
    assert gradient.reference is not None
    assert gradient.reference.item() == 16.0
    assert "with the crash fixed TensorFlow returns 16.0, which is correct" in (gradient.reason or "")


def test_operands_of_two_dtypes_are_named(tmp_path: Path) -> None:
    text = """\
import tensorflow as tf
x = tf.Variable(3.0)
scale = tf.constant(2.0, tf.float64)
with tf.GradientTape() as tape:
    loss = x * scale
g = tape.gradient(loss, x)
"""
    report = audited(tmp_path, text)
    assert report.script is not None and report.script.crash is not None
    assert report.script.crash.headline == "`x * scale` needs float32 here, and `scale` is float64"
    [gradient] = report.gradients
    assert gradient.reference is not None and gradient.reference.item() == 2.0


def test_a_crash_after_the_target_was_computed_leaves_the_gradient_to_be_had(tmp_path: Path) -> None:
    text = """\
import tensorflow as tf
x = tf.Variable(3.0)
for step in range(2):
    with tf.GradientTape() as tape:
        loss = x * x
    if step == 1:
        raise RuntimeError("the disk is full")
    g = tape.gradient(loss, x)
"""
    report = audited(tmp_path, text)
    assert [str(one.verdict) for one in report.gradients] == ["correct", "missing"]
    last = report.gradients[-1]
    assert (last.call.line, last.occurrence) == (8, 2)
    assert last.reference is not None and last.reference.item() == 6.0
    assert "RuntimeError: the disk is full" in (last.reason or "")


def test_a_crash_inside_the_tape_leaves_an_entry_with_the_exception(tmp_path: Path) -> None:
    text = """\
import tensorflow as tf
x = tf.Variable([3.0, 4.0])
loss = 1.0  # must not be taken for the target
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(x * tf.ones([3]))
g = tape.gradient(loss, [x])
"""
    [gradient] = audited(tmp_path, text).gradients
    assert (str(gradient.verdict), gradient.source, gradient.shape) == ("missing", "x", (2,))
    assert gradient.reference is None
    assert "Incompatible shapes" in (gradient.reason or "")


def test_nothing_outside_the_process_is_done_twice(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    text = FLOAT_CONDITION.replace("POINT", "2.0").replace(
        "    loss = f(x)",
        f"    with open({str(log)!r}, 'a') as log: print('hello', file=log)\n    loss = f(x)",
    )
    [gradient] = audited(tmp_path, text).gradients
    assert log.read_text() == "hello\n"
    assert gradient.reference is None


def test_a_rule_that_never_ran_is_tried_after_the_end(tmp_path: Path) -> None:
    rule = "return dy * (tf.sin(x + 0.001) - tf.sin(x)) / 0.001"
    report = audited(tmp_path, FINITE_DIFFERENCE.replace("RULE", rule))
    [gradient] = report.gradients
    assert gradient.verdict is Verdict.MISSING
    kinds = [(one.kind, one.severity, one.span and one.span.line) for one in gradient.diagnostics]
    assert kinds == [("not-watched", "error", 11), ("custom-gradient", "warning", 6)]
    assert ("rule alone", "-0.4166014159") in gradient.diagnostics[1].evidence
    assert report.script is not None and report.script.crash is not None
    assert report.script.crash.headline == "`slope` holds no gradient, and line 12 uses it"


def test_a_right_rule_that_never_ran_is_said_to_be_right(tmp_path: Path) -> None:
    [gradient] = audited(tmp_path, FINITE_DIFFERENCE.replace("RULE", "return dy * tf.cos(x)")).gradients
    [cause] = gradient.diagnostics
    assert cause.kind == "not-watched"
    assert "-0.4161468365471424, which is the derivative" in cause.notes[-1]


def test_a_function_that_does_not_exist_is_named_with_what_to_call_instead(tmp_path: Path) -> None:
    report = audited(tmp_path, NO_SUCH_FUNCTION.replace("STEP", "1e-6"))
    assert report.script is not None
    crash = report.script.crash
    assert crash is not None and crash.span is not None
    assert crash.headline == "TensorFlow has no function `tf.gradient_check_numercial`"
    assert crash.span.line == 6
    assert "`tf.test.compute_gradient`" in crash.why
    assert "`gradproof.gradient_check_numerical`" in crash.why
    assert crash.evidence[0][1].startswith("serves here")
    [gradient] = report.gradients
    assert (str(gradient.verdict), gradient.call.line) == ("missing", 6)
    assert gradient.reference is not None
    assert gradient.reference.tolist() == pytest.approx([math.cos(1.0), math.cos(2.0)], rel=1e-14)


def test_an_epsilon_that_would_not_have_served_is_said_so(tmp_path: Path) -> None:
    report = audited(tmp_path, NO_SUCH_FUNCTION.replace("STEP", "1e-13"))
    assert report.script is not None and report.script.crash is not None
    [(label, text)] = report.script.crash.evidence
    assert label == "epsilon 1e-13"
    assert text.startswith("does not serve here: epsilon 1e-13 is too small")


def test_a_slip_of_the_keyboard_is_met_with_the_name_that_is_there(tmp_path: Path) -> None:
    report = audited(tmp_path, "import tensorflow as tf\ntf.reduce_summ([1.0])\n")
    assert report.script is not None and report.script.crash is not None
    assert report.script.crash.fix is not None
    assert report.script.crash.fix.text == "call `tf.reduce_sum`"
    assert report.gradients == ()


def test_a_program_that_ends_well_has_no_crash(tmp_path: Path) -> None:
    text = FLOAT_CONDITION.replace("POINT", "2.0").replace("tf.cast(x > 0.5, tf.float32)", "x > 0.5")
    report = audited(tmp_path, text)
    assert report.script is not None and report.script.crash is None
    assert [str(one.verdict) for one in report.gradients] == ["correct"]


def test_a_fault_of_ours_in_the_explanation_leaves_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr("gradproof.frontends.tensorflow.after.crash.find_mismatch", fail)
    text = FLOAT_CONDITION.replace("POINT", "2.0").replace("x = tf", "x = y = tf", 1)
    report = audited(tmp_path, text)
    assert report.script is not None and report.script.crash is None
    assert report.script.exception is not None
    assert "a fault of gradproof" in report.notes[0] and "planted" in report.notes[0]
