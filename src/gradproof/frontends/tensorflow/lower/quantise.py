"""Quantisation in training: staircases whose registered gradients treat them as the identity."""

from __future__ import annotations

from typing import Any, NamedTuple

from gradproof.frontends.tensorflow.lower._table import float_attr, lower
from gradproof.ir import types


def _as_float(m: Any, integers: Any, like: Any) -> Any:
    return m.cast(integers, dtype=types.dtype_name(like.value))


def _clamped(m: Any, x: Any, low: Any, high: Any) -> Any:
    above = m.select(m.less(x, low), low, x)
    return m.select(m.greater(above, high), high, above)


class _Grid(NamedTuple):
    """Steps of a quantisation: their height, and the ends of its range, moved so that zero is a step."""

    step: Any
    low: Any
    high: Any


def _nudged(m: Any, event: Any, low: Any, high: Any) -> _Grid:
    first = 1 if event.attrs.get("narrow_range") else 0
    last = 2 ** int(event.attrs["num_bits"]) - 1
    step = m.div(high - low, last - first)
    zero = first - m.div(low, step)
    inner = m.floor(m.add(_clamped(m, zero, m.literal(float(first)), m.literal(float(last))), 0.5))
    place = _as_float(m, inner, step)
    return _Grid(step, m.mul(first - place, step), m.mul(last - place, step))


def _fake_quant(m: Any, grid: _Grid, x: Any) -> Any:
    """The nearest step; half-way cases go up, counted from the step at zero."""
    inside = _clamped(m, x, grid.low, grid.high)
    steps = m.floor(m.add(m.div(inside, grid.step), 0.5))
    return m.mul(_as_float(m, steps, x), grid.step)


def _bounds(m: Any, event: Any) -> tuple[Any, Any]:
    return m.constant(float_attr(event, "min")), m.constant(float_attr(event, "max"))


@lower("FakeQuantWithMinMaxArgs")
def _with_fixed_range(m: Any, event: Any, x: Any) -> Any:
    return _fake_quant(m, _nudged(m, event, *_bounds(m, event)), x)


@lower("FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def _with_given_range(m: Any, event: Any, x: Any, low: Any, high: Any) -> Any:
    return _fake_quant(m, _nudged(m, event, low, high), x)


def _inside(m: Any, grid: _Grid, x: Any) -> Any:
    return m.logical_and(m.greater_equal(x, grid.low), m.less_equal(x, grid.high))


@lower("FakeQuantWithMinMaxArgsGradient")
def _fixed_range_grad(m: Any, event: Any, gy: Any, x: Any) -> Any:
    return m.select(_inside(m, _nudged(m, event, *_bounds(m, event)), x), gy, m.zeros(()))


@lower("FakeQuantWithMinMaxVarsGradient", "FakeQuantWithMinMaxVarsPerChannelGradient")
def _given_range_grad(m: Any, event: Any, gy: Any, x: Any, low: Any, high: Any) -> Any:
    grid = _nudged(m, event, low, high)
    axes = tuple(range(x.ndim - low.ndim))
    g_low = m.sum(m.select(m.less(x, grid.low), gy, m.zeros(())), axes=axes)
    g_high = m.sum(m.select(m.greater(x, grid.high), gy, m.zeros(())), axes=axes)
    return m.select(_inside(m, grid, x), gy, m.zeros(())), g_low, g_high


def _extreme(m: Any, x: Any, decision: str) -> Any:
    flat = m.reshape(x, shape=(x.value.size,))
    return m.reshape(
        m.take(flat, m.reshape(getattr(m, decision)(flat, axis=0), shape=(1,)), axis=0), shape=()
    )


def _per_slice(event: Any, x: Any, bound: Any, m: Any) -> Any:
    axis = int(event.attrs.get("axis", -1))
    if axis == -1:
        return bound
    shape = [1] * x.ndim
    shape[axis] = x.shape[axis]
    return m.reshape(bound, shape=tuple(shape))


def _symmetric_range(m: Any, event: Any, low: Any, high: Any, bits: int) -> tuple[Any, Any, Any]:
    """(step, low, high): zero stays zero, and the step is as large as the wider side needs."""
    if event.attrs.get("signed_input", True):
        last = 2 ** (bits - 1) - 1
        first = -last if event.attrs.get("narrow_range") else -last - 1
    else:
        last, first = 2**bits - 1, 0
    by_high = m.div(high, last)
    step = by_high
    if first:
        by_low = m.div(low, first)
        step = m.select(m.greater(by_low, by_high), by_low, by_high)
    return step, m.mul(step, first), m.mul(step, last)


@lower("QuantizeAndDequantizeV2", "QuantizeAndDequantizeV3", "QuantizeAndDequantizeV4")
def _quantize_and_dequantize(m: Any, event: Any, x: Any, *rest: Any) -> Any:
    given = bool(event.attrs.get("range_given", False))
    is_input = event.op == "QuantizeAndDequantizeV3"
    bits = int(rest[2].value) if is_input else int(event.attrs.get("num_bits", 8))
    if given and len(rest) >= 2:
        low, high = (_per_slice(event, x, bound, m) for bound in rest[:2])
    elif not given and int(event.attrs.get("axis", -1)) == -1:
        low, high = _extreme(m, x, "argmin"), _extreme(m, x, "argmax")
    else:
        raise NotImplementedError("ranges of single slices that were not given")
    step, low, high = _symmetric_range(m, event, low, high, bits)
    scaled = m.div(_clamped(m, x, low, high), step)
    half_up = str(event.attrs.get("round_mode", "HALF_TO_EVEN")) == "HALF_UP"
    steps = m.floor(m.add(scaled, 0.5)) if half_up else m.round(scaled)
    return m.mul(_as_float(m, steps, x), step)


@lower("QuantizeAndDequantizeV4Grad")
def _quantize_and_dequantize_grad(m: Any, event: Any, gy: Any, x: Any, low: Any, high: Any) -> Any:
    """(for the input, for the ends of the range): the kernel returns zeros for the ends."""
    below, above = (_per_slice(event, x, bound, m) for bound in (low, high))
    outside = m.logical_or(m.less(x, below), m.greater(x, above))
    ends = (m.constant(output.array) for output in event.outputs[1:])
    return m.select(outside, m.zeros(()), gy), *ends
