"""The connectionist temporal classification loss: minus the log of the probability of all ways to spell a label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.ir.types import Array


@dataclass(frozen=True)
class Spelling:
    """The states that a label is spelt by, blanks between its symbols; padded to the longest label of the batch.

    `symbols` are those of the states. The others are 1 where a way may begin, may end, may stay, may come from the
    state before and may come from the one before that.
    """

    symbols: Array
    begins: Array
    ends: Array
    stays: Array
    comes: Array
    skips: Array


def spelling_loss(
    m: Any, chances: Any, labels: Sequence[Sequence[int]], times: Array, blank: int, merges: bool = True
) -> Any:
    """The loss of every label from the chances of symbols, [time, label, symbol].

    Sums and products of probabilities lose nothing in exact arithmetic. Powers of two keep them from vanishing in
    floating point: they are facts of the run, not of the function.
    """
    n_steps, n_labels, _ = chances.shape
    spelt = _spelling(labels, blank, merges)
    chosen = _chosen(m, chances, spelt)
    weights, shifts = m.literal(spelt.begins), np.zeros(n_labels)
    for t in range(n_steps):
        at = m.reshape(
            m.strided_slice(chosen, begin=(t, 0, 0), end=(t + 1, *chosen.shape[1:])), shape=chosen.shape[1:]
        )
        moved = weights if t == 0 else _moved(m, weights, spelt)
        after, shift = _lifted(m, m.mul(moved, at))
        goes_on = t < times
        weights = m.select(np.broadcast_to(goes_on[:, None], after.shape), after, weights)
        shifts += np.where(goes_on, shift, 0)
    total = m.log(m.sum(m.mul(weights, m.literal(spelt.ends)), axes=(1,)))
    return m.mul(m.log(m.literal(np.asarray(2.0))), m.literal(shifts)) - total


def _spelling(labels: Sequence[Sequence[int]], blank: int, merges: bool) -> Spelling:
    """If repeated symbols are merged, a symbol may last and equal neighbours need a blank between them."""
    n, width = len(labels), 1 + 2 * max(map(len, labels), default=0)
    symbols = np.full((n, width), blank)
    begins, ends, stays, comes, skips = (np.zeros((n, width)) for _ in range(5))
    for b, label in enumerate(labels):
        size = 1 + 2 * len(label)
        symbols[b, 1:size:2] = label
        begins[b, : min(size, 2)] = 1.0
        ends[b, max(size - 2, 0) : size] = 1.0
        stays[b, 0:size:2], stays[b, 1:size:2] = 1.0, float(merges)
        comes[b, 1:size] = 1.0
        for s in range(3, size, 2):
            skips[b, s] = float(not (merges and symbols[b, s] == symbols[b, s - 2]))
    return Spelling(symbols, begins, ends, stays, comes, skips)


def _chosen(m: Any, chances: Any, spelt: Spelling) -> Any:
    """[time, label, state]: the probability of the symbol of each state."""
    n_steps, n_labels, n_symbols = chances.shape
    first = np.arange(n_steps * n_labels).reshape(n_steps, n_labels, 1) * n_symbols
    flat = m.reshape(chances, shape=(n_steps * n_labels * n_symbols,))
    return m.take(flat, first + spelt.symbols, axis=0)


def _moved(m: Any, weights: Any, spelt: Spelling) -> Any:
    """What has come to each state; term by term, so that a state which no way leads to is worth exactly nothing."""
    n, width = weights.shape
    wide = m.pad(weights, widths=((0, 0), (2, 0)))
    terms = [m.mul(weights, m.literal(spelt.stays))]
    for back, mask in ((1, spelt.comes), (2, spelt.skips)):
        before = m.strided_slice(wide, begin=(0, 2 - back), end=(n, 2 - back + width))
        terms.append(m.mul(before, m.literal(mask)))
    return terms[0] + terms[1] + terms[2]


def _lifted(m: Any, weights: Any) -> tuple[Any, Array]:
    """The weights of each label times a power of two that brings the largest near 1, and the exponents."""
    largest = np.max(np.asarray(weights.value, np.float64), axis=1, initial=0.0)
    exponents = -np.frexp(largest)[1]
    return m.mul(weights, m.literal(np.ldexp(1.0, exponents)[:, None])), exponents
