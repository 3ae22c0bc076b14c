"""Ragged tensors: flat values, and integers that say where rows begin."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradproof.frontends.tensorflow.lower._table import ints, lower


@lower("RaggedGather")
def _gather(m: Any, event: Any, *inputs: Any) -> Any:
    """Rows chosen by number: outputs are the new splits, then the values of the rows, one after the other."""
    n = int(event.attrs["PARAMS_RAGGED_RANK"])
    splits, values, chosen = [np.asarray(x.value) for x in inputs[:n]], inputs[n], ints(inputs[n + 1])
    ranges = [(k, k + 1) for k in chosen]
    for split in splits:
        ranges = [(int(split[a]), int(split[b])) for a, b in ranges]
    rows = np.concatenate([np.arange(a, b) for a, b in ranges]) if ranges else np.zeros(0, np.int64)
    outputs = [m.constant(output.array) for output in event.outputs[:-1]]
    return *outputs, m.take(values, rows.astype(np.int64), axis=0)


@lower("RaggedTensorToSparse")
def _to_sparse(m: Any, event: Any, *inputs: Any) -> Any:
    values = inputs[-1]
    flat = m.reshape(values, shape=event.outputs[1].shape)
    return m.constant(event.outputs[0].array), flat, m.constant(event.outputs[2].array)


@lower("RaggedTensorToTensor")
def _to_tensor(m: Any, event: Any, shape: Any, values: Any, default: Any, *partitions: Any) -> Any:
    """Values at their places in a box, the default elsewhere."""
    size = event.outputs[0].shape
    inner = len(values.shape) - 1
    place = _places(event, partitions, values.shape[0])
    box = size[: len(size) - inner]
    inside = np.all((place >= 0) & (place < np.asarray(box)), axis=1)
    frame = m.broadcast(default, shape=size)
    kept = np.flatnonzero(inside)
    return m.scatter_update(frame, place[kept], m.take(values, kept, axis=0))


def _places(event: Any, partitions: tuple[Any, ...], n: int) -> np.ndarray[Any, Any]:
    """(value, axis): the place of every value along the ragged axes, from row splits or row numbers."""
    kinds = [str(kind) for kind in event.attrs["row_partition_types"]]
    given = [np.asarray(part.value) for part in partitions]
    if kinds and kinds[0] == "FIRST_DIM_SIZE":
        kinds, given = kinds[1:], given[1:]
    elif kinds and kinds[0] != "ROW_SPLITS":
        raise NotImplementedError("rows without the number of them")
    place = np.zeros((0, 0), np.int64)
    for level, (kind, part) in enumerate(zip(kinds, given)):
        row = np.repeat(np.arange(len(part) - 1), np.diff(part)) if kind == "ROW_SPLITS" else part
        first = np.searchsorted(row, row, side="left")
        column = np.arange(len(row)) - first
        place = np.stack([row, column], axis=1) if level == 0 else np.column_stack([place[row], column])
    return place if given else np.arange(n)[:, None]


@lower("RaggedFillEmptyRows")
def _fill_empty_rows(m: Any, event: Any, rows: Any, values: Any, count: Any, default: Any) -> Any:
    found, _, empty, origin = (output.array for output in event.outputs)
    back = np.full(len(found), len(origin))
    back[origin] = np.arange(len(origin))
    whole = m.concat(values, m.reshape(default, shape=(1,)), axis=0)
    return m.constant(found), m.take(whole, back, axis=0), m.constant(empty), m.constant(origin)
