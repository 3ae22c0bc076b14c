"""Convolutions, and their backward op."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gradproof.frontends.torch.lower._table import lower


def _widened(values: Sequence[int], dims: int) -> tuple[int, ...]:
    return tuple(values) * dims if len(values) == 1 else tuple(values)


def _filters(m: Any, weight: Any) -> Any:
    """(filters, channels, *window) as (*window, channels, filters)."""
    return m.transpose(weight, order=(*range(2, weight.ndim), 1, 0))


def _geometry(dims: int, stride: Any, padding: Any, dilation: Any) -> dict[str, Any]:
    pads = _widened(padding, dims)
    return {
        "strides": _widened(stride, dims),
        "dilation": _widened(dilation, dims),
        "padding": tuple((n, n) for n in pads),
    }


def _transposed_filters(m: Any, weight: Any, groups: int) -> Any:
    """(channels in, filters of a group, *window) as the filters of the convolution that this one transposes."""
    return m.transpose(weight, order=(*range(2, weight.ndim), 1, 0))


def _refuse_beyond(transposed: bool, stride: Any, extra: Any, dims: int) -> None:
    """Entries that no window reaches would be those of a larger convolution."""
    if transposed and any(a >= b for a, b in zip(_widened(extra, dims), _widened(stride, dims))):
        raise NotImplementedError("a transposed convolution with more output padding than its stride")


@lower("convolution", "_convolution", "cudnn_convolution", "mkldnn_convolution", "convolution_overrideable")
def _convolution(
    m: Any, e: Any, x: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any,
    transposed: Any = False, output_padding: Any = (0,), groups: int = 1, *_: Any,
) -> Any:  # fmt: skip
    if not isinstance(transposed, bool):
        raise NotImplementedError("a convolution with arguments in another order")
    dims = weight.ndim - 2
    _refuse_beyond(transposed, stride, output_padding, dims)
    batched = x if x.ndim == dims + 2 else m.reshape(x, shape=(1, *x.shape))
    geometry = _geometry(dims, stride, padding, dilation)
    if transposed:
        size = tuple(e.outputs[0].shape[-dims:])
        y = m.convolution_transposed(
            batched, _transposed_filters(m, weight, groups), size=size, groups=groups, **geometry
        )
    else:
        y = m.convolution(batched, _filters(m, weight), groups=groups, **geometry)
    if bias is not None:
        y = m.add(y, m.reshape(bias, shape=(bias.shape[0], *(1,) * dims)))
    return y if batched is x else m.reshape(y, shape=tuple(e.outputs[0].shape))


@lower("convolution_backward")
def _convolution_backward(
    m: Any, e: Any, gy: Any, x: Any, weight: Any, bias_sizes: Any, stride: Any, padding: Any, dilation: Any,
    transposed: Any, output_padding: Any, groups: int, wanted: Sequence[bool],
) -> Any:  # fmt: skip
    """(for the data, for the filters, for the bias); what was not wanted has no result."""
    dims = weight.ndim - 2
    if x.ndim != dims + 2:
        raise NotImplementedError("the backward op of a convolution without a batch")
    _refuse_beyond(transposed, stride, output_padding, dims)
    geometry = _geometry(dims, stride, padding, dilation)
    gx = gw = gb = None
    size, window = tuple(x.shape[2:]), tuple(weight.shape[2:])
    order = (*range(2, weight.ndim), 1, 0)
    back = (weight.ndim - 1, weight.ndim - 2, *range(weight.ndim - 2))
    if not transposed:
        if wanted[0]:
            gx = m.convolution_transposed(gy, _filters(m, weight), size=size, groups=groups, **geometry)
        if wanted[1]:
            gw = m.convolution_kernel(x, gy, window=window, groups=groups, **geometry)
    else:
        if wanted[0]:
            gx = m.convolution(gy, m.transpose(weight, order=order), groups=groups, **geometry)
        if wanted[1]:
            gw = m.convolution_kernel(gy, x, window=window, groups=groups, **geometry)
    if gw is not None:
        gw = m.transpose(gw, order=back)
    if wanted[2]:
        gb = m.sum(gy, axes=(0, *range(2, gy.ndim)))
    made = [one for one in (gx, gw, gb) if one is not None]
    return tuple(made) if len(e.outputs) == len(made) else (gx, gw, gb)
