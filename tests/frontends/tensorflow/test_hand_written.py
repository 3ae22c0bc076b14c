"""Custom gradients as programs use them: in loops, in libraries, in the registry, with None and too little."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.audited import audited

tf = pytest.importorskip("tensorflow")

HEAD = """
import tensorflow as tf
a = tf.constant([0.4, -1.2, 2.1])
b = tf.constant([1.5, 0.7, -0.3])

@tf.custom_gradient
def sine(x):
    def backward(up):
        return up * tf.cos(x)
    return tf.sin(x), backward

@tf.custom_gradient
def triple(x):
    def backward(up):
        return up * 2.0  # triple
    return x * 3.0, backward

@tf.custom_gradient
def scale(x, k):
    def backward(up):
        return up * k, None  # scale
    return x * k, backward

@tf.custom_gradient
def by_hand(x):
    def backward(up):
        return tf.constant(up.numpy() * 2.0)  # by_hand
    return x * 3.0, backward

@tf.custom_gradient
def few(x, k):
    def backward(up):
        return up * k  # few
    return x * k, backward

@tf.custom_gradient
def product(x):
    y = x @ MATRIX
    def backward(up):
        return up @ MATRIX  # product
    return y, backward

MATRIX = tf.constant([[0.5, -1.2], [2.0, 0.3]])
"""


def _found(tmp_path: Path, body: str) -> list[tuple[str, list[tuple[str, str, str]]]]:
    """Per gradient its verdict and what is said of it: kind, severity, and the comment at the end of the line."""
    text = HEAD + body
    script = tmp_path / "script.py"
    script.write_text(text, encoding="utf-8")
    report, faults = audited(script)
    assert not faults
    lines = text.split("\n")
    return [
        (
            gradient.verdict.value,
            [
                (d.kind, d.severity, lines[d.primary.span.line - 1].partition("# ")[2] if d.primary else "")
                for d in gradient.diagnostics
            ],
        )
        for gradient in report.gradients
    ]


def _eager(target: str, sources: str = "a") -> str:
    watch = f"    tape.watch({sources})\n"
    return f"with tf.GradientTape() as tape:\n{watch}    y = {target}\ntape.gradient(y, {sources})\n"


def _error(place: str, kind: str = "custom-gradient") -> tuple[str, list[tuple[str, str, str]]]:
    return "wrong", [(kind, "error", place)]


def test_a_rule_in_a_loop_belongs_to_the_turn_whose_forward_it_reads(tmp_path: Path) -> None:
    body = """
@tf.function
def looped(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for _ in tf.range(3):
            y = sine(sine(y)) + triple(y)
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, x)
looped(a)
"""
    assert _found(tmp_path, body) == [_error("triple")]


def test_none_for_an_argument_is_named_whether_the_gradient_is_missing_or_lacks_a_part(
    tmp_path: Path,
) -> None:
    missing, partial, twice = _found(
        tmp_path, _eager("scale(a, b)", "b") + _eager("scale(a, a + 1.0)") + _eager("scale(a, a)")
    )
    assert missing == ("missing", [("custom-gradient", "error", "scale")])
    assert partial == twice == _error("scale")


def test_too_few_gradients_are_told_at_the_line_of_the_rule(tmp_path: Path) -> None:
    call = _eager("few(a, b)", "[a, b]").replace(
        "tape.gradient(y, [a, b])", "tape.gradient(y, [a, b])  # call"
    )
    tried = call.replace("tape.gradient", "try:\n    tape.gradient") + "except ValueError:\n    pass\n"
    assert _found(tmp_path, tried) == [("missing", [("custom-gradient", "error", "few")])] * 2


def test_a_rule_in_plain_python_and_one_in_the_registry_are_the_users(tmp_path: Path) -> None:
    registered = """
@tf.RegisterGradient("GradproofTwice")
def twice(op, up):
    return 2.0 * up * tf.cos(op.inputs[0])  # registered

@tf.function
def overridden(x):
    with tf.compat.v1.get_default_graph().gradient_override_map({"Sin": "GradproofTwice"}):
        y = tf.sin(x)
    return tf.gradients(tf.reduce_sum(y), x)
overridden(a)
"""
    assert _found(tmp_path, _eager("by_hand(a)") + registered) == [_error("by_hand"), _error("registered")]


def test_a_matrix_that_is_not_transposed_is_told_from_other_mistakes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        HEAD + "c = tf.constant([[0.4, 0.9], [-0.7, 0.2]])\n" + _eager("product(c) ** 2", "c"),
        encoding="utf-8",
    )
    ((row,), _) = (audited(script)[0].gradients, None)
    assert "not with its transpose" in row.diagnostics[0].headline


def test_a_rule_that_a_library_brings_along_is_not_the_users(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    start = HEAD.index("@tf.custom_gradient\ndef triple")
    source = "import tensorflow as tf\n" + HEAD[start : HEAD.index("@tf.custom_gradient\ndef scale")]
    (folder / "gradproof_brought_along.py").write_text(source.replace("triple", "brought"), encoding="utf-8")
    monkeypatch.syspath_prepend(str(folder))
    body = "import gradproof_brought_along\n" + _eager("gradproof_brought_along.brought(a)").replace(
        "brought(a)", "brought(a)  # use"
    )
    assert _found(tmp_path, body) == [_error("use", "framework-rule")]


def test_a_loop_inside_the_forward_of_a_custom_gradient_does_not_make_it_vanish(tmp_path: Path) -> None:
    body = """
@tf.custom_gradient
def fixed_point(c):
    z = tf.zeros_like(c)
    for _ in range(60):
        z = 0.5 * tf.cos(z) + c
    def backward(up):
        return up / (1.0 + 0.5 * tf.sin(z))
    return z, backward
"""
    assert _found(tmp_path, body + _eager("fixed_point(a)")) == [("correct", [])]


def test_a_forward_outside_the_framework_leaves_its_rule_without_a_measure(tmp_path: Path) -> None:
    body = """
import numpy as np

@tf.custom_gradient
def outside(x):
    y = tf.constant(np.sin(x.numpy()))
    return y, lambda up: up * tf.cos(x)
"""
    script = tmp_path / "script.py"
    script.write_text(HEAD + body + _eager("outside(a)"), encoding="utf-8")
    (row,) = audited(script)[0].gradients
    assert row.verdict.value == "unverified"
    assert row.reason is not None
    assert row.reason.startswith("the forward of `outside` is computed outside TensorFlow")


IN_PARTS = """
import numpy as np
from tensorflow.python.eager import record

@tf.custom_gradient
def beside(x):
    return tf.constant(np.sin(x.numpy())), lambda up: up * tf.cos(x)

@tf.custom_gradient
def partly(x):
    s = np.sin(x.numpy())
    return s + x ** 2, lambda up: up * (tf.cos(x) + 2.0 * x)

@tf.custom_gradient
def looked_at(x):
    if np.any(x.numpy() > 100.0):
        print("large", x.numpy())
    return x ** 2, lambda up: up * 2.0 * x

@tf.custom_gradient
def kept_for_the_rule(x):
    y = tf.sqrt(x * x + 0.01)
    slope = (x / y).numpy()
    return y, lambda up: up * slope

@tf.custom_gradient
def constant(x):
    return 2.1, lambda up: up * 2.2

def told(x):
    z = x * x
    y = tf.constant(x.numpy() ** 2)
    record.record_operation("Told", [y], [z], lambda up: [3.0 * up])
    return y

with tf.GradientTape() as tape:
    tape.watch(a)
    y = tf.reduce_sum(beside(a) + a)
tape.gradient(y, a)
with tf.GradientTape() as tape:
    tape.watch(a)
    y = tf.reduce_sum(partly(a))
tape.gradient(y, a)
with tf.GradientTape() as tape:
    tape.watch(a)
    y = tf.reduce_sum(looked_at(a))
tape.gradient(y, a)
with tf.GradientTape() as tape:
    tape.watch(a)
    y = tf.reduce_sum(told(a) + a)
tape.gradient(y, a)
with tf.GradientTape() as tape:
    tape.watch(a)
    y = tf.reduce_sum(kept_for_the_rule(a))
tape.gradient(y, a)
with tf.GradientTape() as tape:
    tape.watch(a)
    y = tf.reduce_sum(constant(a))
tape.gradient(y, a)
"""


def test_what_a_forward_computes_elsewhere_leaves_its_rule_without_a_measure(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(HEAD + IN_PARTS, encoding="utf-8")
    rows = audited(script)[0].gradients
    assert [row.verdict.value for row in rows] == [
        *("unverified", "unverified", "correct"),
        *("unverified", "correct", "unverified"),
    ]
    assert "that of a constant is 0" in str(rows[-1].reason)


def test_where_the_way_to_a_source_was_not_seen_and_fails_nothing_is_proven(tmp_path: Path) -> None:
    body = """
from tensorflow.python.eager import record
with tf.GradientTape() as tape:
    tape.watch(a)
    record.record_operation("Told", [b], [a], lambda up: [])
try:
    tape.gradient(b, a)
except tf.errors.InternalError:
    pass
"""
    script = tmp_path / "script.py"
    script.write_text(HEAD + body, encoding="utf-8")
    (row,) = audited(script)[0].gradients
    assert (row.verdict.value, row.reference) == ("missing", None)
