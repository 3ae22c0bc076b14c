"""Why TensorFlow returned no gradient: the kind of reason and the line it is found on."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.frontends.missing.why import find_break, find_break_of_raised
from gradproof.frontends.tensorflow.hooks import observe
from gradproof.ir.capture import Break

pytestmark = pytest.mark.tensorflow


def text(found: Break) -> str:
    assert found.span is not None
    return linecache.getline(found.span.file, found.span.line).strip()


def test_a_variable_that_became_a_tensor_is_found_where_it_was_rebound():
    with observe() as seen:
        w = tf.Variable(2.0)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = w * w
            gradient = tape.gradient(loss, w)
            if gradient is not None:
                w = w - 0.1 * gradient
    found = find_break(seen.calls[1], 0)
    assert (found.kind, text(found)) == ("reassigned-variable", "w = w - 0.1 * gradient")


def test_a_tensor_with_a_name_of_its_own_is_only_not_watched():
    with observe() as seen:
        w = tf.Variable(2.0)
        half = w / 2.0
        with tf.GradientTape() as tape:
            loss = half * half
        tape.gradient(loss, half)
    assert find_break(seen.calls[0], 0).kind == "not-watched"


def test_a_value_stored_in_a_variable_is_found_where_it_was_stored():
    with observe() as seen:
        w, kept = tf.Variable(2.0), tf.Variable(0.0)
        with tf.GradientTape() as tape:
            kept.assign(w * w)
            loss = kept * 3.0
        tape.gradient(loss, w)
    found = find_break(seen.calls[0], 0)
    assert (found.kind, text(found)) == ("not-connected", "kept.assign(w * w)")
    assert "stored" in found.facts


def test_a_numpy_function_leaves_the_framework():
    with observe() as seen:
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            loss = tf.numpy_function(np.square, [w], tf.float32) * 2.0
        tape.gradient(loss, w)
    found = find_break(seen.calls[0], 0)
    assert (found.kind, found.facts["how"]) == ("left-framework", "tf.numpy_function")


def test_an_array_made_from_a_variable_leaves_the_framework():
    with observe() as seen:
        w = tf.Variable([2.0, 1.0])
        with tf.GradientTape() as tape:
            loss = tf.constant(np.sum(np.array(w)))
        tape.gradient(loss, w)
    assert find_break(seen.calls[0], 0).kind == "left-framework"


def test_numpy_in_a_loop_over_a_tensor_leaves_the_framework():
    with observe() as seen:
        w = tf.Variable([2.0, 1.0])
        with tf.GradientTape() as tape:
            total = 0.0
            for one in w:
                total += np.exp(one)
            loss = tf.convert_to_tensor(total)
        tape.gradient(loss, w)
    found = find_break(seen.calls[0], 0)
    assert (found.kind, found.facts["how"], text(found).startswith("total +=")) == (
        "left-framework",
        "np.exp",
        True,
    )


def test_a_constant_made_by_numpy_of_the_form_of_a_tensor_is_no_way_out():
    with observe() as seen:
        w = tf.Variable([2.0, 1.0])
        with tf.GradientTape() as tape:
            total = 0.0
            for k in range(len(w.shape)):
                total += np.exp(k + 0.5)
            loss = tf.convert_to_tensor(total)
        tape.gradient(loss, w)
    assert find_break(seen.calls[0], 0).kind == "not-connected"


def test_a_number_that_was_only_looked_at_is_not_a_way_out():
    with observe() as seen:
        w, other = tf.Variable(2.0), tf.Variable(1.0)
        with tf.GradientTape() as tape:
            if w > 1.0:
                print(float(w), f"{w.read_value():.1f}")
            loss = other * other
        tape.gradient(loss, w)
    assert find_break(seen.calls[0], 0).kind == "not-connected"


def test_an_op_without_a_rule_is_named_where_the_call_raised():
    with observe() as seen:
        image = tf.Variable(tf.ones([1, 4, 4, 1]))
        with tf.GradientTape() as tape:
            small = tf.image.resize(image, [2, 2], method="area")
        with pytest.raises(LookupError):
            tape.gradient(small, image)
    found = find_break_of_raised(seen.calls[0], 0)
    assert found is not None and (found.kind, found.facts["op"]) == ("no-gradient-registered", "ResizeArea")
    assert text(found).startswith("small = ")


def test_a_tensor_watched_after_it_was_used_is_found_where_it_is_watched():
    with observe() as seen:
        x = tf.constant(2.0)
        with tf.GradientTape() as tape:
            half = x * x
            tape.watch(x)
            loss = half * 3.0
        tape.gradient(loss, x)
    found = find_break(seen.calls[0], 0)
    assert (found.kind, text(found)) == ("not-watched", "tape.watch(x)")


def test_zeros_of_a_batch_jacobian_that_has_no_way_are_no_gradient():
    with observe() as seen:
        x = tf.Variable([[0.5, 1.0]])
        with tf.GradientTape() as outer, tf.GradientTape() as inner:
            y = tf.sin(x) * x
        slopes = inner.batch_jacobian(y, x)
        outer.batch_jacobian(slopes, x)
    _, second = seen.calls
    assert (second.observed, second.filled) == ((None,), {0})
    found = find_break(second, 0)
    assert (found.kind, text(found)) == ("outside-tape", "slopes = inner.batch_jacobian(y, x)")
    assert "zeros" in found.facts["headline"]


def test_zeros_of_a_batch_jacobian_that_has_a_way_or_needs_none_are_a_gradient():
    with observe() as seen:
        x, other = tf.Variable([[0.5, 1.0]]), tf.Variable([[2.0]])
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape() as inner:
                y = x * 3.0
            slopes = inner.batch_jacobian(y, x)
        outer.batch_jacobian(slopes, x)
        outer.batch_jacobian(slopes, other)
    assert all(call.filled == frozenset() and call.observed[0] is not None for call in seen.calls)


def test_a_python_function_that_computes_in_numpy_has_left():
    with observe() as seen:
        x = tf.Variable([0.5, 1.0])
        with tf.GradientTape() as tape:
            z = tf.py_function(lambda a: np.sin(a.numpy()), [x], tf.float32)
            y = tf.reduce_sum(z)
        assert tape.gradient(y, x).shape == ()  # TensorFlow's own filling
    (call,) = seen.calls
    found = find_break(call, 0)
    assert (call.observed, found.kind, text(found).startswith("z =")) == ((None,), "left-framework", True)


def test_an_op_without_a_slope_is_to_blame_only_where_it_is_the_only_way():
    with observe() as seen:
        p, one, follow = tf.constant(1.5), tf.constant(1.0), tf.autodiff.ForwardAccumulator
        with follow(p, one) as outer, follow(p, one) as inner:
            y = p**3.5  # its rule compares
        assert inner.jvp(outer.jvp(y)) is None
    found = find_break(seen.calls[-1], 0)
    assert (found.kind, "outer.jvp" in text(found)) == ("outside-tape", True)
