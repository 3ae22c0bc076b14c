"""Ops of TensorFlow that have no lowering are run again by themselves, and their gradients measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from gradproof.audit.examine import examine
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.assemble.capture import to_capture
from gradproof.frontends.record.sites import always
from gradproof.frontends.tensorflow.hooks import observe
from gradproof.frontends.tensorflow.kernels import kernel_of
from gradproof.frontends.tensorflow.lower import TABLE
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

pytestmark = pytest.mark.tensorflow

raw = tf.raw_ops
MATRIX = np.array([[1.0, 2.0, 0.5], [-0.5, 0.25, 1.0], [0.75, -1.5, 2.0]])


def judged(function: Any, *arrays: Any) -> tuple[GradientReport, ...]:
    with observe(always) as seen:
        xs = [tf.Variable(array) for array in arrays]
        with tf.GradientTape() as tape:
            loss = function(*xs)
        tape.gradient(loss, xs)
    assert seen.failures == []
    return tuple(examine(to_capture(seen.calls[-1]), Options()))


@pytest.fixture
def without_lowering(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Takes the meaning of an op away, so that it is opaque."""
    return lambda *names: [monkeypatch.delitem(TABLE, name) for name in names]


def test_complex_eigenvalues_are_measured() -> None:
    (found,) = judged(lambda a: tf.reduce_sum(tf.abs(tf.linalg.eig(a)[0]) ** 2), MATRIX)
    assert (found.verdict, found.oracle) == (Verdict.CORRECT, "differences")
    assert found.reason is not None and "`tf.eig`" in found.reason and "entry by entry" in found.reason


def test_complex_eigenvectors_have_no_steady_phase() -> None:
    (found,) = judged(lambda a: tf.reduce_sum(tf.math.imag(tf.linalg.eig(a)[1])), MATRIX)
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "last digit" in found.reason


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_any_op_without_a_lowering_is_measured_in_float64(without_lowering: Any, dtype: str) -> None:
    without_lowering("Softplus")
    (found,) = judged(lambda x: tf.reduce_sum(tf.math.softplus(x) ** 2), MATRIX.astype(dtype))
    assert (found.verdict, found.oracle) == (Verdict.CORRECT, "differences")
    s = np.log1p(np.exp(MATRIX))
    assert found.reference == pytest.approx(2 * s / (1 + np.exp(-MATRIX)), rel=1e-6)


def test_many_inputs_are_checked_along_directions(without_lowering: Any) -> None:
    without_lowering("Softplus")
    x = np.random.default_rng(0).normal(size=(40, 50)).astype(np.float32)
    (found,) = judged(lambda x: tf.reduce_sum(tf.math.softplus(x) ** 2), x)
    assert found.verdict is Verdict.CORRECT
    assert found.reason is not None and "along 4 random directions" in found.reason


def test_a_wrong_custom_gradient_behind_an_opaque_op_is_wrong(without_lowering: Any) -> None:
    without_lowering("Softplus")

    @tf.custom_gradient
    def twice(x: Any) -> Any:
        return 2.0 * x, lambda gy: 3.0 * gy

    (found,) = judged(lambda x: tf.reduce_sum(twice(tf.math.softplus(x))), MATRIX)
    assert (found.verdict, found.oracle) == (Verdict.WRONG, "differences")
    assert [diagnostic.kind for diagnostic in found.diagnostics] == ["custom-gradient"]


def test_a_rule_of_the_framework_that_is_wrong_is_blamed(without_lowering: Any) -> None:
    """Labels of weight 3: TensorFlow's gradient is right only where the labels of a row sum to 1."""
    without_lowering("SoftmaxCrossEntropyWithLogits")
    labels = np.array([[1.5, 1.5, 0.0]])
    (found,) = judged(lambda x: tf.reduce_sum(tf.nn.softmax_cross_entropy_with_logits(labels, x)), MATRIX[:1])
    assert (found.verdict, found.oracle) == (Verdict.WRONG, "differences")
    (cause,) = [one for one in found.diagnostics if one.severity == "error"]
    assert (cause.kind, cause.certainty) == ("framework-rule", "measured")


def test_at_a_kink_of_an_opaque_op_nothing_is_claimed(without_lowering: Any) -> None:
    without_lowering("Relu")
    (found,) = judged(lambda x: tf.reduce_sum(tf.nn.relu(x)), np.array([0.0, 1.0]))
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "`tf.nn.relu`" in found.reason and "kink" in found.reason


@pytest.mark.parametrize("x", [[3.0, 3.0, 1.0], [4.0, 2.0, 3.0, 2.5]])
def test_an_isotonic_regression_whose_blocks_are_about_to_change_is_not_called_correct(
    x: list[float],
) -> None:
    (found,) = judged(
        lambda x: tf.reduce_sum(
            raw.IsotonicRegression(input=x, output_dtype=x.dtype).output
            * [[1.0, 2.0, 4.0, 8.0][: x.shape[1]]]
        ),
        np.array([x]),
    )
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "`tf.nn.isotonic_regression`" in found.reason


def test_what_an_op_without_a_meaning_puts_into_a_variant_leaves_the_gradient_unverified_by_name(
    without_lowering: Any,
) -> None:
    without_lowering("SparseTensorToCSRSparseMatrix")

    def loss(v: Any) -> Any:
        matrix = raw.SparseTensorToCSRSparseMatrix(
            indices=np.array([[0, 0], [1, 1]]), values=v, dense_shape=np.array([2, 2])
        )
        return tf.reduce_sum(raw.SparseMatrixMatMul(a=matrix, b=np.ones((2, 2))) ** 2)

    (found,) = judged(loss, np.array([1.0, 2.0]))
    assert found.verdict is Verdict.UNVERIFIED
    assert found.reason is not None and "`SparseMatrixMatMul`" in found.reason


def test_an_op_with_state_or_python_in_it_is_not_run_again() -> None:
    with observe(always) as seen:
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            tf.random.normal([])
            loss = tf.py_function(lambda y: y * y, [x], tf.float32)
        tape.gradient(loss, x)
    events = {event.op: event for event in seen.calls[-1].events}
    assert kernel_of(events["RandomStandardNormal"], 0) is None
    assert kernel_of(events["EagerPyFunc"], 0) is None


def test_running_an_op_again_is_heard_by_no_tape_and_moves_no_random_numbers(without_lowering: Any) -> None:
    without_lowering("Softplus")
    tf.random.set_seed(3)
    expected = [float(tf.random.normal([])) for _ in range(2)]
    tf.random.set_seed(3)
    drawn = [float(tf.random.normal([]))]
    with tf.GradientTape(persistent=True) as tape:
        judged(lambda x: tf.reduce_sum(tf.math.softplus(x)), MATRIX)
    drawn.append(float(tf.random.normal([])))
    assert drawn == expected
    assert len(tape.watched_variables()) == 1
