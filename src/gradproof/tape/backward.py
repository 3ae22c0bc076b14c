"""The reverse sweep over records: in the user's dtypes, itself recorded, with the user's own rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from gradproof.engine.linearise import input_gradient
from gradproof.engine.trace import Traced
from gradproof.ir.program import OPAQUE
from gradproof.tape.functions._operands import converted
from gradproof.tape.lowering import RecordTracer
from gradproof.tape.record import CUSTOM, ITEM, Record, TapeToken, ancestors


def sweep(
    m: RecordTracer, seeds: Mapping[Record, Traced], wrt: Iterable[Record], token: TapeToken
) -> dict[Record, Traced]:
    """Gradients of <seeds, values> for the lowered records `wrt`; those that no path reaches are absent."""
    wrt = set(wrt)
    order = ancestors(seeds)
    active = reached(order, wrt, token)
    gradients: dict[Any, Any] = {record: seed for record, seed in seeds.items() if record in active}
    kept: dict[Record, Traced] = {}
    with np.errstate(all="ignore"):
        for record in reversed(order):
            gy = gradients.pop(record, None)
            if gy is None:
                continue
            if record in wrt:
                kept[record] = gy
            m.work_on(record)
            _pull(m, record, gy, active, gradients)
    return kept


def reached(order: list[Record], sources: Iterable[Record], token: TapeToken) -> set[Record]:
    """Records computed from `sources` through real or complex numbers while one tape was recording."""
    active = set(sources)
    for record in order:
        is_candidate = token in record.tapes and record not in active and not record.is_discrete
        if is_candidate and any(x in active for x in record.inputs):
            active.add(record)
    return active


def _pull(m: RecordTracer, record: Record, gy: Any, active: set[Record], gradients: dict[Any, Any]) -> None:
    if record.op == ITEM:
        _accumulate(m, gradients.setdefault(record.inputs[0], {}), record.params["index"], gy)
        return
    wanted = [i for i, x in enumerate(record.inputs) if x in active]
    if not wanted:
        return
    if isinstance(record.value, tuple):
        gy = tuple(gy.get(k) or m.literal(np.zeros(part.shape)) for k, part in enumerate(record.value))
    if record.op == CUSTOM:
        for i, gx in record.call.pull(m, record, gy):
            if i in wanted and gx is not None:
                _accumulate(m, gradients, record.inputs[i], gx)
        return
    y = (
        tuple(m.of_item(record, k) for k in range(len(record.value)))
        if isinstance(record.value, tuple)
        else m.of(record)
    )
    xs = [m.of(x) for x in record.inputs]
    node = _as_node(record)
    for i in wanted:
        gx = input_gradient(m, node, i, gy, y, xs)
        if gx is not None:
            # A rule may have met a wider literal on its way; the gradient of an array has the array's dtype.
            gx = converted(m, gx, record.inputs[i].value.dtype)
            _accumulate(m, gradients, record.inputs[i], gx)


def _accumulate(m: RecordTracer, gradients: dict[Any, Any], key: Any, gx: Any) -> None:
    gradients[key] = gx if key not in gradients else m.add(gradients[key], gx)


class _NodeOf:
    """What the engine needs to know of a node, read off a record."""

    __slots__ = ("dtype", "id", "is_opaque", "op", "params", "span")

    def __init__(self, record: Record) -> None:
        self.id, self.op, self.params, self.span = record.serial, record.op, record.params, None
        self.is_opaque = record.op.startswith(OPAQUE)
        self.dtype = "tuple" if isinstance(record.value, tuple) else _name(record.value.dtype)


@lru_cache(maxsize=64)
def _name(dtype: np.dtype[Any]) -> str:
    return dtype.name  # NumPy works it out anew each time, slowly


def _as_node(record: Record) -> Any:
    return _NodeOf(record)
