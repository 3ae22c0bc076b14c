"""Fixes of TensorFlow programs: written in TensorFlow's own functions, and run by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import gradproof
from gradproof.fixes.verify import rounded_gradient
from gradproof.frontends.tensorflow.emit import emit
from tests.fixes.expressions import program_of
from tests.fixes.users import changed_lines, checked

pytestmark = pytest.mark.tensorflow

_HEAD = "import tensorflow as tf\n\ndef f(x):\n"

PATCHES: dict[str, tuple[str, Any, list[str]]] = {
    "subtract before you scale": (
        "    y = x * 1e10 + 1.0\n    z = y - 1e10\n    return z * z\n",
        1.0,
        ["-y = x * 1e10 + 1.0", "-z = y - 1e10", "+z = (x - 1) * 1e10 + 1.0"],
    ),
    "softplus by hand": (
        "    return tf.math.log(tf.exp(x) + 1.0) - x\n",
        14.0,
        ["-return tf.math.log(tf.exp(x) + 1.0) - x", "+return tf.nn.softplus(-x)"],
    ),
    "expm1": (
        "    return (tf.exp(x) - 1.0) / x\n",
        1e-4,
        ["-return (tf.exp(x) - 1.0) / x", "+return tf.math.expm1(x) / x"],
    ),
    "log of a softmax, indexed": (
        "    probs = tf.nn.softmax(x)\n    return -tf.math.log(probs[0])\n",
        [0.0, 120.0, 3.0],
        [
            "-probs = tf.nn.softmax(x)",
            "-return -tf.math.log(probs[0])",
            "+return -tf.nn.log_softmax(x)[0]",
        ],
    ),
    "logsumexp": (
        "    return tf.math.log(tf.reduce_sum(tf.exp(x)))\n",
        [100.0, 99.0],
        ["-return tf.math.log(tf.reduce_sum(tf.exp(x)))", "+return tf.reduce_logsumexp(x)"],
    ),
    "a branch that is not taken": (
        "    return tf.reduce_sum(tf.where(x > 1e-6, tf.math.log(x), 0.0))\n",
        [4.0, 0.0],
        [
            "-return tf.reduce_sum(tf.where(x > 1e-6, tf.math.log(x), 0.0))",
            "+safe = tf.where(x > 1e-6, x, 1.0)",
            "+return tf.reduce_sum(tf.where(x > 1e-6, tf.math.log(safe), 0.0))",
        ],
    ),
}


@pytest.mark.parametrize("name", PATCHES)
def test_the_patch_is_and_tensorflow_ran_it(name: str) -> None:
    body, argument, expected = PATCHES[name]
    report = checked(_HEAD + body, tf.constant(argument), name=f"<tensorflow {name}>")
    assert changed_lines(report) == expected
    fix = next(d.fix for d in report.gradients[0].diagnostics if d.fix is not None)
    assert fix.checked.startswith("with this change the recorded ops, run in TensorFlow, return ")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("log(sum(exp(x)))", (1.0, 2.0, 0.5)),
        ("mean(square(x - spread(mean(x))))", (1.0, 2.0, 0.5)),
        ("softplus(-x) * sigmoid(x) + x**3", (0.5, -0.25)),
        ("log_softmax(x) * softmax(x)", (1.0, 2.0, 0.5)),
        ("atan2(x, 2) - power(x, 1.5)", (1.0, 2.0)),
    ],
)
def test_a_program_run_in_tensorflow_has_the_gradient_of_a_rounded_run(text: str, values: Any) -> None:
    program = program_of(text, {"x": values}, "float64")
    wrt = program.inputs[0]
    expected = rounded_gradient(program, wrt)
    assert expected is not None
    np.testing.assert_allclose(emit(program, wrt), expected, rtol=1e-12)


def test_an_op_that_tensorflow_does_not_have_is_not_run() -> None:
    program = program_of("erfcx(x)", {"x": 1.0})
    assert emit(program, program.inputs[0]) is None


def test_a_missing_gradient_through_a_hand_written_rule_has_a_fix_of_its_own_that_was_not_run() -> None:
    @tf.custom_gradient
    def rough(x):
        return tf.sin(x), lambda upstream: upstream * (tf.sin(x + 1e-3) - tf.sin(x)) / 1e-3

    x = tf.constant(2.0, tf.float64)
    with gradproof.watch() as report:
        with tf.GradientTape() as tape:
            y = rough(x)
        assert tape.gradient(y, x) is None
    missing = report.gradients[0].diagnostics[0]
    assert missing.kind == "not-watched" and missing.fix is not None
    assert missing.fix.text.startswith("watch the constant")
    assert missing.fix.checked == ""
