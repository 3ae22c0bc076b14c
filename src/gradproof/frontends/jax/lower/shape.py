"""Primitives that move, repeat, join or drop entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.jax.lower._table import ints, is_fixed, lower


@lower("reshape")
def _reshape(m: Any, event: Any, x: Any, *_: Any) -> Any:
    if event.attrs.get("dimensions") is not None:
        x = m.transpose(x, order=tuple(event.attrs["dimensions"]))
    return m.reshape(x, shape=event.outputs[0].shape)


@lower("squeeze", "expand_dims")
def _squeeze(m: Any, event: Any, x: Any) -> Any:
    return m.reshape(x, shape=event.outputs[0].shape)


@lower("broadcast_in_dim")
def _broadcast_in_dim(m: Any, event: Any, x: Any, *_: Any) -> Any:
    """The axes of `x` are named; all others are new, and an axis of length one may be repeated."""
    shape = event.outputs[0].shape
    lined_up = [1] * len(shape)
    for axis, n in zip(event.attrs["broadcast_dimensions"], x.shape):
        lined_up[axis] = n
    return m.broadcast(m.reshape(x, shape=tuple(lined_up)), shape=shape)


@lower("transpose")
def _transpose(m: Any, event: Any, x: Any) -> Any:
    return m.transpose(x, order=tuple(event.attrs["permutation"]))


@lower("rev")
def _rev(m: Any, event: Any, x: Any) -> Any:
    return m.reverse(x, axes=tuple(event.attrs["dimensions"]))


@lower("concatenate")
def _concatenate(m: Any, event: Any, *xs: Any) -> Any:
    return m.concat(*xs, axis=int(event.attrs["dimension"]))


@lower("tile")
def _tile(m: Any, event: Any, x: Any) -> Any:
    return m.tile(x, repeats=tuple(event.attrs["reps"]))


@lower("stack")
def _stack(m: Any, event: Any, *xs: Any) -> Any:
    return m.stack(*xs, axis=int(event.attrs.get("axis", 0)))


@lower("gradproof.stack")
def _stack_rows(m: Any, event: Any, *xs: Any) -> Any:
    """What the turns of a loop put out."""
    return m.stack(*xs, axis=0)


@lower("gradproof.row")
def _row(m: Any, event: Any, x: Any) -> Any:
    """What one turn of a loop was given."""
    return m.take(x, np.asarray(event.attrs["row"]), axis=0)


@lower("unstack")
def _unstack(m: Any, event: Any, x: Any) -> Any:
    axis = int(event.attrs.get("axis", 0))
    return tuple(m.take(x, np.asarray(k), axis=axis) for k in range(x.shape[axis]))


@lower("slice")
def _slice(m: Any, event: Any, x: Any) -> Any:
    stride = event.attrs["strides"]
    begin, end = tuple(event.attrs["start_indices"]), tuple(event.attrs["limit_indices"])
    return m.strided_slice(x, begin=begin, end=end, stride=None if stride is None else tuple(stride))


@lower("split")
def _split(m: Any, event: Any, x: Any) -> Any:
    axis, found, begin = int(event.attrs["axis"]), [], 0
    for size in event.attrs["sizes"]:
        lower_end, upper_end = [0] * x.ndim, list(x.shape)
        lower_end[axis], upper_end[axis] = begin, begin + size
        found.append(m.strided_slice(x, begin=tuple(lower_end), end=tuple(upper_end)))
        begin += size
    return tuple(found)


@lower("pad")
def _pad(m: Any, event: Any, x: Any, value: Any) -> Any:
    """Entries before, behind and between; a negative number of them cuts entries off."""
    config = event.attrs["padding_config"]
    inner = [(n - 1) * between + n if n else 0 for n, (_, _, between) in zip(x.shape, config)]
    spread = tuple(between + 1 for _, _, between in config)
    inside = np.zeros(tuple(inner), bool)
    inside[tuple(slice(None, None, step) for step in spread)] = True
    if any(step > 1 for step in spread):
        x = m.embed(x, begin=(0,) * x.ndim, stride=spread, shape=tuple(inner))
    cut_low = tuple(max(-low, 0) for low, _, _ in config)
    cut_high = tuple(n - max(-high, 0) for n, (_, high, _) in zip(inner, config))
    kept = tuple(slice(a, b) for a, b in zip(cut_low, cut_high))
    x = m.strided_slice(x, begin=cut_low, end=cut_high)
    widths = tuple((max(low, 0), max(high, 0)) for low, high, _ in config)
    y = m.pad(x, widths=widths)
    if not np.any(np.asarray(value.value)) and m.is_constant(value):
        return y
    return m.select(np.pad(inside[kept], widths), y, value)


@lower("dynamic_slice")
def _dynamic_slice(m: Any, event: Any, x: Any, *starts: Any) -> Any:
    sizes = tuple(event.attrs["slice_sizes"])
    chosen = [axis for axis, (k, n) in enumerate(zip(sizes, x.shape)) if k < n]
    if len(chosen) == 1 and sizes[chosen[0]] == 1 and not is_fixed(m, starts[chosen[0]]):
        (axis,) = chosen
        if 0 <= int(ints(starts[axis])) < x.shape[axis]:  # one row, and it depends on the numbers which one
            return m.take(x, m.reshape(starts[axis], shape=(1,)), axis=axis)
    begin = _clamped(starts[: x.ndim], x.shape, sizes)
    return m.strided_slice(x, begin=begin, end=tuple(b + n for b, n in zip(begin, sizes)))


@lower("dynamic_update_slice")
def _dynamic_update_slice(m: Any, event: Any, x: Any, update: Any, *starts: Any) -> Any:
    begin = _clamped(starts, x.shape, update.shape)
    if not x.ndim:
        return m.identity(update)
    inside = np.zeros(x.shape, bool)
    inside[tuple(slice(b, b + n) for b, n in zip(begin, update.shape))] = True
    put = m.embed(update, begin=begin, stride=(1,) * x.ndim, shape=tuple(x.shape))
    return m.select(inside, put, x)


def _clamped(starts: Any, shape: Any, sizes: Any) -> tuple[int, ...]:
    """Where a slice begins: JAX moves one that would reach over the edge."""
    return tuple(int(np.clip(int(ints(start)), 0, n - k)) for start, n, k in zip(starts, shape, sizes))
