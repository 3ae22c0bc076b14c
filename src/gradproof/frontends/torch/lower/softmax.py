"""Softmax along an axis, its logarithm, and their backward ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower


def safe_softmax(m: Any, x: Any, axis: int) -> Any:
    """Zeros where everything is masked."""
    masked = np.isneginf(np.asarray(x.value)).all(axis=axis, keepdims=True)
    if not masked.any():
        return m.softmax(x, axes=(axis,))
    return m.select(masked, m.zeros(()), m.softmax(m.select(masked, m.zeros(()), x), axes=(axis,)))


@lower("_safe_softmax")
def _safe_softmax(m: Any, e: Any, x: Any, dim: int, *_: Any, **__: Any) -> Any:
    return safe_softmax(m, x, dim % x.ndim) if x.ndim else m.constant(e.outputs[0].array)


@lower("_softmax", "softmax")
def _softmax(m: Any, e: Any, x: Any, dim: int, *_: Any, **__: Any) -> Any:
    return m.softmax(x, axes=(dim % max(x.ndim, 1),)) if x.ndim else m.constant(e.outputs[0].array)


@lower("_log_softmax", "log_softmax")
def _log_softmax(m: Any, e: Any, x: Any, dim: int, *_: Any, **__: Any) -> Any:
    return m.log_softmax(x, axes=(dim % max(x.ndim, 1),)) if x.ndim else m.constant(e.outputs[0].array)


def _summed(m: Any, x: Any, axis: int) -> Any:
    if not x.ndim:
        return x
    return m.reshape(
        m.sum(x, axes=(axis,)), shape=tuple(1 if k == axis else n for k, n in enumerate(x.shape))
    )


@lower("_softmax_backward_data")
def _softmax_backward(m: Any, e: Any, gy: Any, y: Any, dim: int, dtype: Any = None) -> Any:
    axis = dim % max(y.ndim, 1)
    return m.mul(y, m.sub(gy, _summed(m, m.mul(gy, y), axis)))


@lower("_log_softmax_backward_data")
def _log_softmax_backward(m: Any, e: Any, gy: Any, y: Any, dim: int, dtype: Any = None) -> Any:
    axis = dim % max(y.ndim, 1)
    return m.sub(gy, m.mul(m.exp(y), _summed(m, gy, axis)))
