"""The connectionist temporal classification loss, as TensorFlow asks for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.engine.linearise import pull_back
from gradproof.engine.run import Run
from gradproof.engine.trace import Traced
from gradproof.frontends.recipes.ctc import spelling_loss
from gradproof.frontends.tensorflow.lower._table import ints, lower
from gradproof.ir.program import Program
from gradproof.ir.types import Array


@lower("CTCLoss")
def _ctc_loss(m: Any, event: Any, inputs: Any, indices: Any, values: Any, lengths: Any) -> Any:
    """(loss, its slope for the inputs)."""
    if not np.isfinite(event.outputs[0].array).all():
        raise NotImplementedError("a label that cannot be spelt in the time given")
    n_steps, n_labels, n_symbols = inputs.shape
    times = np.asarray(ints(lengths))
    labels = _labels(np.asarray(indices.value), ints(values), n_labels, event)
    if event.attrs.get("ignore_longer_outputs_than_inputs") and any(map(_is_longer, labels, times)):
        raise NotImplementedError("labels that are longer than their inputs")
    chances = m.softmax(inputs, axes=(2,))
    since = m.builder.next_id
    loss = spelling_loss(m, chances, labels, times, n_symbols - 1, bool(event.attrs["ctc_merge_repeated"]))
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


def _slope(m: Any, y: Any, x: Any, since: int) -> Any:
    """The gradient of the sum of `y` for `x`, as nodes of the program like any other."""
    source = next(node for node in reversed(m.builder.nodes) if node.id == x.id)
    nodes = (replace(source, op="input", inputs=()), *(n for n in m.builder.nodes if n.id >= since))
    values = {node.id: Traced(m, node.id, node.value) for node in nodes}
    run = Run(Program(nodes, (x.id,), (y.id,)), m, values)
    return pull_back(run, {y.id: m.literal(np.ones(y.shape))}, [x.id])[x.id]
