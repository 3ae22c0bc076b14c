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
    m = RecordTracer((), "backward")
    m.work_on(jacobian)
    shape = jacobian.value.shape[target.value.ndim :]
    rows = m.reshape(m.of(jacobian), shape=(target.value.size, *shape))
    record: Record = m.take(rows, np.asarray(row), axis=0).id
    return record
