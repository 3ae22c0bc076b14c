"""The connectionist temporal classification loss: minus the log of the probability of all ways to spell a label."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.engine.linearise import pull_back
from gradproof.engine.run import Run
from gradproof.engine.trace import Traced
from gradproof.frontends.tensorflow.lower._table import ints, lower
from gradproof.ir.program import Program

Array = np.ndarray[Any, Any]


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


@lower("CTCLoss")
def _ctc_loss(m: Any, event: Any, inputs: Any, indices: Any, values: Any, lengths: Any) -> Any:
    """(loss, its slope for the inputs).

    Sums and products of probabilities lose nothing in exact arithmetic. Powers of two keep them from vanishing in
    floating point: they are facts of the run, not of the function.
    """
    if not np.isfinite(event.outputs[0].array).all():
        raise NotImplementedError("a label that cannot be spelt in the time given")
    n_steps, n_labels, n_symbols = inputs.shape
    times = np.asarray(ints(lengths))
    labels = _labels(np.asarray(indices.value), ints(values), n_labels, event)
    if event.attrs.get("ignore_longer_outputs_than_inputs") and any(map(_is_longer, labels, times)):
        raise NotImplementedError("labels that are longer than their inputs")
    spelt = _spelling(labels, n_symbols - 1, bool(event.attrs["ctc_merge_repeated"]))
    chances = m.softmax(inputs, axes=(2,))
    since = m.builder.next_id
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
    loss = m.mul(m.log(m.literal(np.asarray(2.0))), m.literal(shifts)) - total
    # The slope for the chances of a step times these chances sums to -1: that is what softmax takes away again.
    used = np.arange(n_steps)[:, None, None] < times[:, None]
    expected = m.mul(chances, _slope(m, loss, chances, since))
    return loss, m.select(np.broadcast_to(used, chances.shape), chances, m.literal(np.zeros(()))) + expected


def _labels(indices: Array, values: tuple[int, ...], n: int, event: Any) -> list[list[int]]:
    """The label of each example, from the entries of a sparse matrix."""
    found: list[list[int]] = [[] for _ in range(n)]
    collapses = bool(event.attrs["preprocess_collapse_repeated"])
    for (row, _), symbol in zip(indices.tolist(), values):
        if not (collapses and found[row] and found[row][-1] == symbol):
            found[row].append(symbol)
    return found


def _is_longer(label: list[int], time: int) -> bool:
    return len(label) > time


def _spelling(labels: list[list[int]], blank: int, merges: bool) -> Spelling:
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


def _slope(m: Any, y: Any, x: Any, since: int) -> Any:
    """The gradient of the sum of `y` for `x`, as nodes of the program like any other."""
    source = next(node for node in reversed(m.builder.nodes) if node.id == x.id)
    nodes = (replace(source, op="input", inputs=()), *(n for n in m.builder.nodes if n.id >= since))
    values = {node.id: Traced(m, node.id, node.value) for node in nodes}
    run = Run(Program(nodes, (x.id,), (y.id,)), m, values)
    return pull_back(run, {y.id: m.literal(np.ones(y.shape))}, [x.id])[x.id]
