"""Ops of TensorFlow go by the names that users write."""

from __future__ import annotations

import pytest

pytest.importorskip("tensorflow")

from gradproof.frontends.tensorflow.spelling import spelled

pytestmark = pytest.mark.tensorflow


@pytest.mark.parametrize(
    ("op", "name"),
    {
        "ArgMax": "tf.argmax", "Cumprod": "tf.math.cumprod", "TopKV2": "tf.math.top_k", "Conv2D": "tf.nn.conv2d",
        "MatrixDeterminant": "tf.linalg.det", "SelectV2": "tf.where", "Greater": ">", "NobodysOp": "NobodysOp",
        "SoftmaxCrossEntropyWithLogits": "tf.nn.softmax_cross_entropy_with_logits",
    }.items(),
)  # fmt: skip
def test_an_op_has_the_name_that_users_know(op: str, name: str) -> None:
    assert spelled(op) == name
