"""The number that a call of a tape differentiated, as one record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradproof.tape.lowering import RecordTracer
from gradproof.tape.program import TapeSource
from gradproof.tape.record import LEAF, Record


def is_leaf(source: TapeSource) -> bool:
    return all(record.op == LEAF for record in source.records)


def weighted_sum(
    targets: Sequence[Record],
    seeds: Sequence[Record | None],
    branches: Sequence[Record],
    row: int | None = None,
) -> Record:
    """The number whose gradient was asked for: all targets, weighted and summed; or one entry."""
    m = RecordTracer((), "forward")
    total: Any = None
    with np.errstate(all="ignore"):
        for target, seed in zip(targets, seeds):
            m.work_on(target)
            term: Any = m.of(target)
            if seed is not None:
                term = m.mul(term, m.conj(m.of(seed)))
            if row is not None:
                term = m.take(m.reshape(term, shape=(term.value.size,)), np.asarray(row), axis=0)
            elif term.ndim:
                term = m.sum(term, axes=tuple(range(term.ndim)))
            total = term if total is None else m.add(total, term)
        total = m.constant(np.zeros(())) if total is None else total  # of no target that depends on anything
        for branch in branches:
            total = _if_taken(m, branch, total)
    record: Record = total.id
    return record


def _if_taken(m: RecordTracer, branch: Record, value: Any) -> Any:
    """The value where a condition is decided as it was; elsewhere other code would have run."""
    m.work_on(branch)
    decided: Any = m.reshape(m.of(branch), shape=())
    if decided.value.dtype != bool:
        decided = m.not_equal(decided, 0)
    if not decided.value:
        decided = m.logical_not(decided)
    unknown = m.constant(np.full((), np.nan, value.value.dtype))
    # Neither the value nor the slope of the other code is known: hence a sum and a product.
    return m.select(decided, value, m.add(m.mul(value, unknown), unknown))


def row_of(jacobian: Record, row: int, target: Record) -> Record:
    """One row of a Jacobian; where it was put together of its rows, that one alone, without what made the others."""
    m = RecordTracer((), "backward")
    m.work_on(jacobian)
    size, shape = target.value.size, jacobian.value.shape[target.value.ndim :]
    values = jacobian.value.reshape(size, *shape)
    whole = jacobian.inputs[0] if jacobian.op == "reshape" else jacobian
    parts = whole.inputs if whole.op == "concat" and whole.params["axis"] == 0 else ()
    if len(parts) == size and all(_has_shape(part, (1, *shape)) for part in parts):
        part = parts[row]
        if part.value is None:
            part.value = values[row : row + 1]
        own: Record = m.reshape(m.of(part), shape=shape).id
        return own
    rows = m.reshape(m.of(jacobian), shape=values.shape)
    record: Record = m.take(rows, np.asarray(row), axis=0).id
    return record


def _has_shape(record: Record, shape: tuple[int, ...]) -> bool:
    if record.value is not None:
        return bool(record.value.shape == shape)
    return record.op == "reshape" and tuple(record.params["shape"]) == shape
