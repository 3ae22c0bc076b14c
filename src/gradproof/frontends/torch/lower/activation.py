"""Activations and their backward ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower, number


def _masked(m: Any, gy: Any, mask: Any) -> Any:
    return m.select(mask, gy, m.zeros(()))


@lower("relu")
def _relu(m: Any, e: Any, x: Any) -> Any:
    return m.select(m.greater(x, 0), x, m.zeros(()))


@lower("relu6")
def _relu6(m: Any, e: Any, x: Any) -> Any:
    return _hardtanh(m, e, x, 0.0, 6.0)


@lower("threshold")
def _threshold(m: Any, e: Any, x: Any, threshold: Any, value: Any) -> Any:
    return m.select(m.greater(x, number(m, threshold, x)), x, number(m, value, x))


@lower("threshold_backward")
def _threshold_backward(m: Any, e: Any, gy: Any, x: Any, threshold: Any) -> Any:
    return _masked(m, gy, m.greater(x, number(m, threshold, x)))


@lower("leaky_relu")
def _leaky_relu(m: Any, e: Any, x: Any, slope: Any = 0.01) -> Any:
    return m.select(m.greater(x, 0), x, m.mul(x, number(m, slope, x)))


@lower("leaky_relu_backward")
def _leaky_relu_backward(m: Any, e: Any, gy: Any, x: Any, slope: Any, is_result: Any) -> Any:
    return m.select(m.greater(x, 0), gy, m.mul(gy, number(m, slope, gy)))


@lower("rrelu_with_noise")
def _rrelu(
    m: Any, e: Any, x: Any, noise: Any, low: Any = 0.125, high: Any = 1 / 3, training: Any = False
) -> Any:
    """In training the slopes that were drawn are what the op has written."""
    if not training:
        return m.select(m.greater(x, 0), x, m.mul(x, number(m, (low + high) / 2, x)))
    drawn = m.constant(np.asarray(e.outputs[1].array))
    return m.select(m.greater(x, 0), x, m.mul(x, drawn)), drawn


@lower("_prelu_kernel")
def _prelu(m: Any, e: Any, x: Any, weight: Any) -> Any:
    return m.select(m.greater(x, 0), x, m.mul(weight, x))


@lower("_prelu_kernel_backward")
def _prelu_backward(m: Any, e: Any, gy: Any, x: Any, weight: Any) -> Any:
    above = m.greater(x, 0)
    return m.select(above, gy, m.mul(weight, gy)), m.select(above, m.zeros(()), m.mul(x, gy))


@lower("elu")
def _elu(m: Any, e: Any, x: Any, alpha: Any = 1, scale: Any = 1, input_scale: Any = 1) -> Any:
    alpha, scale, inner = (number(m, one, x) for one in (alpha * scale, scale, input_scale))
    below = m.mul(m.expm1(m.mul(x, inner)), alpha)
    return m.select(m.greater(x, 0), m.mul(x, scale), below)


@lower("elu_backward")
def _elu_backward(
    m: Any, e: Any, gy: Any, alpha: Any, scale: Any, input_scale: Any, is_result: Any, x: Any
) -> Any:
    inner, outer, scaled = (number(m, one, gy) for one in (input_scale, scale, alpha * scale))
    if is_result:
        below = m.mul(m.mul(gy, inner), m.add(x, scaled))
        return m.select(m.less_equal(x, 0), below, m.mul(gy, outer))
    below = m.mul(m.mul(m.mul(gy, inner), scaled), m.exp(m.mul(x, inner)))
    return m.select(m.less_equal(x, 0), below, m.mul(gy, outer))


@lower("celu")
def _celu(m: Any, e: Any, x: Any, alpha: Any = 1.0) -> Any:
    return _elu(m, e, x, alpha, 1.0, 1.0 / alpha)


@lower("selu")
def _selu(m: Any, e: Any, x: Any) -> Any:
    return _elu(m, e, x, 1.6732632423543772, 1.0507009873554805)


@lower("hardtanh")
def _hardtanh(m: Any, e: Any, x: Any, low: Any = -1, high: Any = 1) -> Any:
    bottom, top = number(m, low, x), number(m, high, x)
    x = m.select(m.less(x, bottom), bottom, x)
    return m.select(m.greater(x, top), top, x)


@lower("hardtanh_backward")
def _hardtanh_backward(m: Any, e: Any, gy: Any, x: Any, low: Any, high: Any) -> Any:
    inside = m.logical_and(m.greater(x, number(m, low, x)), m.less(x, number(m, high, x)))
    return _masked(m, gy, inside)


@lower("hardsigmoid")
def _hardsigmoid(m: Any, e: Any, x: Any) -> Any:
    return m.div(_hardtanh(m, e, x + 3, 0.0, 6.0), 6)


@lower("hardsigmoid_backward")
def _hardsigmoid_backward(m: Any, e: Any, gy: Any, x: Any) -> Any:
    return _masked(m, m.div(gy, 6), m.logical_and(m.greater(x, -3), m.less(x, 3)))


@lower("hardswish")
def _hardswish(m: Any, e: Any, x: Any) -> Any:
    return m.mul(x, _hardsigmoid(m, e, x))


@lower("hardswish_backward")
def _hardswish_backward(m: Any, e: Any, gy: Any, x: Any) -> Any:
    middle = m.mul(gy, m.add(m.div(x, 3), 0.5))
    return m.select(m.less_equal(x, -3), m.zeros(()), m.select(m.less(x, 3), middle, gy))


@lower("silu")
def _silu(m: Any, e: Any, x: Any) -> Any:
    return m.mul(x, m.sigmoid(x))


@lower("silu_backward")
def _silu_backward(m: Any, e: Any, gy: Any, x: Any) -> Any:
    s = m.sigmoid(x)
    return m.mul(gy, m.mul(s, 1 + m.mul(x, 1 - s)))


@lower("mish")
def _mish(m: Any, e: Any, x: Any) -> Any:
    return m.mul(x, m.tanh(m.softplus(x)))


@lower("mish_backward")
def _mish_backward(m: Any, e: Any, gy: Any, x: Any) -> Any:
    t, s = m.tanh(m.softplus(x)), m.sigmoid(x)
    return m.mul(gy, m.add(t, m.mul(m.mul(x, s), 1 - t * t)))


@lower("log_sigmoid_forward")
def _log_sigmoid(m: Any, e: Any, x: Any) -> Any:
    """(the result, a buffer for its backward op)."""
    return m.log_sigmoid(x), None


@lower("log_sigmoid_backward")
def _log_sigmoid_backward(m: Any, e: Any, gy: Any, x: Any, buffer: Any) -> Any:
    return m.mul(gy, m.sigmoid(-x))


@lower("softplus")
def _softplus(m: Any, e: Any, x: Any, beta: Any = 1, threshold: Any = 20) -> Any:
    """Above the threshold the kernel returns its input: that is a branch the program took."""
    scaled = m.mul(x, number(m, beta, x))
    smooth = m.div(m.softplus(scaled), number(m, beta, x))
    return m.select(m.greater(scaled, number(m, threshold, x)), x, smooth)


@lower("softplus_backward")
def _softplus_backward(m: Any, e: Any, gy: Any, x: Any, beta: Any, threshold: Any) -> Any:
    scaled = m.mul(x, number(m, beta, x))
    return m.select(m.greater(scaled, number(m, threshold, x)), gy, m.mul(gy, m.sigmoid(scaled)))


@lower("softshrink")
def _softshrink(m: Any, e: Any, x: Any, lambd: Any = 0.5) -> Any:
    size = number(m, lambd, x)
    below = m.select(m.less(x, -size), m.add(x, size), m.zeros(()))
    return m.select(m.greater(x, size), m.sub(x, size), below)


@lower("hardshrink")
def _hardshrink(m: Any, e: Any, x: Any, lambd: Any = 0.5) -> Any:
    return m.select(_within(m, x, lambd), m.zeros(()), x)


@lower("softshrink_backward", "hardshrink_backward")
def _shrink_backward(m: Any, e: Any, gy: Any, x: Any, lambd: Any) -> Any:
    return m.select(_within(m, x, lambd), m.zeros(()), gy)


def _within(m: Any, x: Any, size: Any) -> Any:
    size = number(m, size, x)
    return m.logical_and(m.greater_equal(x, -size), m.less_equal(x, size))


_KAPPA = 0.044715


def _tanh_argument(m: Any, x: Any) -> Any:
    scale = number(m, math.sqrt(2.0 / math.pi), x)
    return m.mul(scale, m.add(x, m.mul(number(m, _KAPPA, x), m.integer_power(x, exponent=3))))


@lower("gelu")
def _gelu(m: Any, e: Any, x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return m.mul(m.mul(x, number(m, 0.5, x)), 1 + m.tanh(_tanh_argument(m, x)))
    return m.mul(x, m.ndtr(x))


@lower("gelu_backward")
def _gelu_backward(m: Any, e: Any, gy: Any, x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        t = m.tanh(_tanh_argument(m, x))
        scale = number(m, math.sqrt(2.0 / math.pi), x)
        inner = m.mul(scale, 1 + m.mul(number(m, 3 * _KAPPA, x), m.square(x)))
        slope = m.mul(0.5 * x, m.mul(1 - t * t, inner))
        return m.mul(gy, m.add(m.mul(number(m, 0.5, x), 1 + t), slope))
    density = m.times(m.exp(m.mul(m.square(x), -0.5)), constant="1/sqrt(2pi)")
    return m.mul(gy, m.add(m.ndtr(x), m.mul(x, density)))


@lower("glu")
def _glu(m: Any, e: Any, x: Any, dim: int = -1) -> Any:
    a, b = _halves(m, x, dim % x.ndim)
    return m.mul(a, m.sigmoid(b))


@lower("glu_backward")
def _glu_backward(m: Any, e: Any, gy: Any, x: Any, dim: int) -> Any:
    a, b = _halves(m, x, dim % x.ndim)
    s = m.sigmoid(b)
    return m.concat(m.mul(gy, s), m.mul(m.mul(gy, a), m.mul(s, 1 - s)), axis=dim % x.ndim)


def _halves(m: Any, x: Any, axis: int) -> tuple[Any, Any]:
    n = x.shape[axis] // 2
    first, second = (m.take(x, np.arange(n) + k * n, axis=axis) for k in (0, 1))
    return first, second
