"""Rearrangements of space, depth and batch, and patches of images."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.tensorflow.lower._table import ints, is_channels_first, lower, move_axis
from gradproof.frontends.tensorflow.lower.convolution import paddings


def _channels_last(m: Any, event: Any, x: Any) -> Any:
    return move_axis(m, x, 1, x.ndim - 1) if is_channels_first(event) else x


def _as_given(m: Any, event: Any, x: Any) -> Any:
    return move_axis(m, x, x.ndim - 1, 1) if is_channels_first(event) else x


@lower("SpaceToDepth")
def _space_to_depth(m: Any, event: Any, x: Any) -> Any:
    block = int(event.attrs["block_size"])
    n, height, width, depth = _channels_last(m, event, x).shape
    x = m.reshape(
        _channels_last(m, event, x), shape=(n, height // block, block, width // block, block, depth)
    )
    x = m.transpose(x, order=(0, 1, 3, 2, 4, 5))
    return _as_given(
        m, event, m.reshape(x, shape=(n, height // block, width // block, block * block * depth))
    )


@lower("DepthToSpace")
def _depth_to_space(m: Any, event: Any, x: Any) -> Any:
    block = int(event.attrs["block_size"])
    x = _channels_last(m, event, x)
    n, height, width, depth = x.shape
    x = m.reshape(x, shape=(n, height, width, block, block, depth // block**2))
    x = m.transpose(x, order=(0, 1, 3, 2, 4, 5))
    return _as_given(m, event, m.reshape(x, shape=(n, height * block, width * block, depth // block**2)))


def _pairs(x: Any) -> list[tuple[int, int]]:
    flat = ints(x)
    return list(zip(flat[::2], flat[1::2]))


@lower("SpaceToBatchND")
def _space_to_batch_nd(m: Any, event: Any, x: Any, blocks: Any, pads: Any) -> Any:
    return _to_batch(m, x, ints(blocks), _pairs(pads))


@lower("SpaceToBatch")
def _space_to_batch(m: Any, event: Any, x: Any, pads: Any) -> Any:
    return _to_batch(m, x, (int(event.attrs["block_size"]),) * 2, _pairs(pads))


def _to_batch(m: Any, x: Any, blocks: tuple[int, ...], pads: list[tuple[int, int]]) -> Any:
    """Every block's k-th entries become an example of their own."""
    dims = len(blocks)
    x = m.pad(x, widths=((0, 0), *pads, *((0, 0),) * (x.ndim - 1 - dims)))
    n, size, rest = x.shape[0], x.shape[1 : 1 + dims], x.shape[1 + dims :]
    counts = tuple(length // block for length, block in zip(size, blocks))
    paired = tuple(part for pair in zip(counts, blocks) for part in pair)
    x = m.reshape(x, shape=(n, *paired, *rest))
    inner, outer = range(2, 2 + 2 * dims, 2), range(1, 1 + 2 * dims, 2)
    x = m.transpose(x, order=(*inner, 0, *outer, *range(1 + 2 * dims, x.ndim)))
    examples = n
    for block in blocks:
        examples *= block
    return m.reshape(x, shape=(examples, *counts, *rest))


@lower("BatchToSpaceND")
def _batch_to_space_nd(m: Any, event: Any, x: Any, blocks: Any, crops: Any) -> Any:
    return _to_space(m, x, ints(blocks), _pairs(crops))


@lower("BatchToSpace")
def _batch_to_space(m: Any, event: Any, x: Any, crops: Any) -> Any:
    return _to_space(m, x, (int(event.attrs["block_size"]),) * 2, _pairs(crops))


def _to_space(m: Any, x: Any, blocks: tuple[int, ...], crops: list[tuple[int, int]]) -> Any:
    dims = len(blocks)
    n = x.shape[0]
    for block in blocks:
        n //= block
    counts, rest = x.shape[1 : 1 + dims], x.shape[1 + dims :]
    x = m.reshape(x, shape=(*blocks, n, *counts, *rest))
    order = [dims]
    for k in range(dims):
        order += [dims + 1 + k, k]
    x = m.transpose(x, order=(*order, *range(2 * dims + 1, x.ndim)))
    size = tuple(count * block for count, block in zip(counts, blocks))
    x = m.reshape(x, shape=(n, *size, *rest))
    begin = (0, *(before for before, _ in crops), *(0,) * len(rest))
    end = (n, *(length - behind for length, (_, behind) in zip(size, crops)), *rest)
    return m.strided_slice(x, begin=begin, end=end)


@lower("ExtractImagePatches", "ExtractVolumePatches")
def _patches(m: Any, event: Any, x: Any) -> Any:
    """Windows laid out in depth, the channels of each place together."""
    window, strides = (tuple(int(k) for k in event.attrs[name])[1:-1] for name in ("ksizes", "strides"))
    spread = tuple(int(k) for k in event.attrs.get("rates") or (1,) * x.ndim)[1:-1]
    pads = paddings(event, x.shape[1:-1], window, strides, spread)
    parts = m.patches(
        move_axis(m, x, x.ndim - 1, 1), window=window, strides=strides, dilation=spread, padding=pads
    )
    return m.reshape(move_axis(m, parts, 1, parts.ndim - 1), shape=event.outputs[0].shape)
