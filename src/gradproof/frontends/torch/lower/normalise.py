"""Normalisations over layers, groups and batches, and their backward ops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower, number


def _standard(m: Any, x: Any, axes: tuple[int, ...], eps: float) -> tuple[Any, Any, Any]:
    """(centred and scaled, mean, 1 / deviation), the last two with the axes kept."""
    thin = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
    mean = m.reshape(m.mean(x, axes=axes), shape=thin)
    root = m.rsqrt(m.add(m.reshape(m.var(x, axes=axes), shape=thin), number(m, eps, x)))
    return m.mul(m.sub(x, mean), root), mean, root


def _layer_norm(
    m: Any, x: Any, shape: Sequence[int], weight: Any, bias: Any, eps: float
) -> tuple[Any, Any, Any]:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    y, mean, root = _standard(m, x, axes, eps)
    y = y if weight is None else m.mul(y, weight)
    return y if bias is None else m.add(y, bias), mean, root


@lower("native_layer_norm")
def _native_layer_norm(m: Any, e: Any, x: Any, shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    return _layer_norm(m, x, shape, weight, bias, eps)


@lower("native_layer_norm_backward")
def _native_layer_norm_backward(
    m: Any, e: Any, gy: Any, x: Any, shape: Any, mean: Any, root: Any, weight: Any, bias: Any, wanted: Any
) -> Any:
    """By the mean and the root that the forward op has put out, as the kernel does it."""
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    n = math.prod(shape)
    standard = m.mul(m.sub(x, mean), root)
    g = gy if weight is None else m.mul(gy, weight)
    lead = tuple(range(x.ndim - len(shape)))
    gx = gw = gb = None
    if wanted[0]:
        gx = m.mul(root, _centred(m, g, standard, axes, n))
    if wanted[1] and weight is not None:
        gw = m.sum(m.mul(gy, standard), axes=lead)
    if wanted[2] and bias is not None:
        gb = m.sum(gy, axes=lead)
    return _wanted(e, (gx, gw, gb))


def _centred(m: Any, g: Any, standard: Any, axes: tuple[int, ...], n: int) -> Any:
    """The gradient less what moves the mean and what moves the deviation."""
    thin = tuple(1 if axis in axes else size for axis, size in enumerate(g.shape))
    first = m.reshape(m.div(m.sum(g, axes=axes), n), shape=thin)
    second = m.reshape(m.div(m.sum(m.mul(g, standard), axes=axes), n), shape=thin)
    return m.sub(m.sub(g, first), m.mul(standard, second))


def _wanted(e: Any, results: tuple[Any, ...]) -> tuple[Any, ...]:
    """Results that were not asked for are no tensors, and have no place among the outputs."""
    made = tuple(one for one in results if one is not None)
    return made if len(e.outputs) == len(made) else results


@lower("native_group_norm")
def _native_group_norm(
    m: Any, e: Any, x: Any, weight: Any, bias: Any, n: int, c: int, hw: int, groups: int, eps: float
) -> Any:
    return _group_norm(m, x, weight, bias, groups, eps)


def _group_norm(m: Any, x: Any, weight: Any, bias: Any, groups: int, eps: float) -> tuple[Any, Any, Any]:
    n, c = x.shape[:2]
    flat = m.reshape(x, shape=(n, groups, math.prod(x.shape[1:]) // groups))
    y, mean, root = _standard(m, flat, (2,), eps)
    y = m.reshape(y, shape=x.shape)
    along = (c, *(1,) * (x.ndim - 2))
    y = y if weight is None else m.mul(y, m.reshape(weight, shape=along))
    y = y if bias is None else m.add(y, m.reshape(bias, shape=along))
    return y, m.reshape(mean, shape=(n, groups)), m.reshape(root, shape=(n, groups))


@lower("native_group_norm_backward")
def _native_group_norm_backward(
    m: Any, e: Any, gy: Any, x: Any, mean: Any, root: Any, weight: Any, n: int, c: int, hw: int, groups: int,
    wanted: Any,
) -> Any:  # fmt: skip
    size = math.prod(x.shape[1:]) // groups
    flat = m.reshape(x, shape=(n, groups, size))
    roots = m.reshape(root, shape=(n, groups, 1))
    standard = m.mul(m.sub(flat, m.reshape(mean, shape=(n, groups, 1))), roots)
    along = (c, *(1,) * (x.ndim - 2))
    g = gy if weight is None else m.mul(gy, m.reshape(weight, shape=along))
    axes = (0, *range(2, x.ndim))
    gx = gw = gb = None
    if wanted[0]:
        inner = _centred(m, m.reshape(g, shape=(n, groups, size)), standard, (2,), size)
        gx = m.reshape(m.mul(roots, inner), shape=x.shape)
    if wanted[1]:
        gw = m.sum(m.mul(gy, m.reshape(standard, shape=x.shape)), axes=axes)
    if wanted[2]:
        gb = m.sum(gy, axes=axes)
    return _wanted(e, (gx, gw, gb))


def _per_channel(m: Any, values: Any, x: Any) -> Any:
    return m.reshape(values, shape=(values.shape[0], *(1,) * (x.ndim - 2)))


def _batch_norm(m: Any, x: Any, weight: Any, bias: Any, mean: Any, root: Any) -> Any:
    y = m.mul(m.sub(x, _per_channel(m, mean, x)), _per_channel(m, root, x))
    y = y if weight is None else m.mul(y, _per_channel(m, weight, x))
    return y if bias is None else m.add(y, _per_channel(m, bias, x))


@lower(
    "native_batch_norm",
    "_native_batch_norm_legit",
    "cudnn_batch_norm",
    "_batch_norm_with_update",
    "_native_batch_norm_legit_no_training",
    "_batch_norm_no_update",
    "_native_batch_norm_legit_functional",
)
def _native_batch_norm(m: Any, e: Any, x: Any, weight: Any, bias: Any, *rest: Any) -> Any:
    """(result, mean, 1 / deviation, and the running state after it)."""
    running, training, momentum, eps = _batch_norm_options(e, rest)
    if not training:
        mean, root = running[0], m.rsqrt(m.add(running[1], number(m, eps, x)))
        return _batch_norm(m, x, weight, bias, mean, root), None, None
    axes = (0, *range(2, x.ndim))
    mean, variance = m.mean(x, axes=axes), m.var(x, axes=axes)
    root = m.rsqrt(m.add(variance, number(m, eps, x)))
    results = [_batch_norm(m, x, weight, bias, mean, root), mean, root]
    if running[0] is not None and len(e.outputs) == 5:
        n = math.prod(x.shape[axis] for axis in axes)
        spread = m.mul(variance, m.literal(np.asarray(n / max(n - 1, 1))))
        keep = number(m, 1.0 - momentum, x)
        for old, new in ((running[0], mean), (running[1], spread)):
            # PyTorch has no history of the state: who uses it later is given numbers.
            moved = m.add(m.mul(old, keep), m.mul(new, number(m, momentum, x)))
            results.append(m.stop_gradient(moved))
    return tuple(results)


def _batch_norm_options(e: Any, rest: Sequence[Any]) -> tuple[tuple[Any, Any], bool, float, float]:
    name = e.op.split(".")[1]
    if name in ("_native_batch_norm_legit_no_training", "_batch_norm_no_update"):
        return (rest[0], rest[1]), False, rest[2], rest[3]
    if name == "_batch_norm_with_update":
        return (rest[0], rest[1]), True, rest[2], rest[3]
    if e.op.endswith(".no_stats"):
        return (None, None), rest[0], rest[1], rest[2]
    return (rest[0], rest[1]), bool(rest[2]), rest[3], rest[4]


@lower("native_batch_norm_backward", "batch_norm_backward", "cudnn_batch_norm_backward")
def _native_batch_norm_backward(
    m: Any, e: Any, gy: Any, x: Any, weight: Any, running_mean: Any, running_var: Any, mean: Any, root: Any,
    training: Any, eps: float, wanted: Any, *_: Any,
) -> Any:  # fmt: skip
    if not isinstance(training, bool):
        raise NotImplementedError("a backward op with arguments in another order")
    axes = (0, *range(2, x.ndim))
    if not training:
        mean, root = running_mean, m.rsqrt(m.add(running_var, number(m, eps, x)))
    roots = _per_channel(m, root, x)
    standard = m.mul(m.sub(x, _per_channel(m, mean, x)), roots)
    g = gy if weight is None else m.mul(gy, _per_channel(m, weight, x))
    gx = gw = gb = None
    if wanted[0]:
        n = math.prod(x.shape[axis] for axis in axes)
        gx = m.mul(roots, _centred(m, g, standard, axes, n) if training else g)
    if wanted[1]:
        gw = m.sum(m.mul(gy, standard), axes=axes)
    if wanted[2]:
        gb = m.sum(gy, axes=axes)
    return _wanted(e, (gx, gw, gb))


@lower("_fused_rms_norm", "rms_norm")
def _rms_norm(m: Any, e: Any, x: Any, shape: Any, weight: Any = None, eps: Any = None) -> Any:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    thin = tuple(1 if axis in axes else n for axis, n in enumerate(x.shape))
    eps = float(np.finfo(np.float32).eps) if eps is None else eps
    root = m.rsqrt(m.add(m.reshape(m.mean(m.square(x), axes=axes), shape=thin), number(m, eps, x)))
    y = m.mul(x, root)
    return (y if weight is None else m.mul(y, weight)), root


@lower("native_dropout")
def _dropout(m: Any, e: Any, x: Any, p: float, train: Any) -> Any:
    """(what is left of the data, scaled up, and the mask that was drawn)."""
    mask = m.constant(np.asarray(e.outputs[1].array))
    if not train:
        return m.identity(x), mask
    scale = number(m, 1.0 / (1.0 - p) if p < 1.0 else 0.0, x)
    return m.mul(m.select(mask, x, m.zeros(())), scale), mask


@lower("native_dropout_backward")
def _dropout_backward(m: Any, e: Any, gy: Any, mask: Any, scale: float) -> Any:
    return m.mul(m.select(mask, gy, m.zeros(())), number(m, scale, gy))
