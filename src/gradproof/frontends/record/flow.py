"""How data flow through recorded events: what goes in and out, what follows from what."""

from __future__ import annotations

from collections.abc import Iterable

from gradproof.frontends.record.model import GradientCall, OpEvent, Value
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


def is_older_primal(call: GradientCall, event: OpEvent, output: Value) -> bool:
    """Whether forward mode takes a value as given: it has a tangent of its own, wherever it came from before."""
    is_source = any(source.value.id == output.id for source in call.sources)
    return call.api == "jvp" and is_source and not event.is_heard_by(call.tape)
