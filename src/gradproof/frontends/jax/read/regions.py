"""Functions of the library that are known by their frames only: what they compute is taken as one step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, takewhile

from gradproof.frontends.jax.lower.library import PREFIX, Known
from gradproof.frontends.record.model import RETURN_OP, OpEvent, Value
from gradproof.ir import types


def with_regions(events: Sequence[OpEvent], sources: Sequence[Value]) -> list[OpEvent]:
    """The events with one more behind each region, which gives its result the meaning of the whole function."""
    found: list[OpEvent] = []
    outside = {value.id for value in sources}
    for known, group in groupby(events, key=lambda event: event.attrs.get(MARK)):
        inside = list(group)
        found += inside
        if isinstance(known, Known):
            found += _meant(known, inside, outside)
        outside.update(value.id for event in inside for value in event.outputs)
    return found


MARK = "gradproof.region"
"""The attribute of an event that names the function it is inside of."""


def _meant(known: Known, inside: Sequence[OpEvent], outside: set[int]) -> list[OpEvent]:
    """The function of what it was given; its result comes last, before the slopes that go with it."""
    given = (value for event in inside for value in event.inputs if value.id in outside)
    inputs = list({value.id: value for value in given if types.is_real(value.dtype)}.values())
    inputs = [_handed_on(value, inside) for value in inputs]
    last = inside[-1]
    tail = list(takewhile(lambda event: event.op == RETURN_OP, reversed(inside)))
    end = tail[-1] if tail else last
    if len(inputs) != known.n_inputs or known.n_outputs != 1 or inputs[0].shape != end.outputs[0].shape:
        return []
    return [replace(last, op=PREFIX + known.name, inputs=tuple(inputs), outputs=end.outputs[:1], attrs={})]


def _handed_on(value: Value, inside: Sequence[OpEvent]) -> Value:
    """The same number as the function's own steps know it: copied and converted to what it is already."""
    for event in inside:
        if event.op in _SAME and event.inputs == (value,) and event.outputs[0].dtype == value.dtype:
            value = event.outputs[0]
    return value


_SAME = ("copy", "convert_element_type", RETURN_OP)
