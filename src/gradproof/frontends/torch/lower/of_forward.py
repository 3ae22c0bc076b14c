"""Backward ops whose forward op is decomposed: they mean its derivative, if that is what they returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.frontends.torch.lower._decomposed import DecomposedOp, decomposed
from gradproof.frontends.torch.lower._table import LOWERINGS, lower
from gradproof.frontends.torch.lower._transposed import confirmed, gradients
from gradproof.frontends.torch.record.recorder import Ref

_RESIZED = (
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d",
    "_upsample_nearest_exact2d", "_upsample_nearest_exact3d", "upsample_linear1d", "upsample_bilinear2d",
    "upsample_bicubic2d", "upsample_trilinear3d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa",
)  # fmt: skip


def _forward(m: Any, op: str, *args: Any) -> tuple[Any, ...]:
    """What a forward op means, by its decomposition."""
    xs = [one for one in args if isinstance(one, Traced)]
    places = iter(range(len(xs)))
    given = tuple(Ref(next(places)) if isinstance(one, Traced) else one for one in args)
    return decomposed(LOWERINGS.get, m, DecomposedOp(op, {"args": given, "kwargs": {}}, ()), xs)


def _resized(name: str) -> None:
    @lower(f"{name}_backward")
    def backward(m: Any, e: Any, gy: Any, size: Sequence[int], shape: Sequence[int], *options: Any) -> Any:
        """The forward op is linear: its derivative is the same everywhere."""
        x = m.constant(np.zeros(tuple(shape), gy.value.dtype))
        op = f"aten.{name}.default"
        return confirmed(e, gradients(m, lambda v: _forward(m, op, v, size, *options), [x], [gy]))


for _name in _RESIZED:
    _resized(_name)


@lower("grid_sampler_2d_backward", "grid_sampler_3d_backward")
def _grid_sampler_backward(
    m: Any, e: Any, gy: Any, x: Any, grid: Any, mode: int, padding: int, corners: Any, wanted: Sequence[Any]
) -> Any:
    def forward(x: Any, grid: Any) -> Any:
        return _forward(m, e.op.replace("_backward", ""), x, grid, mode, padding, corners)

    found = gradients(m, forward, [x, grid], [gy])
    return confirmed(e, [one for one, is_wanted in zip(found, wanted) if is_wanted])


@lower("multi_margin_loss_backward")
def _multi_margin_backward(m: Any, e: Any, gy: Any, x: Any, *options: Any) -> Any:
    op = "aten.multi_margin_loss.default"
    return confirmed(e, gradients(m, lambda v: _forward(m, op, v, *options), [x], [gy]))


@lower("multilabel_margin_loss_backward")
def _multilabel_margin_backward(
    m: Any, e: Any, gy: Any, x: Any, target: Any, reduction: int, is_target: Any
) -> Any:
    op = "aten.multilabel_margin_loss_forward.default"
    return confirmed(e, gradients(m, lambda v: _forward(m, op, v, target, reduction), [x], [gy]))
