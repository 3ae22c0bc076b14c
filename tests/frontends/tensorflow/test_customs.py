"""Custom gradients: scopes, rules, and what went through them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tests.audited import audited

import gradproof
from gradproof.frontends.tensorflow.hooks import observe

pytestmark = pytest.mark.tensorflow

GATE = """
import tensorflow as tf

@tf.custom_gradient
def gate(a, b):
    s = tf.sigmoid(a)
    def backward(up):
        return up * b * s * (1 - s), s
    return s * b, backward

a, b = tf.Variable([0.2, 0.4]), tf.Variable([1.0, -1.0])
with tf.GradientTape() as tape:
    y = tf.reduce_sum(3.0 * gate(a, b))
tape.gradient(y, [a, b])
"""
DIFFERENCE = """
import tensorflow as tf

@tf.custom_gradient
def sine(x):
    def backward(up):
        return up * (tf.sin(x + 1e-6) - tf.sin(x)) / 1e-6
    return tf.sin(x), backward

x = tf.Variable(1.0)
with tf.GradientTape() as tape:
    y = sine(x)
tape.gradient(y, x)
"""

WITH_VARIABLES = """
import tensorflow as tf
v = tf.Variable(3.0)

@tf.custom_gradient
def product(x):
    def backward(up, *, variables=None):
        return 4.0 * v * up, [{factor} * x * up]
    return x * v, backward

@tf.custom_gradient
def mixed(x, w):
    def backward(up):
        return up @ tf.transpose(w), tf.ones_like(w)
    return x @ w, backward

x, w = tf.Variable(6.0), tf.Variable(tf.ones((4, 3)))
with tf.GradientTape(persistent=True) as tape:
    y = product(x)
    z = tf.reduce_sum(mixed(tf.ones((2, 4)), w))
tape.gradient(y, x)
tape.gradient(z, w)
"""


@tf.custom_gradient
def square(x):
    def rule(upstream):
        return upstream * 2.0 * x

    return x * x, rule


def test_a_custom_gradient_is_a_scope_with_its_rule():
    with observe() as seen:
        x = tf.Variable([1.5, 2.0])
        with tf.GradientTape() as tape:
            y = 3.0 * square(x)
        tape.gradient(y, x)
    (call,) = seen.calls
    (scope,) = call.scopes
    assert (scope.name, scope.kind, scope.complete) == ("square", "custom_gradient", True)
    assert scope.definition.file == __file__
    np.testing.assert_array_equal(scope.inputs[0].array, [1.5, 2.0])
    np.testing.assert_array_equal(scope.outputs[0].array, [2.25, 4.0])
    forward = [event.op for event in call.events if event.scope == scope.id]
    assert "Mul" in forward
    (rule,) = [pullback for pullback in call.pullbacks if pullback.scope == scope.id]
    np.testing.assert_array_equal(rule.upstream[0].array, [3.0, 3.0])
    np.testing.assert_array_equal(rule.results[0].array, [9.0, 12.0])
    inside = [event for event in call.events if event.pullback == rule.id]
    assert [event.op for event in inside].count("Mul") == 2
    assert {event.span.file for event in inside} == {__file__}


def test_a_custom_gradient_with_variables_names_them():
    with observe() as seen:
        w = tf.Variable(2.0)

        @tf.custom_gradient
        def scaled(x):
            def rule(upstream, variables=None):
                return upstream * w, [upstream * x for _ in variables]

            return x * w, rule

        x = tf.constant(3.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x)
        tape.gradient(y, [x, w])
    (call,) = seen.calls
    (scope,) = call.scopes
    assert scope.variables == (call.sources[1].variable.id,)
    assert len(scope.inputs) == 2
    assert [one.array.tolist() for one in call.observed] == [2.0, 3.0]


def test_custom_gradients_nest():
    with observe() as seen:

        @tf.custom_gradient
        def fourth(x):
            inner = square(x)
            return square(inner), lambda upstream: upstream * 4.0 * x**3

        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = fourth(x)
        tape.gradient(y, x)
    (call,) = seen.calls
    outer = next(scope for scope in call.scopes if scope.name == "fourth")
    assert [scope.parent for scope in call.scopes if scope.name == "square"] == [outer.id, outer.id]
    assert call.observed[0].array == 32.0


def test_a_custom_gradient_inside_a_function():
    with observe() as seen:

        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = 3.0 * square(x)
            return tape.gradient(y, x)

        step(tf.constant(2.0))
    (call,) = seen.calls
    (scope,) = call.scopes
    assert scope.name == "square"
    assert scope.inputs[0].array == 2.0
    assert scope.outputs[0].array == 4.0
    (rule,) = [pullback for pullback in call.pullbacks if pullback.scope == scope.id]
    assert rule.upstream[0].array == 3.0
    assert rule.results[0].array == 12.0
    assert [event.op for event in call.events if event.pullback == rule.id].count("Mul") == 2


def test_a_custom_gradient_in_a_function_under_a_tape():
    with observe() as seen:

        @tf.function
        def model(x):
            return 3.0 * square(x)

        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = model(x)
        tape.gradient(y, x)
    (call,) = seen.calls
    (scope,) = call.scopes
    (rule,) = [pullback for pullback in call.pullbacks if pullback.scope == scope.id]
    assert rule.upstream[0].array == 3.0
    assert rule.results[-1].array == 12.0


def test_recomputation_is_a_scope_that_runs_its_forward_twice():
    with observe() as seen:
        w = tf.Variable(0.5)

        def block(h):
            return tf.tanh(h * w)

        checkpointed = tf.recompute_grad(block)
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = checkpointed(x)
        tape.gradient(y, [x, w])
    (call,) = seen.calls
    scope = call.scopes[0]
    assert (scope.kind, scope.name) == ("recompute_grad", "block")
    assert scope.definition.file == __file__
    tanh = [event for event in call.events if event.op == "Tanh"]
    assert [event.phase for event in tanh] == ["forward", "backward"]
    assert tanh[0].tapes == ()
    rule = next(pullback for pullback in call.pullbacks if pullback.scope == scope.id)
    inner = next(pullback for pullback in call.pullbacks if pullback.op == "Tanh")
    assert inner.parent == rule.id
    assert call.events[inner.forward].phase == "backward"


def test_a_pass_through_is_marked_as_such():
    with observe() as seen:
        x = tf.Variable(1.4)
        with tf.GradientTape() as tape:
            y = tf.grad_pass_through(tf.round)(x)
        tape.gradient(y, x)
    (call,) = seen.calls
    assert [scope.kind for scope in call.scopes] == ["grad_pass_through"]
    assert call.observed[0].array == 1.0


def test_a_custom_gradient_differentiated_twice():
    with observe() as seen:
        x = tf.Variable(1.5)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = square(x)
            slope = inner.gradient(y, x)
        outer.gradient(slope, x)
    second = seen.calls[1]
    assert second.observed[0].array == 2.0
    rule = next(pullback for pullback in second.pullbacks if pullback.scope is not None)
    inside = [event for event in second.events if event.pullback == rule.id]
    assert {event.phase for event in inside} == {"forward"}
    assert all(second.tape.id in event.tapes for event in inside)


def test_forward_mode_gives_tangents_and_result():
    with observe() as seen:
        x = tf.Variable([1.0, 2.0])
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as forward:
            y = tf.sin(x) * x
        forward.jvp(y)
    (call,) = seen.calls
    assert call.api == "jvp"
    assert (call.targets[0].name, call.sources[0].name) == ("y", "x")
    assert call.tangents[0].array.tolist() == [1.0, 0.0]
    np.testing.assert_allclose(call.observed[0].array, [np.sin(1.0) + np.cos(1.0), 0.0], rtol=1e-6)
    plain = [event.op for event in call.events if event.call is None]
    assert plain == ["ReadVariableOp", "Sin", "ReadVariableOp", "Mul"]


@tf.custom_gradient
def slope_alone(x):
    return tf.sin(x), lambda upstream: tf.cos(x)


def _kinds(report):
    return [[one.kind for one in gradient.diagnostics] for gradient in report.gradients]


@pytest.mark.parametrize("mode", [lambda f: f, tf.function], ids=["eager", "function"])
def test_a_rule_that_ignores_what_comes_in_is_told_where_one_comes_in(mode):
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = slope_alone(x)
        return tape.gradient(y, x)

    with gradproof.watch() as report:
        mode(step)(tf.constant(0.5))
    assert _kinds(report) == [["custom-gradient"]]


@pytest.mark.parametrize("inside", [False, True], ids=["function", "tape inside"])
def test_a_rule_in_a_graph_that_ignores_what_was_never_computed_is_named(inside):
    def four_times(x):
        return 4.0 * slope_alone(x)

    def step(x, f=four_times):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    with gradproof.watch() as report:
        if inside:
            tf.function(step)(tf.constant(0.5))
        else:
            step(tf.constant(0.5), lambda x: 4.0 * tf.function(slope_alone)(x))
    assert _kinds(report) == [["custom-gradient"]]
    (told,) = report.gradients[0].diagnostics
    assert (told.severity, told.primary.span.line) == ("error", slope_alone_line())
    assert "ignores" in told.headline and "result is right" not in told.why


def slope_alone_line():
    return next(
        k
        for k, line in enumerate(Path(__file__).read_text(encoding="utf-8").split("\n"), 1)
        if "lambda upstream: tf.cos(x)" in line
    )


@pytest.mark.parametrize("mode", [lambda f: f, tf.function], ids=["eager", "function"])
def test_a_gradient_that_comes_in_by_rows_is_not_taken_for_one_that_is_ignored(mode):
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    twice = tf.custom_gradient(lambda x: (x * x, lambda upstream: 2.0 * x * upstream))

    def step():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(twice(table), [0, 2]) ** 2)
        return tape.gradient(y, table)

    with gradproof.watch() as report:
        mode(step)()
    assert _kinds(report) == [[]]


def test_all_reads_of_a_variable_that_is_no_source_are_one_number_to_a_rule():
    """Told apart they make every such rule look wrong for the variable, and its mistake for the source is not found."""
    v, x = tf.Variable(3.0), tf.Variable(6.0)

    @tf.custom_gradient
    def scaled(x):
        def rule(upstream, *, variables=None):
            return 4.0 * v * upstream, [x * upstream for _ in variables]

        return x * v, rule

    with gradproof.watch() as report, tf.GradientTape() as tape:
        y = scaled(x)
        tape.gradient(y, x)
    (found,) = report.gradients
    (cause,) = found.diagnostics
    assert (found.verdict.value, cause.kind) == ("wrong", "custom-gradient")
    assert "4 times too large" in cause.headline


def test_reads_before_and_after_an_assignment_are_two_numbers():
    v, x = tf.Variable(3.0), tf.Variable(6.0)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = x * v
            v.assign(5.0)
            y = y + x * x * v
        tape.gradient(y, x)
    (found,) = report.gradients
    assert (found.verdict.value, float(found.reference)) == ("correct", 63.0)


def test_a_result_that_a_rule_only_hands_on_is_blamed_on_the_rule_and_not_on_the_forward(tmp_path: Path):
    script = tmp_path / "gate.py"
    script.write_text(GATE)
    report, faults = audited(script)
    (wrong,) = [one for one in report.gradients if one.verdict.value == "wrong"]
    (cause,) = wrong.diagnostics
    assert (wrong.source, cause.kind, cause.primary.span.line, faults) == ("b", "custom-gradient", 8, ())


def test_the_step_of_a_difference_is_found_where_the_argument_is_a_variable(tmp_path: Path):
    script = tmp_path / "difference.py"
    script.write_text(DIFFERENCE)
    (row,) = audited(script)[0].gradients
    (cause,) = row.diagnostics
    assert (row.verdict.value, cause.kind, cause.primary.span.line) == ("inaccurate", "step-size", 7)


@pytest.mark.parametrize(
    ("factor", "changed"), [("5.0", "[5.0 * x * up]"), ("4.0", "[0.25 * (4.0 * x * up)]")]
)
def test_a_change_is_printed_as_checked_only_for_what_it_makes_right(
    tmp_path: Path, factor: str, changed: str
):
    script = tmp_path / "several.py"
    script.write_text(WITH_VARIABLES.replace("{factor}", factor))
    report, _ = audited(script)
    product, mixed = (row.diagnostics[0] for row in report.gradients)
    assert f"return 0.25 * (4.0 * v * up), {changed}" in product.fix.patch
    assert product.fix.checked
    # The rule ignores what comes in, and a product with it is not the derivative of a matrix product either.
    assert "ignores" in mixed.headline
    assert not mixed.fix.patch and not mixed.fix.checked
