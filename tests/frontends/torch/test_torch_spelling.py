"""Ops are called by the names that users know."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

from gradproof.frontends.torch.spelling import spelled

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(
    ("op", "name"),
    [
        ("aten.where.self", "torch.where"),
        ("aten.pow.Tensor_Scalar", "torch.pow"),
        ("aten.add_.Tensor", "torch.add"),
        ("aten._softmax.default", "torch.softmax"),
        ("aten.native_layer_norm.default", "torch.layer_norm"),
        ("aten._to_copy.default", "Tensor.to"),
        ("aten.gt.Scalar", ">"),
        ("aten.linalg_lstsq.default", "torch.linalg.lstsq"),
        ("aten.special_entr.default", "torch.special.entr"),
        ("aten.binary_cross_entropy.default", "torch.nn.functional.binary_cross_entropy"),
        ("mine.special_op.default", "mine.special_op.default"),
    ],
)
def test_the_name_of_an_op(op: str, name: str) -> None:
    assert spelled(op) == name
