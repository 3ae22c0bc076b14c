"""How data flow through recorded events: what goes in and out, what follows from what."""

from __future__ import annotations

from collections.abc import Iterable

from gradproof.frontends.tensorflow.recording import OpEvent
from gradproof.ir import types


def takes(event: OpEvent, ids: set[int]) -> bool:
    return any(value.id in ids for value in event.inputs)


def gives(event: OpEvent, ids: set[int]) -> bool:
    return any(value.id in ids for value in event.outputs)


def is_discrete(event: OpEvent) -> bool:
    return any(types.is_discrete(value.dtype) for value in event.outputs)


def descendants(events: Iterable[OpEvent], ids: set[int]) -> set[int]:
    reached = set(ids)
    for event in events:
        if takes(event, reached):
            reached.update(value.id for value in event.outputs)
    return reached


def ancestors(events: Iterable[OpEvent], ids: set[int]) -> set[int]:
    needed = set(ids)
    for event in reversed(list(events)):
        if gives(event, needed):
            needed.update(value.id for value in event.inputs)
    return needed
