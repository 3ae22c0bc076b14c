"""Ops that were lowered late, differentiated twice: the second derivative is proven, or TensorFlow has none."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

from tensorflow.python.ops.linalg.sparse import sparse_csr_matrix_ops as csr

from gradproof.audit.examine import examine
from gradproof.diagnosis.report import GradientReport
from gradproof.frontends.assemble.capture import to_capture
from gradproof.frontends.record.sites import always
from gradproof.frontends.tensorflow.hooks import observe
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

pytestmark = pytest.mark.tensorflow


def second(function: Any, array: Any) -> GradientReport:
    """The gradient of the squared gradient of a function."""
    with observe(always) as seen:
        x = tf.Variable(array)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = function(x)
            squares = tf.reduce_sum(inner.gradient(loss, x) ** 2)
        with contextlib.suppress(LookupError):  # TensorFlow may have no gradient of a gradient
            outer.gradient(squares, x)
    assert seen.failures == []
    return examine(to_capture(seen.calls[-1]), Options())[0]


def _regression(x: Any) -> Any:
    return tf.reduce_sum(tf.raw_ops.IsotonicRegression(input=x, output_dtype=x.dtype).output ** 3)


def _product(v: Any) -> Any:
    matrix = csr.sparse_tensor_to_csr_sparse_matrix(np.array([[0, 1], [1, 0]]), v, np.array([2, 2]))
    return tf.reduce_sum(csr.sparse_matrix_mat_mul(matrix, np.array([[1.0, 2.0], [3.0, 5.0]])) ** 3)


def _rows(v: Any) -> Any:
    ragged = tf.RaggedTensor.from_row_splits(v, [0, 2, 2, 3], validate=False)
    return tf.reduce_sum(tf.map_fn(lambda row: tf.reduce_sum(row**3), ragged, fn_output_signature=v.dtype))


def test_the_second_derivative_of_an_isotonic_regression_is_proven() -> None:
    found = second(_regression, np.array([[5.0, 3.5, 1.0, 2.0, 4.0]]))
    assert (found.verdict, found.oracle, found.order) == (Verdict.CORRECT, "ball", 2)


def test_the_second_derivative_of_a_product_with_compressed_rows_is_proven() -> None:
    found = second(_product, np.array([0.5, 2.0]))
    assert (found.verdict, found.oracle, found.order) == (Verdict.CORRECT, "ball", 2)


def test_the_second_derivative_of_ragged_rows_is_known_though_tensorflow_has_none() -> None:
    x = np.array([1.0, 2.0, 3.0])
    found = second(_rows, x)
    assert (found.verdict, [one.kind for one in found.diagnostics]) == (
        Verdict.MISSING,
        ["no-gradient-registered"],
    )
    assert found.reference == pytest.approx(36 * x**3)  # of (3 x^2)^2
