"""Layers that reach the backend whole: attention and LSTM, and their backward ops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradproof.frontends.torch.lower._table import lower, number
from gradproof.frontends.torch.lower._transposed import confirmed, gradients
from gradproof.frontends.torch.lower.softmax import safe_softmax

_LSTM = 2  # the mode by which the kernel tells cells apart


def _attention(m: Any, q: Any, k: Any, v: Any, causal: bool, mask: Any, scale: float | None) -> Any:
    """What sees no key at all is zero."""
    if q.shape[:-2] != k.shape[:-2]:
        raise NotImplementedError("heads that share keys")
    turned = m.transpose(k, order=(*range(k.ndim - 2), k.ndim - 1, k.ndim - 2))
    factor = 1.0 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = m.mul(m.matmul(q, turned), number(m, factor, q))
    if mask is not None:
        if mask.value.dtype.kind == "b":
            scores = m.select(mask, scores, m.literal(np.asarray(-np.inf)))
        else:
            scores = m.add(scores, mask)
    if causal:
        open_ = np.tri(q.shape[-2], k.shape[-2], dtype=bool)
        scores = m.select(open_, scores, m.literal(np.asarray(-np.inf)))
    return m.matmul(safe_softmax(m, scores, scores.ndim - 1), v)


@lower("_scaled_dot_product_flash_attention_for_cpu")
def _flash(
    m: Any, e: Any, q: Any, k: Any, v: Any, dropout: float = 0.0, causal: Any = False, attn_mask: Any = None,
    scale: Any = None,
) -> Any:  # fmt: skip
    if dropout:
        raise NotImplementedError("attention with dropout inside")
    return _attention(m, q, k, v, bool(causal), attn_mask, scale), None


@lower("_scaled_dot_product_flash_attention_for_cpu_backward")
def _flash_backward(
    m: Any, e: Any, gy: Any, q: Any, k: Any, v: Any, y: Any, total: Any, dropout: float, causal: Any,
    attn_mask: Any = None, scale: Any = None,
) -> Any:  # fmt: skip
    def forward(q: Any, k: Any, v: Any) -> Any:
        return _attention(m, q, k, v, bool(causal), attn_mask, scale)

    return confirmed(e, gradients(m, forward, [q, k, v], [gy]))


def _lstm(
    m: Any, x: Any, w_in: Any, w_state: Any, b_in: Any, b_state: Any, h: Any, c: Any, back: bool
) -> Any:
    """(results of all steps, last state, last memory); gates in the order input, forget, cell, output."""
    n_steps, size = x.shape[0], h.shape[-1]
    turned_in, turned_state = (m.transpose(w, order=(1, 0)) for w in (w_in, w_state))
    bias = m.add(b_in, b_state)
    steps = []
    for t in reversed(range(n_steps)) if back else range(n_steps):
        at = m.reshape(m.strided_slice(x, begin=(t, 0, 0), end=(t + 1, *x.shape[1:])), shape=x.shape[1:])
        gates = m.add(m.add(m.matmul(at, turned_in), m.matmul(h, turned_state)), bias)
        i, f, g, o = (
            m.strided_slice(gates, begin=(0, k * size), end=(gates.shape[0], (k + 1) * size))
            for k in range(4)
        )
        c = m.add(m.mul(m.sigmoid(f), c), m.mul(m.sigmoid(i), m.tanh(g)))
        h = m.mul(m.sigmoid(o), m.tanh(c))
        steps.append(h)
    return m.stack(*(reversed(steps) if back else steps), axis=0), h, c


def _states(m: Any, h: Any) -> Any:
    return h if h.ndim == 2 else m.reshape(h, shape=h.shape[-2:])


@lower("mkldnn_rnn_layer")
def _rnn_layer(
    m: Any, e: Any, x: Any, w1: Any, w2: Any, b1: Any, b2: Any, h: Any, c: Any, *options: Any
) -> Any:
    reverse, _, mode, _, _, biases = options[:6]
    if mode != _LSTM or not biases:
        raise NotImplementedError("a recurrent kernel other than that of an LSTM with biases")
    steps, last, kept = _lstm(m, x, w1, w2, b1, b2, _states(m, h), _states(m, c), bool(reverse))
    return steps, m.reshape(last, shape=e.outputs[1].shape), m.reshape(kept, shape=e.outputs[2].shape), None


@lower("mkldnn_rnn_layer_backward")
def _rnn_layer_backward(
    m: Any, e: Any, x: Any, w1: Any, w2: Any, b1: Any, b2: Any, h: Any, c: Any, steps: Any, last: Any, kept: Any,
    g_steps: Any, g_last: Any, g_kept: Any, reverse: Any, mode: int, size: int, layers: int, biases: Any, *_: Any,
) -> Any:  # fmt: skip
    """For the data, both weights, both biases, the first state and the first memory."""
    if mode != _LSTM or not biases:
        raise NotImplementedError("a recurrent kernel other than that of an LSTM with biases")
    states = [_states(m, h), _states(m, c)]
    upstream = [
        None if g is None else (g if g.ndim == n else m.reshape(g, shape=g.shape[-n:]))
        for g, n in ((g_steps, 3), (g_last, 2), (g_kept, 2))
    ]

    def forward(x: Any, w1: Any, w2: Any, b1: Any, b2: Any, h: Any, c: Any) -> Any:
        return _lstm(m, x, w1, w2, b1, b2, h, c, bool(reverse))

    found = list(gradients(m, forward, [x, w1, w2, b1, b2, *states], upstream))
    shaped = [None if g is None else m.reshape(g, shape=out.shape) for g, out in zip(found, e.outputs)]
    return confirmed(e, shaped)
