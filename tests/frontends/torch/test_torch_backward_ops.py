"""Ops of which PyTorch tells nobody what they are made of, forward and backward: they have an exact meaning here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.frontends.torch.seen import assert_all_correct, audited, recorded
from torch.nn import functional as F

from gradproof.frontends.assemble.captures import to_captures

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:.*beta:UserWarning")]

_MASK = [[True, False, True], [False, True, False]]


def _leaf(*shape: int) -> Any:
    draw = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, dtype=torch.float64, generator=draw).requires_grad_()


def _grid() -> Any:
    return torch.tensor([[[[-0.7, 0.1], [0.33, -0.2]], [[0.6, 0.55], [-0.1, 0.9]]]]).double().requires_grad_()


def _grid3() -> Any:
    return torch.tensor([[[[[-0.7, 0.1, 0.3], [0.33, -0.2, -0.9]]]]]).double().requires_grad_()


_INDEX, _STARTS = torch.tensor([0, 1, 1, 2, 3, 2]), torch.tensor([0, 2, 5])
_MEET, _ROWS = torch.tensor([[0, 1], [0, 0], [2, 1], [0, 2]]), torch.tensor([0, 2, 0, 0])
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
    "nearest of images": lambda: F.interpolate(_leaf(1, 1, 3, 4), size=(5, 2), mode="nearest"),
    "nearest-exact of volumes": lambda: F.interpolate(_leaf(1, 1, 2, 3, 2), size=3, mode="nearest-exact"),
    "smoothed": lambda: F.interpolate(_leaf(1, 1, 6, 5), size=(3, 4), mode="bilinear", antialias=True),
    "smoothed cubic": lambda: F.interpolate(_leaf(1, 1, 6, 5), size=(3, 7), mode="bicubic", antialias=True),
    "volume": lambda: F.grid_sample(_leaf(1, 2, 2, 3, 3), _grid3(), align_corners=False),
    "volume reflected": lambda: F.grid_sample(
        _leaf(1, 1, 2, 3, 3), 1.7 * _grid3(), padding_mode="reflection", align_corners=True
    ),
    "volume at its border": lambda: F.grid_sample(
        _leaf(1, 1, 2, 3, 3), 1.7 * _grid3(), padding_mode="border", align_corners=False
    ),
    "fractional": lambda: F.fractional_max_pool2d(_leaf(1, 2, 5, 6), 2, (3, 4)),
    "fractional in a volume": lambda: F.fractional_max_pool3d(_leaf(1, 1, 4, 5, 4), 2, (2, 3, 2)),
    "factors": lambda: sum(part.sum() for part in torch.linalg.lu(_leaf(3, 4))[1:]),
    "factors kept": lambda: torch.linalg.lu_solve(*torch.linalg.lu_factor(_leaf(3, 3)), _leaf(3, 2)),
    "factors of a tall one": lambda: torch.linalg.lu_factor(_leaf(5, 3))[0],
    "least squares": lambda: torch.linalg.lstsq(_leaf(5, 3), _leaf(5, 2))[0],
    "shortest": lambda: torch.linalg.lstsq(_leaf(3, 5), _leaf(3, 2))[0],
    "reflections": lambda: torch.linalg.householder_product(_leaf(4, 3), _leaf(3)),
    "reflected": lambda: torch.ormqr(_leaf(4, 3), _leaf(3), _leaf(4, 2), transpose=True),
    "reflected from the right": lambda: torch.ormqr(_leaf(4, 3), _leaf(3), _leaf(2, 4), left=False),
    "unit triangle": lambda: torch.linalg.solve_triangular(
        _leaf(3, 3), _leaf(3, 2), upper=False, unitriangular=True
    ),
    "mode": lambda: _leaf(3, 4).mode(1)[0],
    "bags of means": lambda: F.embedding_bag(_INDEX, _leaf(4, 3), _STARTS, mode="mean", padding_idx=2),
    "bags of maxima": lambda: F.embedding_bag(_INDEX, _leaf(4, 3), _STARTS, mode="max"),
    "weighted bags": lambda: F.embedding_bag(
        _INDEX, _leaf(4, 3), _STARTS, mode="sum", per_sample_weights=_leaf(6)
    ),
}
for _kind in ("sum", "mean", "prod", "amax", "amin"):
    PROGRAMS[f"{_kind} of what meets"] = lambda kind=_kind: _leaf(3, 2).scatter_reduce(
        0, _MEET, _leaf(4, 2), kind
    )
    PROGRAMS[f"{_kind} of what comes"] = lambda kind=_kind: _leaf(3, 2).scatter_reduce(
        0, _MEET, _leaf(4, 2), kind, include_self=False
    )
for _kind in ("mean", "prod", "amax", "amin"):
    PROGRAMS[f"{_kind} of rows"] = lambda kind=_kind: _leaf(3, 2).index_reduce(0, _ROWS, _leaf(4, 2), kind)
for _kind in ("sum", "mean", "max", "min", "prod"):
    PROGRAMS[f"{_kind} of segments"] = lambda kind=_kind: torch.segment_reduce(
        _leaf(5, 2), kind, lengths=torch.tensor([2, 1, 2]), initial=0.75
    )


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
