"""Numbers that go on as text or as bits and come back as numbers: the framework made them, and no gradient follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from gradproof.frontends.record.model import OpEvent
from gradproof.ir import types
from gradproof.ir.surroundings import LostPart

_TEXT = "string"  # the dtype of what is no number at all
_NONE: frozenset[str] = frozenset()


def is_disguise(event: OpEvent, role: str) -> bool:
    """Whether real numbers go in and come out as something that has no slope and still tells them all."""
    takes_numbers = any(types.is_real(value.dtype) for value in event.inputs)
    return takes_numbers and (role == "bits" or any(value.dtype == _TEXT for value in event.outputs))


def disguised(
    forward: Iterable[OpEvent],
    followed: Mapping[int, frozenset[str]],
    leads: Callable[[OpEvent], bool],
    role: Callable[[OpEvent], str],
) -> Iterator[LostPart]:
    """The ops at which such numbers are real ones again, on their way to the target."""
    hidden: dict[int, LostPart] = {}
    for event in forward:
        part = next((hidden[value.id] for value in event.inputs if value.id in hidden), None)
        if part is None and is_disguise(event, role(event)):
            behind = _NONE.union(*(followed.get(value.id, _NONE) for value in event.inputs))
            part = LostPart("disguised", event.op, event.span, None, behind) if behind else None
        if part is None:
            continue
        for value in event.outputs:
            if not types.is_real(value.dtype):
                hidden[value.id] = part
            elif leads(event):
                yield LostPart(part.kind, part.how, part.left, event.span, part.sources)
