"""Builds verified programs out of lowered records: the forward one, and the gradient as it was computed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradproof.frontends.record.place import span_of
from gradproof.ir.program import Builder, Program
from gradproof.tape.lowering import lowered, value_of
from gradproof.tape.record import CONSTANT, CUSTOM, ITEM, LEAF, Record, ancestors


@dataclass(frozen=True)
class TapeSource:
    """One source of a gradient: the records it consists of, and what the user calls it.

    A Variable that was assigned to while the tape ran has one record per value; its gradient is the sum.
    """

    records: tuple[Record, ...]
    name: str | None = None


@dataclass(frozen=True)
class Built:
    """A program, and the node that stands for each record in it."""

    program: Program
    ids: Mapping[Record, int]


def build(outputs: Sequence[Record], sources: Sequence[TapeSource]) -> Built:
    """The program that computes `outputs` from `sources`, which become its inputs in their order."""
    cut = {meaning(record) for source in sources for record in source.records}
    builder = Builder()
    ids: dict[Record, int] = {}
    values: dict[Record, Any] = {}
    for source in sources:
        _enter_source(builder, source, ids)
    wanted = [meaning(record) for record in outputs]
    for record in ancestors(wanted, lambda record: () if record in cut else _inputs(record)):
        values[record] = value_of(record, _Meant(values))
        if record not in ids:
            ids[record] = _enter(builder, record, values[record], ids)
    for record in outputs:
        ids.setdefault(record, ids[meaning(record)])
    return Built(builder.build([ids[record] for record in outputs]), ids)


def meaning(record: Record) -> Record:
    """The record whose value a custom gradient's result has: the end of its forward ops."""
    while True:
        if record.op == CUSTOM and len(record.call.outputs) == 1:
            record = lowered(record.call.outputs[0])
        elif record.op == ITEM and record.inputs[0].op == CUSTOM:
            record = lowered(record.inputs[0].call.outputs[record.params["index"]])
        else:
            return record


def _inputs(record: Record) -> tuple[Record, ...]:
    return tuple(meaning(x) for x in record.inputs)


def _enter_source(builder: Builder, source: TapeSource, ids: dict[Record, int]) -> None:
    if len(source.records) == 1:
        record = source.records[0]
        ids[record] = ids[meaning(record)] = builder.input(record.value, source.name, span_of(record.place))
        return
    # Moving a Variable moves every value it had: all of them are shifted by one input, which is zero.
    first = source.records[0].value
    shift = builder.input(np.zeros(first.shape, first.dtype), source.name)
    for record in source.records:
        ids[record] = builder.add("add", builder.constant(record.value), shift, value=record.value)


class _Meant(dict[Record, Any]):
    """Values by record, where a custom gradient's result stands for the end of its forward."""

    def __init__(self, values: Mapping[Record, Any]) -> None:
        super().__init__()
        self.values_of = values

    def __missing__(self, record: Record) -> Any:
        return self.values_of[meaning(record)]


def _enter(builder: Builder, record: Record, value: Any, ids: Mapping[Record, int]) -> int:
    span = span_of(record.place)
    if record.op in (LEAF, CONSTANT):
        return builder.constant(value, span, record.phase)
    return builder.add(
        record.op,
        *(ids[x] for x in _inputs(record)),
        params=record.params,
        value=value,
        span=span,
        phase=record.phase,
        scope=record.scope,
    )
