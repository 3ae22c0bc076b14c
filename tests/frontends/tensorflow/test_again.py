"""Derivatives of derivatives: custom gradients and hidden `stop_gradient`s are held to what they stand for."""

from __future__ import annotations

import textwrap
from pathlib import Path

import numpy as np
import pytest
from tests.audited import audited

from gradproof.diagnosis.report import GradientReport

tf = pytest.importorskip("tensorflow")

HEAD = """
import tensorflow as tf
weights = tf.constant([1.5, 0.7, -0.4], tf.float64)
point = [0.3, -0.2, 0.8]
x = tf.Variable(point, dtype=tf.float64)
"""
SECOND = """
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = tf.reduce_sum(f(x) * weights)
    g = inner.gradient(y, x)
    t = tf.reduce_sum(g * x)
again = outer.gradient(t, x)
"""
ALONE = SECOND.replace("t = tf.reduce_sum(g * x)", "t = g")
IN_FUNCTION = """
@tf.function{options}
def second(x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(f(x) * weights)
        g = inner.gradient(y, x)
        t = tf.reduce_sum(g * x)
    return outer.gradient(t, x)
again = second(tf.constant(point, tf.float64))
"""
FORWARD = """
with tf.autodiff.ForwardAccumulator(x, tf.constant(point, tf.float64)) as accumulator:
    with tf.GradientTape() as inner:
        y = tf.reduce_sum(f(x) * weights)
    g = inner.gradient(y, x) * x
again = accumulator.jvp(g)
"""
ROWS = SECOND.replace("tf.reduce_sum(g * x)", "g * x").replace("outer.gradient(t, x)", "outer.jacobian(t, x)")
JITTED = IN_FUNCTION.format(options="(jit_compile=True)")
PLAIN = IN_FUNCTION.format(options="")

SOFT = """
@tf.custom_gradient
def f(x):
    y = tf.sqrt(x * x + 0.01)
    def backward(up):
        return up * {slope}  #~
    return y, backward
"""
NESTED = """
@tf.custom_gradient
def f(x):
    def backward(up):
        @tf.custom_gradient
        def slope(up, x):
            def second(v):
                return v * 3.0 * x ** 2, v * up * {factor} * x  #~
            return up * 3.0 * x ** 2, second
        return slope(up, x)
    return x ** 3, backward
"""
MOMENTS = """
def f(x):
    mean, variance = tf.nn.moments(x, [0])  #~
    return (x - mean) / tf.sqrt(variance + 0.1)
"""
OWN_STOP = """
def f(x, constant=tf.stop_gradient):
    mean = tf.reduce_mean(x)
    return (x - mean) / tf.sqrt(tf.reduce_mean((x - constant(mean)) ** 2) + 0.1)
"""
FROZEN = SOFT.format(slope="tf.stop_gradient(x / y)")


def _last(tmp_path: Path, *parts: str) -> tuple[GradientReport, int]:
    """The last gradient of a script, and the line that it marks."""
    script = tmp_path / "script.py"
    text = textwrap.dedent("\n".join((HEAD, *parts)))
    script.write_text(text, encoding="utf-8")
    report, faults = audited(script)
    assert not faults
    marked = [k for k, line in enumerate(text.split("\n"), 1) if line.endswith("#~")]
    *before, last = report.gradients
    assert all(one.verdict.value == "correct" for one in before), "the first derivatives are right"
    return last, (marked or [0])[0]


def _said(report: GradientReport) -> list[tuple[str, str, int]]:
    return [(d.kind, d.severity, d.primary.span.line if d.primary else 0) for d in report.diagnostics]


def _soft_second(x: np.ndarray) -> np.ndarray:
    """d/dx of sum(w * x * x / sqrt(x^2 + c))."""
    c, w = np.float64(0.01), np.array([1.5, 0.7, -0.4])
    r = np.sqrt(x * x + c)
    return w * (x / r + x * c / r**3)


@pytest.mark.parametrize("how", [SECOND, PLAIN, JITTED], ids=["eager", "function", "jit"])
def test_a_slope_behind_stop_gradient_makes_the_second_derivative_wrong(tmp_path: Path, how: str) -> None:
    report, line = _last(tmp_path, FROZEN, how)
    assert report.verdict.value == "wrong"
    assert _said(report) == [("custom-gradient", "error", line)]
    np.testing.assert_allclose(report.reference, _soft_second(np.array([0.3, -0.2, 0.8])), rtol=1e-12)


def test_forward_over_reverse_and_rows_of_a_jacobian_are_held_to_the_same(tmp_path: Path) -> None:
    for how in (FORWARD, ROWS):
        report, line = _last(tmp_path, FROZEN, how)
        assert (report.verdict.value, _said(report)) == ("wrong", [("custom-gradient", "error", line)])
        report, _ = _last(tmp_path, SOFT.format(slope="x / y"), how)
        assert report.verdict.value == "correct"


@pytest.mark.parametrize("how", [SECOND, PLAIN], ids=["eager", "function"])
def test_a_slope_computed_from_the_inputs_is_right_in_both_orders(tmp_path: Path, how: str) -> None:
    report, _ = _last(tmp_path, SOFT.format(slope="x / y"), how)
    assert (report.verdict.value, _said(report)) == ("correct", [])


def test_a_missing_second_derivative_comes_with_the_value_it_would_have_had(tmp_path: Path) -> None:
    report, _ = _last(tmp_path, SOFT.format(slope="(x / y).numpy()"), ALONE)
    c, w, x = 0.01, np.array([1.5, 0.7, -0.4]), np.array([0.3, -0.2, 0.8])
    assert report.verdict.value == "missing"
    np.testing.assert_allclose(report.reference, w * c / (x * x + c) ** 1.5, rtol=1e-12)


def test_a_rule_that_returns_a_constant_is_to_blame_for_none(tmp_path: Path) -> None:
    square = """
        @tf.custom_gradient
        def f(x):
            def backward(up):
                return up * tf.constant(point, tf.float64)  #~
            return x ** 2 / 2.0, backward
    """
    report, line = _last(tmp_path, textwrap.dedent(square), ALONE)
    assert (report.verdict.value, _said(report)) == ("missing", [("custom-gradient", "error", line)])
    np.testing.assert_allclose(report.reference, [1.5, 0.7, -0.4], rtol=1e-6)


def test_the_recommended_way_is_right_and_its_own_rule_is_tried_alone(tmp_path: Path) -> None:
    report, _ = _last(tmp_path, NESTED.format(factor="6.0"), SECOND)
    assert report.verdict.value == "correct"
    report, line = _last(tmp_path, NESTED.format(factor="3.0"), SECOND)
    assert (report.verdict.value, _said(report)) == ("wrong", [("custom-gradient", "error", line)])


@pytest.mark.parametrize("how", [SECOND, PLAIN], ids=["eager", "function"])
def test_a_stop_gradient_that_only_second_derivatives_feel_is_a_fault_of_the_library(
    tmp_path: Path, how: str
) -> None:
    report, line = _last(tmp_path, MOMENTS, how)
    assert (report.verdict.value, _said(report)) == ("wrong", [("framework-rule", "error", line)])
    assert "tf.nn.moments" in report.diagnostics[0].headline
    plain, _ = _last(tmp_path, OWN_STOP.replace("constant=tf.stop_gradient", "constant=tf.identity"), how)
    assert plain.verdict.value == "correct"
    np.testing.assert_allclose(report.reference, plain.reference, rtol=1e-9)


def test_a_stop_gradient_of_the_users_is_taken_by_the_letter_under_any_name(tmp_path: Path) -> None:
    report, _ = _last(tmp_path, OWN_STOP, SECOND)
    assert (report.verdict.value, _said(report)) == ("correct", [])


@pytest.mark.parametrize("f", ["tf.reduce_logsumexp(x) * x", "tf.nn.silu(x)"])
def test_what_is_neutral_in_every_order_raises_no_alarm(tmp_path: Path, f: str) -> None:
    report, _ = _last(tmp_path, f"def f(x):\n    return {f}\n", SECOND)
    assert (report.verdict.value, _said(report)) == ("correct", [])
