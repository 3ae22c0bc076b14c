"""Losses of `nn.functional` that reach the backend whole, and their backward ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import ints, lower, number
from gradproof.frontends.torch.lower.elementary import absolute

NONE, MEAN, SUM = 0, 1, 2


def _reduced(m: Any, x: Any, reduction: int) -> Any:
    axes = tuple(range(x.ndim))
    if reduction == NONE:
        return x
    return m.mean(x, axes=axes) if reduction == MEAN else m.sum(x, axes=axes)


def _share(m: Any, gy: Any, x: Any, reduction: int) -> Any:
    """What reaches every entry of the gradient of a reduced loss."""
    return m.div(gy, math.prod(x.shape)) if reduction == MEAN else gy


@lower("mse_loss")
def _mse(m: Any, e: Any, x: Any, y: Any, reduction: int = MEAN) -> Any:
    return _reduced(m, m.square(m.sub(x, y)), reduction)


@lower("mse_loss_backward")
def _mse_backward(m: Any, e: Any, gy: Any, x: Any, y: Any, reduction: int) -> Any:
    return m.mul(m.mul(m.sub(x, y), 2), _share(m, gy, x, reduction))


@lower("binary_cross_entropy")
def _bce(m: Any, e: Any, x: Any, y: Any, weight: Any = None, reduction: int = MEAN) -> Any:
    """The kernel keeps both logarithms from going below -100."""
    floor = number(m, -100.0, x)
    log_x, log_rest = (_at_least(m, m.log(p), floor) for p in (x, 1 - x))
    loss = m.sub(m.mul(m.sub(y, 1), log_rest), m.mul(y, log_x))
    loss = loss if weight is None else m.mul(loss, weight)
    return _reduced(m, loss, reduction)


def _at_least(m: Any, x: Any, floor: Any) -> Any:
    return m.select(m.greater_equal(x, floor), x, floor)


@lower("binary_cross_entropy_backward")
def _bce_backward(m: Any, e: Any, gy: Any, x: Any, y: Any, weight: Any = None, reduction: int = MEAN) -> Any:
    """The kernel divides by p (1 - p), but never by less than 1e-12."""
    slope = _at_least(m, m.mul(1 - x, x), number(m, 1e-12, x))
    g = m.div(m.mul(_share(m, gy, x, reduction), m.sub(x, y)), slope)
    return g if weight is None else m.mul(g, weight)


@lower("binary_cross_entropy_with_logits")
def _bce_with_logits(
    m: Any, e: Any, x: Any, y: Any, weight: Any = None, pos_weight: Any = None, reduction: int = MEAN
) -> Any:
    scale = 1 if pos_weight is None else m.add(m.mul(m.sub(pos_weight, 1), y), 1)
    loss = m.sub(m.mul(m.sub(1, y), x), m.mul(m.log_sigmoid(x), scale))
    loss = loss if weight is None else m.mul(loss, weight)
    return _reduced(m, loss, reduction)


@lower("smooth_l1_loss")
def _smooth_l1(m: Any, e: Any, x: Any, y: Any, reduction: int = MEAN, beta: float = 1.0) -> Any:
    return _reduced(m, _bent(m, m.sub(x, y), beta, 1.0 / beta if beta else math.inf), reduction)


@lower("huber_loss")
def _huber(m: Any, e: Any, x: Any, y: Any, reduction: int = MEAN, delta: float = 1.0) -> Any:
    return _reduced(m, _bent(m, m.sub(x, y), delta, 1.0), reduction)


def _bent(m: Any, z: Any, bend: float, scale: float) -> Any:
    """A parabola up to `bend`, then a line; the slope of the line is `bend * scale`."""
    size = absolute(m, z)
    if bend == 0:
        return size
    near = m.mul(m.mul(m.square(z), 0.5), number(m, scale, z))
    far = m.mul(m.sub(size, number(m, 0.5 * bend, z)), number(m, bend * scale, z))
    return m.select(m.less(size, number(m, bend, z)), near, far)


@lower("smooth_l1_loss_backward")
def _smooth_l1_backward(m: Any, e: Any, gy: Any, x: Any, y: Any, reduction: int, beta: float) -> Any:
    return _bent_backward(m, _share(m, gy, x, reduction), m.sub(x, y), beta, 1.0 / beta if beta else 1.0)


@lower("huber_loss_backward")
def _huber_backward(m: Any, e: Any, gy: Any, x: Any, y: Any, reduction: int, delta: float) -> Any:
    return _bent_backward(m, _share(m, gy, x, reduction), m.sub(x, y), delta, 1.0)


def _bent_backward(m: Any, g: Any, z: Any, bend: float, scale: float) -> Any:
    edge, steep = number(m, bend, z), number(m, bend * scale if bend else 1.0, z)
    inner = m.mul(m.mul(z, number(m, scale, z)), g)
    middle = m.select(m.greater_equal(z, edge), m.mul(steep, g), inner)
    return m.select(m.less_equal(z, -edge), m.mul(-steep, g), middle)


@lower("soft_margin_loss")
def _soft_margin(m: Any, e: Any, x: Any, y: Any, reduction: int = MEAN) -> Any:
    return _reduced(m, m.softplus(-m.mul(x, y)), reduction)


@lower("soft_margin_loss_backward")
def _soft_margin_backward(m: Any, e: Any, gy: Any, x: Any, y: Any, reduction: int) -> Any:
    return m.mul(m.mul(-y, m.sigmoid(-m.mul(x, y))), _share(m, gy, x, reduction))


def _class_axis(x: Any) -> int:
    return 0 if x.ndim == 1 else 1


def _weights(target: Any, ignore: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """(a class that can be looked up, what its example counts for without the weights of classes)."""
    counts = target != ignore
    return np.where(counts, target, 0), counts.astype(np.float64)


def _per_example(m: Any, target: Any, weight: Any, ignore: int, x: Any) -> tuple[Any, Any]:
    known, counts = _weights(ints(target), ignore)
    counted = m.literal(counts)
    return known, counted if weight is None else m.mul(m.take(weight, known, axis=0), counted)


@lower("nll_loss_forward", "nll_loss2d_forward")
def _nll(m: Any, e: Any, x: Any, target: Any, weight: Any, reduction: int, ignore: int) -> Any:
    """(loss, the sum of the weights)."""
    axis = _class_axis(x)
    known, share = _per_example(m, target, weight, ignore, x)
    picked = m.take_along(x, np.expand_dims(known, axis), axis=axis)
    picked = m.reshape(picked, shape=known.shape)
    loss = -m.mul(picked, share)
    if reduction == NONE:
        return loss, None
    axes = tuple(range(loss.ndim))
    total = m.sum(loss, axes=axes) if axes else loss
    weights = m.sum(share, axes=tuple(range(share.ndim))) if share.ndim else share
    return (m.div(total, weights) if reduction == MEAN else total), weights


@lower("nll_loss_backward", "nll_loss2d_backward")
def _nll_backward(
    m: Any, e: Any, gy: Any, x: Any, target: Any, weight: Any, reduction: int, ignore: int, total: Any
) -> Any:
    axis = _class_axis(x)
    known, share = _per_example(m, target, weight, ignore, x)
    g = -m.mul(share, m.div(gy, total) if reduction == MEAN else gy)
    g = m.reshape(m.broadcast(g, shape=known.shape), shape=np.expand_dims(known, axis).shape)
    return m.scatter_along(g, np.expand_dims(known, axis), axis=axis, size=x.shape[axis])


@lower("kl_div")
def _kl_div(m: Any, e: Any, x: Any, y: Any, reduction: int = MEAN, log_target: Any = False) -> Any:
    loss = m.mul(m.exp(y), m.sub(y, x)) if log_target else m.sub(m.xlogy(y, y), m.mul(y, x))
    return _reduced(m, loss, reduction)
