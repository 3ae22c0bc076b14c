"""Logarithms of sums of exponentials, and the softmax that is their slope."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.ops._margin import midpoint
from gradproof.ops._op import Sample, op
from gradproof.ops.reduce import kept, spread

_MATRIX = ((1.0, 2.0, -7.0), (0.5, 4.0, 3.0))
_LARGE = ((1000.0, 999.5, -2000.0), (-3000.0, -3001.0, 0.25))


def _largest(m: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """A number near the largest entry over the axes, which stay with length one.

    Subtracting it keeps exponentials from overflowing. It is taken as exact, and any number would do:
    the results do not depend on it, so nor do their derivatives.
    """
    size = np.max(np.real(midpoint(m, x)), axis=axes, keepdims=True, initial=-np.inf)
    return m.literal(np.where(np.isfinite(size), size, 0.0).astype(_dtype(x)))


def _dtype(x: Any) -> Any:
    return x.dtype if isinstance(x, np.ndarray) and x.dtype.kind not in "Oc" else np.float64


def _logsumexp(m: Any, x: Any, axes: tuple[int, ...]) -> Any:
    shift = _largest(m, x, axes)
    total = m.sum(m.exp(m.sub(x, shift)), axes=axes)
    return m.add(m.log(total), m.reshape(shift, shape=tuple(total.shape)))


def _softmax(m: Any, x: Any, axes: tuple[int, ...]) -> Any:
    e = m.exp(m.sub(x, _largest(m, x, axes)))
    return m.div(e, m.reshape(m.sum(e, axes=axes), shape=kept(e.shape, axes)))


def _log_softmax(m: Any, x: Any, axes: tuple[int, ...]) -> Any:
    shifted = m.sub(x, _largest(m, x, axes))
    total = m.sum(m.exp(shifted), axes=axes)
    return m.sub(shifted, m.reshape(m.log(total), shape=kept(x.shape, axes)))


def _softmax_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    y = m.conj(y)
    return m.mul(y, m.sub(gy, spread(m, m.sum(m.mul(gy, y), axes=axes), x.shape, axes)))


def _log_softmax_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    total = spread(m, m.sum(gy, axes=axes), x.shape, axes)
    return m.sub(gy, m.mul(total, m.conj(m.exp(y))))


_SAMPLES = tuple(
    Sample((x,), {"axes": axes})
    for x, axes in ((_MATRIX, (1,)), (_MATRIX, (0, 1)), (_LARGE, (1,)), (_LARGE, (0,)))
)

op(
    "logsumexp",
    forward=_logsumexp,
    pullback=lambda m, i, gy, y, x, axes: m.mul(
        spread(m, gy, x.shape, axes), m.conj(m.softmax(x, axes=axes))
    ),
    samples=_SAMPLES,
)
op("softmax", forward=_softmax, pullback=_softmax_pullback, samples=_SAMPLES)
op("log_softmax", forward=_log_softmax, pullback=_log_softmax_pullback, samples=_SAMPLES)


def _neighbour(m: Any, x: Any, axis: int, back: bool) -> Any:
    """The entry after each (before, if `back`); the one at the border is its own neighbour."""
    places = np.arange(x.shape[axis]) + (-1 if back else 1)
    return m.take(x, np.clip(places, 0, max(x.shape[axis] - 1, 0)), axis=axis)


def _cumlogsumexp(m: Any, x: Any, axis: int, reverse: bool = False) -> Any:
    """log of the running sum of exp(x), each sum scaled by the largest entry it contains so far."""
    if reverse:
        flipped = _cumlogsumexp(m, m.reverse(x, axes=(axis,)), axis)
        return m.reverse(flipped, axes=(axis,))
    so_far = np.maximum.accumulate(midpoint(m, x), axis=axis)
    shift = m.literal(np.where(np.isfinite(so_far), so_far, 0.0).astype(_dtype(x)))
    rescale = m.exp(m.sub(_neighbour(m, shift, axis, back=True), shift))
    total = m.recurrence(rescale, m.exp(m.sub(x, shift)), axis=axis)
    return m.add(m.log(total), shift)


def _cumlogsumexp_pullback(m: Any, i: int, gy: Any, y: Any, x: Any, axis: int, reverse: bool = False) -> Any:
    """gx[i] = sum over k >= i of gy[k] exp(x[i] - y[k]), from the end, with factors of at most 1."""
    fade = m.exp(m.sub(y, _neighbour(m, y, axis, back=reverse)))
    carried = m.recurrence(fade, gy, axis=axis, reverse=not reverse)
    return m.mul(m.exp(m.sub(x, y)), carried)


op(
    "cumlogsumexp",
    forward=_cumlogsumexp,
    pullback=_cumlogsumexp_pullback,
    samples=(
        Sample((_MATRIX,), {"axis": 1}),
        Sample((_LARGE,), {"axis": 1, "reverse": True}),
        Sample((_LARGE,), {"axis": 0}),
    ),
)
