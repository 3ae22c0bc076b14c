"""The events that a target was computed from: those near it, and those by which a leaf reaches it without a graph."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from gradproof.frontends.torch.record.memory import Cell
from gradproof.frontends.torch.record.recorder import TorchEvent


@dataclass(frozen=True)
class Behind:
    """Events that a target was computed from; `is_all` where none was left out for its age."""

    events: list[TorchEvent]
    is_all: bool


def near(events: Sequence[TorchEvent], wanted: Collection[int], previous: int = 0) -> Behind:
    """Those behind the values that are wanted.

    Leaves begin there. So does what has no history for PyTorch and is older than the previous gradient call,
    such as the running means of a layer: it would lead back through all steps.
    """
    needed, found, is_all = set(wanted), [], True
    for event in reversed(events):
        for cell in event.outputs:  # events of many steps are looked through, for each step that is kept
            if cell.id not in needed:
                continue
            if event.index >= previous or event.scope is not None or cell.requires_grad:
                found.append(event)
                needed.update(cell.id for cell in event.inputs if cell.leaf is None)
                break
            is_all = False
    return Behind(found[::-1], is_all)


def far(events: Sequence[TorchEvent], wanted: Collection[int], close: Behind) -> list[TorchEvent]:
    """Older ones by which leaves lead to what is wanted that are in none of those known.

    As where a code was computed without a graph ahead of another call. A leaf that is known, too, has other numbers by
    now, and running means lead back to no other.
    """
    if close.is_all:
        return []
    known = close.events
    leaves = {id(cell.leaf) for event in known for cell in event.inputs if cell.leaf is not None}
    have = {event.index for event in known}
    reached: set[int] = set()
    found = []
    for event in near(events, wanted).events:
        if event.index not in have and any(_leads(cell, leaves, reached) for cell in event.inputs):
            found.append(event)
            reached.update(cell.id for cell in event.outputs)
    return found


def _leads(cell: Cell, leaves: Collection[int], reached: Collection[int]) -> bool:
    return cell.id in reached if cell.leaf is None else id(cell.leaf) not in leaves
