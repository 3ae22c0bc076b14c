"""Ops of which PyTorch tells nobody what they are made of, forward and backward: they have an exact meaning here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import assert_all_correct, audited, recorded
from torch.nn import functional as F

from gradproof.frontends.assemble.captures import to_captures

pytestmark = pytest.mark.torch

_MASK = [[True, False, True], [False, True, False]]


def _leaf(*shape: int) -> Any:
    draw = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=draw).requires_grad_()


def _grid() -> Any:
    return torch.tensor([[[[-0.7, 0.1], [0.33, -0.2]], [[0.6, 0.55], [-0.1, 0.9]]]]).double().requires_grad_()


PROGRAMS: dict[str, Callable[[], Any]] = {
    "nearest": lambda: F.interpolate(_leaf(1, 2, 5), size=8, mode="nearest"),
    "nearest-exact": lambda: F.interpolate(_leaf(1, 2, 5), size=8, mode="nearest-exact"),
    "linear": lambda: F.interpolate(_leaf(1, 2, 5), size=8, mode="linear", align_corners=True),
    "bilinear": lambda: F.interpolate(_leaf(1, 2, 3, 4), scale_factor=1.7, mode="bilinear"),
    "bicubic": lambda: F.interpolate(_leaf(1, 1, 3, 4), size=(5, 6), mode="bicubic"),
    "trilinear": lambda: F.interpolate(_leaf(1, 1, 2, 3, 2), size=(3, 4, 3), mode="trilinear"),
    "grid": lambda: F.grid_sample(_leaf(1, 2, 4, 4), _grid(), align_corners=False),
    "grid of data": lambda: F.grid_sample(_leaf(1, 2, 4, 4).detach(), _grid(), align_corners=True),
    "margins": lambda: F.multi_margin_loss(_leaf(3, 4), torch.tensor([1, 0, 3]), p=2),
    "masked_scatter": lambda: torch.zeros(2, 3).double().masked_scatter(torch.tensor(_MASK), _leaf(7)),
    "three factors": lambda: F.bilinear(_leaf(5, 3), _leaf(5, 4), _leaf(2, 3, 4), _leaf(2)),
    "cholesky_inverse": lambda: torch.cholesky_inverse((_leaf(3, 3) + 3 * torch.eye(3)).tril()),
    "rrelu": lambda: F.rrelu(_leaf(6), training=True),
    "rrelu in use": lambda: F.rrelu(_leaf(6)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_op_of_it_is_opaque_and_the_gradient_is_proven(name: str) -> None:
    def program() -> None:
        PROGRAMS[name]().square().sum().backward()

    for capture in (one for call in recorded(program) for one in to_captures(call)):
        assert capture.gradient_program is not None
        assert [node.op for node in capture.gradient_program.nodes if node.is_opaque] == []
    report = audited(program)
    assert_all_correct(report)
    assert {gradient.oracle for gradient in report.gradients} == {"ball"}


def test_a_factor_is_read_by_its_triangle_alone_and_pytorch_differentiates_all_of_it() -> None:
    def program() -> None:
        torch.cholesky_inverse(_leaf(3, 3) + 3 * torch.eye(3)).square().sum().backward()

    (one,) = audited(program).gradients
    assert one.verdict.value == "wrong"
    assert [cause.kind for cause in one.diagnostics] == ["framework-rule"]
