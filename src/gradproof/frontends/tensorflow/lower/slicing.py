"""Slices, parts, paddings, reversals: ops that cut out, surround or turn round."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradproof.frontends.assemble.lists import TensorList
from gradproof.frontends.tensorflow.lower._table import ints, lower, scatter_axis


class _StridedCut(NamedTuple):
    """A strided slice with all masks resolved: one range per axis of the tensor, counted as `range` counts."""

    begin: tuple[int, ...]
    end: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(range(*part)) for part in zip(*self))


def _has(event: Any, mask: str, place: int) -> bool:
    return bool(int(event.attrs.get(mask, 0)) >> place & 1)


def _cut(event: Any, shape: tuple[int, ...], begin: Any, end: Any, strides: Any) -> _StridedCut:
    """The masks say which entries of the specification stand for an ellipsis, a new axis, a single place."""
    spec = list(zip(ints(begin), ints(end), ints(strides)))
    new = [_has(event, "new_axis_mask", k) for k in range(len(spec))]
    dots = [_has(event, "ellipsis_mask", k) for k in range(len(spec))]
    named = sum(not (is_new or is_dots) for is_new, is_dots in zip(new, dots))
    ranges: list[tuple[int, int, int]] = []
    for k, (first, last, step) in enumerate(spec):
        n = shape[len(ranges)] if len(ranges) < len(shape) else 0
        if dots[k]:
            ranges += [(0, n, 1) for n in shape[len(ranges) : len(ranges) + len(shape) - named]]
        elif new[k]:
            continue
        elif _has(event, "shrink_axis_mask", k):
            place = first % n if n else first
            ranges.append((place, place + 1, 1))
        else:
            low = None if _has(event, "begin_mask", k) else first
            high = None if _has(event, "end_mask", k) else last
            ranges.append(slice(low, high, step).indices(n))
    ranges += [(0, n, 1) for n in shape[len(ranges) :]]
    return _StridedCut(*(tuple(part) for part in zip(*ranges))) if ranges else _StridedCut((), (), ())


@lower("StridedSlice")
def _strided_slice(m: Any, event: Any, x: Any, begin: Any, end: Any, strides: Any) -> Any:
    cut = _cut(event, x.shape, begin, end, strides)
    part = m.strided_slice(x, begin=cut.begin, end=cut.end, stride=cut.stride)
    return m.reshape(part, shape=event.outputs[0].shape)


@lower("StridedSliceGrad")
def _strided_slice_grad(m: Any, event: Any, shape: Any, begin: Any, end: Any, strides: Any, gy: Any) -> Any:
    cut = _cut(event, ints(shape), begin, end, strides)
    return m.embed(m.reshape(gy, shape=cut.shape), begin=cut.begin, stride=cut.stride, shape=ints(shape))


@lower("TensorStridedSliceUpdate")
def _strided_slice_update(m: Any, event: Any, x: Any, begin: Any, end: Any, strides: Any, value: Any) -> Any:
    cut = _cut(event, x.shape, begin, end, strides)
    axes = [np.arange(*part) for part in zip(*cut)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    # What is written may be broadcast to the slice.
    shape = _shape_of_slice(event, cut)
    value = m.reshape(m.broadcast(value, shape=shape), shape=cut.shape)
    return m.scatter_update(x, places, value)


def _shape_of_slice(event: Any, cut: _StridedCut) -> tuple[int, ...]:
    if int(event.attrs.get("new_axis_mask", 0)) or int(event.attrs.get("shrink_axis_mask", 0)):
        raise NotImplementedError("an update that drops or adds axes")
    return cut.shape


@lower("Slice")
def _slice(m: Any, event: Any, x: Any, begin: Any, size: Any) -> Any:
    first = ints(begin)
    ends = tuple(b + n for b, n in zip(first, event.outputs[0].shape))
    return m.strided_slice(x, begin=first, end=ends)


def _parts(m: Any, x: Any, axis: int, lengths: tuple[int, ...]) -> list[Any]:
    parts, first = [], 0
    for length in lengths:
        begin, end = [0] * x.ndim, list(x.shape)
        begin[axis], end[axis] = first, first + length
        parts.append(m.strided_slice(x, begin=tuple(begin), end=tuple(end)))
        first += length
    return parts


@lower("Split")
def _split(m: Any, event: Any, axis: Any, x: Any) -> Any:
    along = ints(axis)[0] % x.ndim
    return tuple(_parts(m, x, along, tuple(output.shape[along] for output in event.outputs)))


@lower("SplitV")
def _split_v(m: Any, event: Any, x: Any, sizes: Any, axis: Any) -> Any:
    return _split(m, event, axis, x)


@lower("Unpack")
def _unpack(m: Any, event: Any, x: Any) -> Any:
    if isinstance(x, TensorList):
        return x.items
    axis = int(event.attrs.get("axis", 0)) % x.ndim
    shape = tuple(n for k, n in enumerate(x.shape) if k != axis)
    return tuple(m.reshape(part, shape=shape) for part in _parts(m, x, axis, (1,) * x.shape[axis]))


def _widths(paddings: Any) -> tuple[tuple[int, int], ...]:
    flat = ints(paddings)
    return tuple(zip(flat[::2], flat[1::2]))


@lower("Pad")
def _pad(m: Any, event: Any, x: Any, paddings: Any) -> Any:
    return m.pad(x, widths=_widths(paddings))


@lower("PadV2")
def _pad_with(m: Any, event: Any, x: Any, paddings: Any, value: Any) -> Any:
    return m.pad(x, m.reshape(value, shape=()), widths=_widths(paddings))


@lower("MirrorPad")
def _mirror_pad(m: Any, event: Any, x: Any, paddings: Any) -> Any:
    return m.mirror_pad(x, widths=_widths(paddings), mode=str(event.attrs["mode"]).lower())


@lower("MirrorPadGrad")
def _mirror_pad_grad(m: Any, event: Any, gy: Any, paddings: Any) -> Any:
    mode: Any = str(event.attrs["mode"]).lower()
    for axis, width in enumerate(_widths(paddings)):
        n = gy.shape[axis] - sum(width)
        gy = scatter_axis(m, gy, np.pad(np.arange(n), width, mode=mode), axis, n)
    return gy


@lower("ReverseV2")
def _reverse(m: Any, event: Any, x: Any, axes: Any) -> Any:
    return m.reverse(x, axes=tuple(axis % x.ndim for axis in ints(axes)))


@lower("Reverse")
def _reverse_flags(m: Any, event: Any, x: Any, flags: Any) -> Any:
    return m.reverse(x, axes=tuple(axis for axis, flag in enumerate(ints(flags)) if flag))


@lower("ReverseSequence")
def _reverse_sequence(m: Any, event: Any, x: Any, lengths: Any) -> Any:
    """The first entries of every sequence turned round, as many as it is long; the rest stays."""
    along, batch = int(event.attrs["seq_dim"]), int(event.attrs.get("batch_dim", 0))
    place = np.arange(x.shape[along])
    length = np.asarray(lengths.value)[:, None]
    turned = np.where(place < length, length - 1 - place, place)
    shape = [1] * x.ndim
    shape[batch], shape[along] = turned.shape
    turned = turned if batch < along else turned.T
    return m.take_along(x, np.broadcast_to(turned.reshape(shape), x.shape), axis=along)


@lower("Roll")
def _roll(m: Any, event: Any, x: Any, shift: Any, axis: Any) -> Any:
    return m.roll(x, shifts=ints(shift), axes=tuple(k % x.ndim for k in ints(axis)))
