"""Normalisations: fused batch normalisation, local response normalisation, and half the sum of squares."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import float_attr, is_channels_first, lower


@lower("L2Loss")
def _l2_loss(m: Any, event: Any, x: Any) -> Any:
    return m.sum(m.square(x), axes=tuple(range(x.ndim))) / 2


def _channel(event: Any, x: Any) -> int:
    return 1 if is_channels_first(event) else x.ndim - 1


def _spread(m: Any, event: Any, per_channel: Any, x: Any) -> Any:
    """A number per channel in a shape that broadcasts over the data."""
    shape = [1] * x.ndim
    shape[_channel(event, x)] = per_channel.shape[0]
    return m.reshape(per_channel, shape=tuple(shape))


def _others(event: Any, x: Any) -> tuple[int, ...]:
    return tuple(axis for axis in range(x.ndim) if axis != _channel(event, x))


@lower("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
def _batch_norm(m: Any, event: Any, x: Any, scale: Any, offset: Any, mean: Any, variance: Any) -> Any:
    """(y, mean, variance, and what the backward op is given of them); the variance put out divides by n - 1."""
    epsilon = m.literal(float_attr(event, "epsilon"))
    out_mean, out_variance, kept_mean, kept_variance = mean, variance, mean, variance
    if event.attrs.get("is_training", True):
        axes = _others(event, x)
        kept_mean, kept_variance = m.mean(x, axes=axes), m.var(x, axes=axes)
        n = math.prod(x.shape[axis] for axis in axes)
        share = (
            float_attr(event, "exponential_avg_factor") if "exponential_avg_factor" in event.attrs else 1.0
        )
        out_mean = _blend(m, mean, kept_mean, share)
        out_variance = _blend(
            m,
            variance,
            m.div(m.mul(kept_variance, m.literal(float(n))), m.literal(float(max(n - 1, 1)))),
            share,
        )
    centred = x - _spread(m, event, kept_mean, x)
    factor = m.mul(m.rsqrt(kept_variance + epsilon), scale)
    y = m.mul(centred, _spread(m, event, factor, x)) + _spread(m, event, offset, x)
    results = (y, out_mean, out_variance, kept_mean, kept_variance, None)
    return results[: len(event.outputs)]


def _blend(m: Any, old: Any, new: Any, share: Any) -> Any:
    if float(share) == 1.0:
        return m.identity(new)
    return m.mul(old, m.literal(1.0 - np.float64(share))) + m.mul(new, m.literal(share))


@lower("FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3")
def _batch_norm_grad(
    m: Any, event: Any, gy: Any, x: Any, scale: Any, mean: Any, variance: Any, *_: Any
) -> Any:
    epsilon = m.literal(float_attr(event, "epsilon"))
    axes = _others(event, x)
    root = m.rsqrt(variance + epsilon)
    standard = m.mul(x - _spread(m, event, mean, x), _spread(m, event, root, x))
    g_offset = m.sum(gy, axes=axes)
    g_scale = m.sum(m.mul(gy, standard), axes=axes)
    inner = gy
    if event.attrs.get("is_training", True):
        n = m.literal(float(math.prod(x.shape[axis] for axis in axes)))
        along = m.mul(standard, _spread(m, event, m.div(g_scale, n), x))
        inner = gy - _spread(m, event, m.div(g_offset, n), x) - along
    gx = m.mul(inner, _spread(m, event, m.mul(scale, root), x))
    return (gx, g_scale, g_offset, None, None)[: len(event.outputs)]


def _window_sums(m: Any, x: Any, radius: int) -> Any:
    """Sums over neighbouring channels; the matrix of neighbours is symmetric."""
    n = x.shape[-1]
    near = np.abs(np.arange(n)[:, None] - np.arange(n)) <= radius
    return m.einsum(x, m.literal(near.astype(np.float64)), equation="...c,cd->...d")


def _response(m: Any, event: Any, x: Any) -> tuple[Any, Any, Any]:
    alpha, beta, bias = (m.literal(float_attr(event, name)) for name in ("alpha", "beta", "bias"))
    near = _window_sums(m, m.square(x), int(event.attrs["depth_radius"]))
    return m.mul(near, alpha) + bias, alpha, beta


@lower("LRN")
def _response_norm(m: Any, event: Any, x: Any) -> Any:
    norm, _, beta = _response(m, event, x)
    return m.mul(x, m.power(norm, -beta))


@lower("LRNGrad")
def _response_norm_grad(m: Any, event: Any, gy: Any, x: Any, y: Any) -> Any:
    norm, alpha, beta = _response(m, event, x)
    shared = _window_sums(m, m.div(m.mul(gy, y), norm), int(event.attrs["depth_radius"]))
    return m.mul(gy, m.power(norm, -beta)) - m.mul(m.mul(x, shared), m.mul(m.mul(alpha, beta), 2))
