"""Convolutions of any number of dimensions, forward and backward alike."""

from __future__ import annotations

from typing import Any

from gradproof.frontends.jax.lower._table import lower


@lower("conv_general_dilated")
def _convolution(m: Any, event: Any, x: Any, kernel: Any) -> Any:
    """JAX says for each axis what it is; here data are (batch, channel, *space), kernels (*window, channel, filter)."""
    numbers = event.attrs["dimension_numbers"]
    groups, batches = int(event.attrs["feature_group_count"]), int(event.attrs["batch_group_count"])
    x = m.transpose(x, order=tuple(numbers.lhs_spec))
    filters, channels, *space = numbers.rhs_spec
    kernel = m.transpose(kernel, order=(*space, channels, filters))
    if batches > 1:
        x, groups = _groups_of_examples(m, x, batches), batches
    y = m.convolution(
        x,
        kernel,
        groups=groups,
        strides=tuple(event.attrs["window_strides"]),
        padding=tuple(tuple(pair) for pair in event.attrs["padding"]),
        dilation=tuple(event.attrs["rhs_dilation"]),
        input_dilation=tuple(event.attrs["lhs_dilation"]),
    )
    order = [0] * y.ndim
    for place, axis in enumerate(numbers.out_spec):
        order[axis] = place
    return m.transpose(y, order=tuple(order))


def _groups_of_examples(m: Any, x: Any, n: int) -> Any:
    """Examples of one group each have filters of their own: as if the groups were channels of fewer examples."""
    batch, channels, *space = x.shape
    x = m.reshape(x, shape=(n, batch // n, channels, *space))
    x = m.transpose(x, order=(1, 0, 2, *range(3, x.ndim)))
    return m.reshape(x, shape=(batch // n, n * channels, *space))
