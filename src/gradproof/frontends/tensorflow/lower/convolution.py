"""Convolutions, and the two backward ops of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradproof.frontends.tensorflow.lower._table import ints, is_channels_first, lower, move_axis


def channels_first(m: Any, event: Any, x: Any) -> Any:
    """Data as (batch, channel, *spatial), from the layout that the op has."""
    return x if is_channels_first(event) else move_axis(m, x, x.ndim - 1, 1)


def as_given(m: Any, event: Any, x: Any) -> Any:
    """Data of (batch, channel, *spatial) in the layout that the op has."""
    return x if is_channels_first(event) else move_axis(m, x, 1, x.ndim - 1)


def spatial(event: Any, entries: Any) -> tuple[int, ...]:
    """The entries of a list with one per axis that belong to spatial axes."""
    whole = tuple(int(entry) for entry in entries)
    return whole[2:] if is_channels_first(event) else whole[1:-1]


def paddings(
    event: Any,
    size: tuple[int, ...],
    window: tuple[int, ...],
    strides: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[tuple[int, int], ...]:
    """How many zeros stand before and behind the data: TensorFlow's SAME puts the odd one behind."""
    kind = str(event.attrs["padding"])
    if kind == "EXPLICIT":
        flat = [int(n) for n in event.attrs["explicit_paddings"]]
        pairs = list(zip(flat[::2], flat[1::2]))
        return tuple(pairs[2:] if is_channels_first(event) else pairs[1:-1])
    if kind == "VALID":
        return ((0, 0),) * len(size)
    found = []
    for n, k, stride, spread in zip(size, window, strides, dilation):
        total = max((-(-n // stride) - 1) * stride + (k - 1) * spread + 1 - n, 0)
        found.append((total // 2, total - total // 2))
    return tuple(found)


def _geometry(event: Any, size: tuple[int, ...], window: tuple[int, ...]) -> dict[str, Any]:
    strides = spatial(event, event.attrs["strides"])
    dilation = spatial(event, event.attrs.get("dilations") or (1,) * (len(size) + 2))
    return {
        "strides": strides,
        "dilation": dilation,
        "padding": paddings(event, size, window, strides, dilation),
    }


Kernel = Callable[[Any, Any], Any]


def _plain(m: Any, kernel: Any) -> Any:
    return kernel


def _per_channel(m: Any, kernel: Any) -> Any:
    """(*window, channels, multiplier) as filters of one channel each."""
    return m.reshape(kernel, shape=(*kernel.shape[:-2], 1, kernel.shape[-2] * kernel.shape[-1]))


def _convolution(name: str, by_input: str, by_kernel: str, as_filters: Kernel) -> None:
    @lower(name)
    def forward(m: Any, event: Any, x: Any, kernel: Any) -> Any:
        x, filters = channels_first(m, event, x), as_filters(m, kernel)
        geometry = _geometry(event, x.shape[2:], kernel.shape[:-2])
        y = m.convolution(x, filters, groups=x.shape[1] // filters.shape[-2], **geometry)
        return as_given(m, event, y)

    @lower(by_input)
    def for_input(m: Any, event: Any, shape: Any, kernel: Any, gy: Any) -> Any:
        size, filters = spatial(event, event.outputs[0].shape), as_filters(m, kernel)
        channels = event.outputs[0].shape[1 if is_channels_first(event) else -1]
        geometry = _geometry(event, size, kernel.shape[:-2])
        gx = m.convolution_transposed(
            channels_first(m, event, gy), filters, size=size, groups=channels // filters.shape[-2], **geometry
        )
        return as_given(m, event, gx)

    @lower(by_kernel)
    def for_kernel(m: Any, event: Any, x: Any, shape: Any, gy: Any) -> Any:
        x, gy = channels_first(m, event, x), channels_first(m, event, gy)
        *window, channels, _ = ints(shape)
        groups = x.shape[1] // (channels if as_filters is _plain else 1)
        geometry = _geometry(event, x.shape[2:], tuple(window))
        gk = m.convolution_kernel(x, gy, window=tuple(window), groups=groups, **geometry)
        return m.reshape(gk, shape=ints(shape))


_convolution("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", _plain)
_convolution("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2", _plain)
_convolution(
    "DepthwiseConv2dNative",
    "DepthwiseConv2dNativeBackpropInput",
    "DepthwiseConv2dNativeBackpropFilter",
    _per_channel,
)
