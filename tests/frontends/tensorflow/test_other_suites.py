"""Ways of asking that were met in other people's suites, each answered without a fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

tf = pytest.importorskip("tensorflow")

from tests.audited import audited

pytestmark = pytest.mark.tensorflow

REENTERED = """
import tensorflow as tf
x = tf.constant(3.0)
tape = tf.GradientTape()
with tape:
    tape.watch(x)
    y = 2 * x
with tape:
    z = 2 * y
tape.gradient(z, x)
"""
PERSISTENT = REENTERED.replace("GradientTape()", "GradientTape(persistent=True)") + "tape.gradient(y, x)\n"
REUSED = """
import tensorflow as tf
x = tf.Variable(3.0)
tape = tf.GradientTape()
for k in range(2):
    with tape:
        z = x * x
    tape.gradient(z, x)
"""
MISMATCHED = """
import tensorflow as tf
x = tf.random.uniform([2, 3])
with tf.GradientTape() as tape:
    tape.watch(x)
    y = tf.concat([x, x], 0)
try:
    tape.batch_jacobian(y, x)
except ValueError:
    pass
"""
INTEGER = """
import tensorflow as tf
n, b = tf.constant(3), tf.constant(2.0)
with tf.GradientTape() as tape:
    tape.watch([n, b])
    y = tf.cast(n, tf.float32) * b
tape.gradient(y, [n, b], unconnected_gradients="zero")
"""
LISTS = """
import tensorflow as tf
tf1 = tf.compat.v1
with tf.Graph().as_default(), tf1.Session() as s:
    x = tf1.placeholder(tf.float32, [2])
    y = x * x
    g = tf1.gradients(y, x, grad_ys=[[1.0, 2.0]])
    s.run(g, {x: [3.0, 4.0]})
"""
EAGER_LISTS = """
import tensorflow as tf
x = tf.Variable([3.0, 4.0])
with tf.GradientTape(persistent=True) as tape:
    y = x * x
    z = tf.sin(x)
tape.gradient(y, x, output_gradients=tf.constant([1.0, 2.0]))
tape.gradient([y, z], x, output_gradients=[tf.constant([1.0, 2.0]), tf.constant([0.5, 3.0])])
"""
UNCONNECTED = """
import tensorflow as tf
with tf.Graph().as_default(), tf.compat.v1.Session() as s:
    x = tf.Variable(tf.constant(1.0, shape=[2, 2]))
    y = tf.Variable(3.0)
    s.run([x.initializer, y.initializer])
    with tf.GradientTape() as g:
        g.watch([x, y])
        z = y * 2
    s.run(g.gradient(z, x, unconnected_gradients="zero"))
"""
PRIMALS = """
import tensorflow as tf
a = tf.constant(2.0)
b = tf.identity(a)
with tf.autodiff.ForwardAccumulator([a, b], [tf.constant(1.0), tf.constant(10.0)]) as acc:
    y = a * a
    z = b * b
acc.jvp(y)
acc.jvp(z)
"""
LSTM = """
import tensorflow as tf
n = 2
x, cs = tf.constant([[[0.3]]]), tf.constant([[0.1, 0.7]])
w = tf.reshape(tf.linspace(0.1, 0.9, 3 * 4 * n), [3, 4 * n])
b, z = tf.Variable(tf.linspace(0.2, 0.8, 4 * n)), tf.zeros([n])
with tf.GradientTape() as tape:
    out = tf.raw_ops.BlockLSTMV2(seq_len_max=tf.constant(1, tf.int64), x=x, cs_prev=cs, h_prev=cs, w=w, wci=z, wcf=z,
                                 wco=z, b=b, use_peephole=False)
    loss = tf.reduce_sum(out[1] + out[6])
tape.gradient(loss, b)
"""
CASES = {
    "entered twice": (REENTERED, ["correct"]),
    "entered twice, persistent": (PERSISTENT, ["correct", "correct"]),
    "used again": (REUSED, ["correct", "correct"]),
    "an integer": (INTEGER, ["unverified", "correct"]),
    "output gradients as lists": (LISTS, ["correct"]),
    "output gradients": (EAGER_LISTS, ["correct", "correct"]),
    "unconnected in a graph": (UNCONNECTED, ["correct"]),
    "two primals, one made of the other": (PRIMALS, ["correct", "correct"]),
    "a batch Jacobian of other examples": (MISMATCHED, ["missing"]),
    "BlockLSTMV2": (LSTM, ["wrong"]),
}


@pytest.mark.parametrize(("script", "verdicts"), CASES.values(), ids=CASES)
def test_it_is_answered(script: str, verdicts: list[str], tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(script, encoding="utf-8")
    report, faults = audited(path)
    assert not faults and not report.notes
    assert [str(verdict) for verdict in report.verdicts] == verdicts
    assert not [one.reason for one in report.gradients if "fault of gradproof" in str(one.reason)]


def test_a_rule_that_is_not_the_ops_is_named(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(LSTM, encoding="utf-8")
    [gradient] = audited(path)[0].gradients
    assert [(one.kind, one.severity) for one in gradient.diagnostics] == [("framework-rule", "error")]


def test_a_derivative_that_is_too_large_to_judge_is_no_missing_one(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    large = PRIMALS.replace("tf.constant(2.0)", "tf.ones([70000])")
    large = large.replace("tf.constant(1.0)", "tf.ones([70000])").replace(
        "tf.constant(10.0)", "tf.ones([70000])"
    )
    path.write_text(large, encoding="utf-8")
    report = audited(path)[0]
    assert [(one.source, str(one.verdict)) for one in report.gradients] == [("a, b", "unverified")] * 2
    assert not report.diagnostics


def test_what_a_call_raised_is_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(MISMATCHED, encoding="utf-8")
    [gradient] = audited(path)[0].gradients
    assert "Need first dimension of target shape" in str(gradient.reason)


def test_whole_numbers_have_no_derivative(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(INTEGER, encoding="utf-8")
    first = audited(path)[0].gradients[0]
    assert "is int32: a function of whole numbers has no derivative" in str(first.reason)
