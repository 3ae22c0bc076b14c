"""Ops that PyTorch has no decomposition of, written in terms of its others: samples of volumes, smoothed resizing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import torch

_ZEROS, _BORDER, _REFLECTION = range(3)
_LINEAR, _NEAREST = range(2)


def _unscaled(grid: Any, n: int, corners: bool) -> Any:
    """From -1 ... 1 to places along an axis."""
    return (grid + 1) / 2 * (n - 1) if corners else ((grid + 1) * n - 1) / 2


def _reflected(x: Any, low: float, span: float) -> Any:
    if span == 0:
        return torch.zeros_like(x)
    away = (x - low).abs()
    turns = (away / span).floor()
    extra = away - turns * span
    return torch.where(turns.remainder(2) == 0, extra + low, span - extra + low)


def _place(grid: Any, n: int, padding: int, corners: bool) -> Any:
    x = _unscaled(grid, n, corners)
    if padding == _REFLECTION:
        x = _reflected(x, 0.0, float(n - 1)) if corners else _reflected(x, -0.5, float(n))
    return x if padding == _ZEROS else x.clamp(0, n - 1)


def _grid_sampler_3d(x: Any, grid: Any, mode: int, padding: int, corners: bool) -> Any:
    """The entries around each place of a volume, weighted by how near they are; what lies outside counts as 0."""
    n, channels, *sizes = x.shape
    where = [_place(grid[..., 2 - k], sizes[k], padding, corners) for k in range(3)]
    flat = x.reshape(n, channels, -1)
    if mode == _NEAREST:
        return _entries(flat, [one.round() for one in where], sizes, grid.shape[1:4])
    if mode != _LINEAR:
        raise NotImplementedError("volumes are not sampled by cubics")
    floors = [one.floor() for one in where]
    total = None
    for steps in itertools.product((0, 1), repeat=3):
        weight = torch.ones_like(where[0])
        for one, floor, step in zip(where, floors, steps):
            weight = weight * ((one - floor) if step else (floor + 1 - one))
        near = _entries(flat, [floor + step for floor, step in zip(floors, steps)], sizes, grid.shape[1:4])
        total = near * weight[:, None] if total is None else total + near * weight[:, None]
    return total


def _entries(flat: Any, places: list[Any], sizes: list[int], shape: Any) -> Any:
    inside, index = None, None
    for place, size in zip(places, sizes):
        own = (place >= 0) & (place < size)
        inside = own if inside is None else inside & own
        number = torch.where(own, place, torch.zeros_like(place)).to(torch.int64)
        index = number if index is None else index * size + number
    assert index is not None and inside is not None
    n, channels = flat.shape[:2]
    wide = index.reshape(n, 1, -1).expand(n, channels, -1)
    found = flat.gather(2, wide).reshape(n, channels, *shape)
    return torch.where(inside[:, None], found, torch.zeros((), dtype=flat.dtype))


def _tent(x: Any) -> Any:
    return (1 - x.abs()).clamp(min=0)


def _cubic(x: Any) -> Any:
    a, x = -0.5, x.abs()
    inner = ((a + 2) * x - (a + 3)) * x * x + 1
    outer = (((x - 5) * x + 8) * x - 4) * a
    return torch.where(x < 1, inner, torch.where(x < 2, outer, torch.zeros_like(x)))


def _shares(n: int, count: int, corners: bool, scale: Any, kernel: Any, reach: int, dtype: Any) -> Any:
    """(entries, results): how much of each entry is in each result; they add up to one."""
    if corners:
        step = (n - 1) / (count - 1) if count > 1 else 0.0
    else:
        step = 1.0 / scale if scale is not None and scale > 0 else n / count
    spread = max(step, 1.0)
    support = reach * 0.5 * spread
    columns = []
    for k in range(count):
        centre = step * (k + 0.5)
        begin, end = max(int(centre - support + 0.5), 0), min(int(centre + support + 0.5), n)
        own = torch.zeros(n, dtype=dtype)
        own[begin:end] = kernel((torch.arange(begin, end, dtype=dtype) - centre + 0.5) / spread)
        columns.append(own / own.sum())
    return torch.stack(columns, 1)


def _smoothed(kernel: Callable[[Any], Any], reach: int) -> Callable[..., Any]:
    def resized(x: Any, size: Any, corners: bool, scale_h: Any = None, scale_w: Any = None) -> Any:
        with torch.utils._python_dispatch._disable_current_modes():  # weights do not depend on the image
            rows = _shares(x.shape[-2], size[0], corners, scale_h, kernel, reach, x.dtype)
            columns = _shares(x.shape[-1], size[1], corners, scale_w, kernel, reach, x.dtype)
        return torch.matmul(torch.matmul(x, columns).mT, rows).mT

    return resized


OURS: dict[str, Callable[..., Any]] = {
    "grid_sampler_3d": _grid_sampler_3d,
    "_upsample_bilinear2d_aa": _smoothed(_tent, 2),
    "_upsample_bicubic2d_aa": _smoothed(_cubic, 4),
}
"""By the names of packets."""
