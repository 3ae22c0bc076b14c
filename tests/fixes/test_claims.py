"""What a fix claims is what the patched script does, in its own ops and its own mode; else it is not claimed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from gradproof.diagnosis import words
from gradproof.diagnosis.report import GradientReport, Report
from gradproof.render.to_diff import to_diff
from tests.fixes.patched import apply, audited

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(importlib.util.find_spec("tensorflow") is None, reason="tensorflow is not installed"),
]

_HEAD = "import tensorflow as tf\n"
# A change that was run, and a patch: the patched script returns what was claimed.
CLAIMED = {
    "another op behind the change": (
        "x = tf.Variable([0.0, 2.0])\nwith tf.GradientTape() as tape:\n"
        "    y = tf.where(x > 1.0, tf.math.log(x), 0.0)\n    loss = tf.reduce_sum(tf.nn.relu(y * 3.0))\n"
        "print(tape.gradient(loss, x))\n"
    ),
    "a graph": (
        "@tf.function\ndef slope(x):\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n"
        "        loss = tf.math.log(tf.reduce_sum(tf.exp(x)))\n    return tape.gradient(loss, x)\n"
        "print(slope(tf.constant([100.0, 2.0])))\n"
    ),
    "a compiled function": (
        "@tf.function(jit_compile=True)\ndef f(x):\n    return tf.reduce_sum(tf.where(x > 0.0, tf.sqrt(x), 0.0))\n"
        "x = tf.Variable([-1.0, 2.0])\nwith tf.GradientTape() as tape:\n    loss = f(x)\n"
        "print(tape.gradient(loss, x))\n"
    ),
    "a tensor that is made inside the tape": (
        "with tf.GradientTape() as tape:\n    h = tf.constant([1.0, 2.0])\n    loss = tf.reduce_sum(h * h)\n"
        "print(tape.gradient(loss, h))\n"
    ),
    "a step of two terms": (
        "w = tf.Variable(2.0)\nw = w - 0.1 - 0.2\nwith tf.GradientTape() as tape:\n    y = w * w\n"
        "print(tape.gradient(y, w))\n"
    ),
    "a step in parentheses": (
        "w = tf.Variable(2.0)\nw = w - (0.1 - 0.2)\nwith tf.GradientTape() as tape:\n    y = w * w\n"
        "print(tape.gradient(y, w))\n"
    ),
}  # fmt: skip
# What cannot be run as the user would run it is offered as not checked.
UNCLAIMED = {
    "a rule of the user's behind the change": (
        "@tf.custom_gradient\ndef bad(x):\n    def rule(up):\n        return up * float('nan')\n"
        "    return x * 1.0, rule\n"
        "x = tf.Variable([0.0, 2.0])\nwith tf.GradientTape() as tape:\n"
        "    y = tf.where(x > 1.0, tf.math.log(x), 0.0)\n    loss = tf.reduce_sum(bad(y))\n"
        "print(tape.gradient(loss, x))\n"
    ),
    "an op that sends NaN of its own": (
        "x = tf.Variable([-1.0, 4.0])\nw = tf.constant([0.0, 1.0])\nwith tf.GradientTape() as tape:\n"
        "    a = tf.sqrt(tf.nn.relu(x))\n    loss = tf.reduce_sum(w * tf.math.log(x + 1.0)) + tf.reduce_sum(a)\n"
        "print(tape.gradient(loss, x))\n"
    ),
}  # fmt: skip


def _before_and_after(body: str, folder: Path) -> tuple[Report, str, Report]:
    before, after = folder / "before" / "script.py", folder / "after" / "script.py"
    for path in (before, after):
        path.parent.mkdir()
        path.write_text(_HEAD + body, encoding="utf-8")
    report = audited(before)
    diff = to_diff(report)
    if diff:
        apply(diff, after.parent)
    return report, diff, audited(after)


def _claims(gradient: GradientReport) -> list[str]:
    fixes = [one.fix for one in gradient.diagnostics if one.fix is not None]
    return [fix.checked for fix in fixes if fix.patch and fix.checked]


@pytest.mark.parametrize("name", CLAIMED)
def test_a_claim_is_what_the_patched_script_returns(name: str, tmp_path: Path) -> None:
    before, diff, after = _before_and_after(CLAIMED[name], tmp_path)
    claims = _claims(before.gradients[0])
    assert claims
    assert diff
    assert str(after.gradients[0].verdict) == "correct"
    observed = after.gradients[0].observed
    assert observed is not None
    assert all(words.array_text(observed, after.gradients[0].dtype) in claim for claim in claims)


@pytest.mark.parametrize("name", UNCLAIMED)
def test_nothing_is_claimed_that_was_not_run_as_it_would_run(name: str, tmp_path: Path) -> None:
    before, _, _ = _before_and_after(UNCLAIMED[name], tmp_path)
    assert before.gradients[0].diagnostics
    assert not _claims(before.gradients[0])
