"""The connectionist temporal classification loss, as PyTorch asks for it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.engine.trace import Traced
from gradproof.frontends.recipes.ctc import spelling_loss
from gradproof.frontends.torch.lower._table import ints, lower
from gradproof.frontends.torch.lower._transposed import confirmed, gradients


def _lengths(given: Any) -> np.ndarray[Any, Any]:
    return np.asarray(given.value if isinstance(given, Traced) else given).reshape(-1)


def _labels(targets: Any, lengths: np.ndarray[Any, Any]) -> list[list[int]]:
    """The label of each example: one row each, or all behind each other."""
    values = ints(targets)
    if values.ndim == 2:
        return [list(map(int, row[:n])) for row, n in zip(values, lengths)]
    ends = np.cumsum(lengths)
    return [list(map(int, values[end - n : end])) for n, end in zip(lengths, ends)]


def _loss(m: Any, log_probs: Any, labels: list[list[int]], times: np.ndarray[Any, Any], blank: int) -> Any:
    return spelling_loss(m, m.exp(log_probs), labels, times, blank)


@lower("_ctc_loss")
def _ctc_loss(
    m: Any, e: Any, log_probs: Any, targets: Any, times: Any, lengths: Any, blank: int = 0, zero: Any = False
) -> Any:
    """(loss, what its backward op is given)."""
    if log_probs.ndim != 3:
        raise NotImplementedError("a single example")
    loss = _loss(m, log_probs, _labels(targets, _lengths(lengths)), _lengths(times), blank)
    return (_where_finite(m, loss, loss) if zero else loss), None


def _where_finite(m: Any, loss: Any, x: Any) -> Any:
    """`x` where a label can be spelt in the time given, and 0 where its loss is infinite."""
    is_finite = np.isfinite(loss.value).reshape(loss.shape if x.ndim == 1 else (1, -1, 1))
    return m.select(np.broadcast_to(is_finite, x.shape), x, m.zeros(()))


@lower("_ctc_loss_backward")
def _ctc_loss_backward(
    m: Any, e: Any, gy: Any, log_probs: Any, targets: Any, times: Any, lengths: Any, loss: Any, alpha: Any,
    blank: int, zero: Any = False,
) -> Any:  # fmt: skip
    """The kernel adds the chances themselves: its result is the gradient for what a log_softmax was given."""
    labels, steps = _labels(targets, _lengths(lengths)), _lengths(times)
    loss = _loss(m, log_probs, labels, steps, blank)
    (slope,) = gradients(m, lambda x: _loss(m, x, labels, steps, blank), [log_probs], [gy])
    used = np.arange(log_probs.shape[0])[:, None, None] < steps[:, None]
    weighted = m.mul(m.exp(log_probs), m.reshape(gy, shape=(1, *gy.shape, 1)))
    chances = m.select(np.broadcast_to(used, log_probs.shape), weighted, m.zeros(()))
    whole = m.add(chances, slope)
    return confirmed(e, [_where_finite(m, loss, whole) if zero else whole])
