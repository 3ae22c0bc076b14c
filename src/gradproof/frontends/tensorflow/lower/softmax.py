"""Softmax, cross entropies, and logarithms of running sums of exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import ints, lower


@lower("Softmax")
def _softmax(m: Any, event: Any, x: Any) -> Any:
    return m.softmax(x, axes=(x.ndim - 1,))


@lower("LogSoftmax")
def _log_softmax(m: Any, event: Any, x: Any) -> Any:
    return m.log_softmax(x, axes=(x.ndim - 1,))


@lower("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(m: Any, event: Any, logits: Any, labels: Any) -> Any:
    """(loss, backprop). The backprop that the kernel returns is the slope where the labels of a row sum to 1."""
    shape = event.outputs[1].shape
    logits, labels = m.broadcast(logits, shape=shape), m.broadcast(labels, shape=shape)
    loss = -m.sum(m.mul(labels, m.log_softmax(logits, axes=(1,))), axes=(1,))
    return loss, m.softmax(logits, axes=(1,)) - labels


@lower("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(m: Any, event: Any, logits: Any, labels: Any) -> Any:
    n = logits.shape[1]
    if ((labels.value < 0) | (labels.value >= n)).any():
        raise NotImplementedError("a label outside the classes gives NaN")
    chosen = m.take_along(
        m.log_softmax(logits, axes=(1,)), m.reshape(labels, shape=(labels.shape[0], 1)), axis=1
    )
    hot = m.one_hot(labels, depth=n)
    one = m.literal(np.ones(()))
    return -m.reshape(chosen, shape=labels.shape), m.softmax(logits, axes=(1,)) - m.select(
        hot, one, m.zeros(())
    )


@lower("CumulativeLogsumexp")
def _cumulative_logsumexp(m: Any, event: Any, x: Any, axis: Any) -> Any:
    if event.attrs.get("exclusive"):
        raise NotImplementedError("the first sum is empty, its logarithm minus infinity")
    return m.cumlogsumexp(x, axis=ints(axis)[0] % x.ndim, reverse=bool(event.attrs["reverse"]))
