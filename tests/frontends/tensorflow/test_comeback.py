"""Numbers that leave TensorFlow and come back: the part that is lost is told, and nothing else is."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tests.audit.crashing import audited

import gradproof
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.assemble.program import Assembly

pytestmark = pytest.mark.tensorflow

HEAD = "import math\nimport numpy as np\nimport tensorflow as tf\n"
S, C = math.sin(1.7), math.cos(1.7)

# The lines inside the tape, the line of these at which the numbers leave (from 1), and the gradient with that part.
PARTS = {
    "float in the same line": (["loss = x * x + float(x * x) * x"], 1, 2 * 1.7 + 3 * 1.7**2),
    "numpy into a name": (["s = tf.sin(x).numpy()", "loss = s * x"], 1, S + 1.7 * C),
    "item": (["s = tf.sin(x).numpy().item()", "loss = s * x"], 1, S + 1.7 * C),
    "asarray": (["s = np.asarray(tf.sin(x))", "loss = s * x"], 1, S + 1.7 * C),
    "a function of NumPy": (["s = np.exp(tf.sin(x))", "loss = s * x"], 1, math.exp(S) * (1 + 1.7 * C)),
    "python arithmetic": (
        ["s = 0.5 * float(tf.sin(x)) ** 2 - 1.0", "loss = s * x"],
        1,
        0.5 * S**2 - 1 + 1.7 * S * C,
    ),
    "math": (["s = math.sqrt(float(x))", "loss = x / s"], 1, 0.5 / math.sqrt(1.7)),
    "a constant again": (["s = tf.constant(tf.sin(x).numpy())", "loss = s * x"], 1, S + 1.7 * C),
    "unpacked": (["s, t = tf.stack([tf.sin(x), x]).numpy()", "loss = s * x"], 1, S + 1.7 * C),
    "a mean": (["m = np.mean(tf.stack([x, x * x]))", "loss = m * x"], 1, 1.7 + 1.5 * 1.7**2),
    "by an augmented assignment": (["loss = x * x", "loss += float(x * x)"], 2, 4 * 1.7),
    "summed in a loop": (["t = 0.0", "for k in range(2): t += float(x * x)", "loss = x * t"], 2, 6 * 1.7**2),
    "a sum over a generator": (["t = 0.5 * sum(float(v * v) for v in (x, x))", "loss = x * t"], 1, 3 * 1.7**2),
    "the largest": (["m = np.max(np.abs(tf.stack([-x, 0.1 * x]).numpy()))", "loss = x * m"], 1, 2 * 1.7),
    "through a helper's return": (["loss = x * squared(x)"], None, 3 * 1.7**2),
    "through an attribute": (["keep(tf.sin(x))", "loss = x * box.kept"], None, S + 1.7 * C),
    "through a parameter": (["loss = times(x, float(tf.sin(x)))"], 1, S + 1.7 * C),
}  # fmt: skip
HELPERS = """
class Box: pass
box = Box()
def squared(v):
    return float(v * v)
def keep(v):
    box.kept = float(v)
def times(a, b):
    return a * b
def two():
    return 2.0
"""


def script(body: list[str]) -> str:
    inside = "".join(f"    {line}\n" for line in body)
    return f"{HEAD}{HELPERS}x = tf.Variable(1.7)\nwith tf.GradientTape() as tape:\n{inside}g = tape.gradient(loss, x)\n"


def lost(gradient: GradientReport) -> list[tuple[str, str]]:
    return [(one.kind, one.severity) for one in gradient.diagnostics]


@pytest.mark.parametrize("name", PARTS)
def test_a_part_that_left_is_warned_of_at_its_line_with_the_gradient_that_it_would_give(
    name: str, tmp_path: Path
) -> None:
    body, line, whole = PARTS[name]
    text = script(body)
    [gradient] = audited(tmp_path, text).gradients
    assert str(gradient.verdict) == "correct"
    [warning] = gradient.diagnostics
    assert (warning.kind, warning.severity) == ("left-framework", "warning")
    assert warning.span is not None
    first = text.split("\n").index("with tf.GradientTape() as tape:") + 1
    if line is not None:
        assert warning.span.line == first + line
    [shown] = [float(value.split()[0]) for label, value in warning.evidence if label == "with that part"]
    assert shown == pytest.approx(whole, rel=1e-5)


INNOCENT = {
    "printed and kept": ["loss = tf.sin(x)", "value = float(loss)", "print(value)", "[].append(loss.numpy())"],
    "a condition": ["loss = x * x if float(x) > 1.0 else x"],
    "a literal that is equal": ["print(float(x * 2.0))", "loss = x * x * 3.4"],
    "common numbers": ["print(float(x - 0.7), float(x - 1.7))", "loss = x * x * 1.0 + 0.0"],
    "an integer": ["k = int(x)", "loss = x ** k * 2.0"],
    "of data": ["n = float(tf.reduce_sum(tf.constant([1.0, 2.5])))", "loss = x * x / n"],
    "numbers of NumPy's own": ["loss = np.sqrt(2.0 / np.pi) * tf.tanh(x)"],
    "of another variable": ["w = tf.Variable(1.7)", "t = 0.5 + 0.9 * tf.sin(w).numpy()", "loss = (tf.sin(x) - t) ** 2"],
    "said to be constant": ["s = tf.stop_gradient(tf.sin(x))", "loss = s * x"],
    "a mask": ["m = float(x.numpy() > 0)", "loss = x * m"],
    "kept, and equal to a plain number": ["keep(x + 0.3)", "loss = x * two()"],
    "an anchor": ["print(x.numpy())", "loss = tf.sin(x) + (x - np.float32(1.7)) ** 2"],
}  # fmt: skip


@pytest.mark.parametrize("name", INNOCENT)
def test_numbers_that_only_look_as_if_they_came_back_are_not_spoken_of(name: str, tmp_path: Path) -> None:
    [gradient] = audited(tmp_path, script(INNOCENT[name])).gradients
    assert (str(gradient.verdict), lost(gradient)) == ("correct", [])


def test_round_numbers_that_numpy_took_out_of_a_tensor_unseen_are_noted(tmp_path: Path) -> None:
    text = script(["loss = squared(x) + x"]).replace("tf.Variable(1.7)", "tf.Variable(2.0)")
    head, rest = text.split("x = tf.Variable", 1)
    [gradient] = audited(
        tmp_path, f"{head}def squared(a):\n    return np.square(a)\n\nx = tf.Variable{rest}"
    ).gradients
    assert (str(gradient.verdict), lost(gradient)) == ("correct", [("left-framework", "note")])


def test_another_variable_of_the_same_value_is_no_part_of_this_one(tmp_path: Path) -> None:
    body = ["w = tf.Variable(1.7)", "t = tf.sin(w).numpy()", "loss = (tf.sin(x) - t) ** 2"]
    [gradient] = audited(tmp_path, script(body)).gradients
    assert "left-framework" not in [one.kind for one in gradient.diagnostics]


MISSING = {
    "numpy()": (["h = tf.constant((x * x).numpy())", "loss = h * 3.0"], "left-framework", 1, 6 * 1.7),
    "np.mean": (["h = np.mean(tf.stack([x, x * x]), axis=0)", "loss = tf.constant(h)"], "left-framework", 1, 0.5 + 1.7),
    "a loss of Python's": (["loss = float(x) ** 2 * 2.0"], "left-framework", 1, 4 * 1.7),
    "assign": (["v = tf.Variable(0.0)", "v.assign(x * x)", "loss = v * 2.0"], "not-connected", 2, 4 * 1.7),
    "assign_add": (["v = tf.Variable(1.0)", "v.assign_add(x * x)", "loss = v * v"], "not-connected", 2, 26.452),
    "a variable made of it": (["v = tf.Variable(x * x)", "loss = v * 3.0"], "not-connected", 1, 6 * 1.7),
}  # fmt: skip


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_gradient_has_the_value_that_the_way_around_hides(name: str, tmp_path: Path) -> None:
    body, kind, line, value = MISSING[name]
    text = script(body)
    [gradient] = audited(tmp_path, text).gradients
    [cause] = gradient.diagnostics
    assert (str(gradient.verdict), cause.kind) == ("missing", kind)
    assert cause.span is not None
    assert cause.span.line == text.split("\n").index("with tf.GradientTape() as tape:") + 1 + line
    assert gradient.reference is not None
    assert float(gradient.reference) == pytest.approx(value, rel=1e-5)


MIXED = """
import tensorflow as tf
a, b = tf.Variable(2.0), tf.Variable(3.0)
h = a * b
with tf.GradientTape() as tape:
    loss = a * a * h
tape.gradient(loss, [a, b])
"""


def test_a_gradient_that_came_back_is_not_judged_by_what_only_the_missing_one_went_through(
    tmp_path: Path,
) -> None:
    came, missing = audited(tmp_path, MIXED).gradients
    # Of `h`, which counts as constant, the gradient for `a` lacks a part too: said, and not judged by it.
    assert (str(came.verdict), lost(came)) == ("correct", [("outside-tape", "note")])
    assert (str(missing.verdict), lost(missing)) == ("missing", [("outside-tape", "error")])
    np.testing.assert_allclose([came.reference, missing.reference], [24.0, 8.0])


def test_what_a_function_in_numpy_computes_has_no_value_that_could_be_given(tmp_path: Path) -> None:
    body = ["y = tf.numpy_function(lambda v: np.sin(v), [x], tf.float32)", "loss = y * 2.0"]
    [gradient] = audited(tmp_path, script(body)).gradients
    assert gradient.reference is None
    assert lost(gradient) == [("left-framework", "error")]


def test_what_only_may_have_come_back_costs_no_second_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Constants made of arrays are looked at where they are; only where one holds numbers of the program is it read
    again as one without a cut."""
    lowered: list[Assembly] = []
    lower = Assembly.lower
    monkeypatch.setattr(Assembly, "lower", lambda self: (lowered.append(self), lower(self))[1])
    weights = tf.constant(np.random.default_rng(0).normal(size=(2, 2)), tf.float32)
    x = tf.constant([[1.0], [2.0]])
    gradproof.check(lambda x: tf.reduce_sum(tf.tanh(weights @ x)), x)
    assert len(lowered) == 1
    lowered.clear()
    gradproof.check(lambda x: tf.reduce_sum(x * float(tf.reduce_sum(x * x))), x)
    assert len(lowered) == 2
