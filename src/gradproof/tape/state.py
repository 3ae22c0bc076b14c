"""What is being recorded right now, and by whom."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradproof.frontends.record.place import Place, here
from gradproof.tape.record import LEAF, Record, TapeToken, ancestors


class TapeExit:
    """Numbers that left the tapes: the record they had, where, and by which door."""

    __slots__ = ("how", "place", "record", "tapes")

    def __init__(self, how: str, place: Place | None, record: Record, tapes: tuple[TapeToken, ...]) -> None:
        self.how, self.place, self.record, self.tapes = how, place, record, tapes


class _State(threading.local):
    """Per thread, as tapes of one thread must not see the work of another."""

    tapes: tuple[TapeToken, ...] = ()  # those that record now
    scope: int | None = None  # the custom gradient whose forward or rule is running
    phase: Any = "forward"
    leaves: list[TapeExit] | None = None  # shared by all tapes that record now
    branches: list[Record] | None = None  # conditions of `if` and `while`


STATE = _State()


@contextmanager
def recording(*tapes: TapeToken) -> Iterator[None]:
    """Record for exactly these tapes inside."""
    before = STATE.tapes
    STATE.tapes = tapes
    try:
        yield
    finally:
        STATE.tapes = before


@contextmanager
def scope(id: int | None, phase: Any = "forward") -> Iterator[None]:
    """Everything recorded inside belongs to one custom gradient."""
    before = STATE.scope, STATE.phase
    STATE.scope, STATE.phase = id, phase
    try:
        yield
    finally:
        STATE.scope, STATE.phase = before


def note_leave(how: str, record: Record | None, place: Place | None = None) -> None:
    """Remember that numbers left through `float()`, `np.asarray` or the like."""
    if STATE.leaves is not None and record is not None and STATE.tapes:
        STATE.leaves.append(TapeExit(how, place or here(), record, STATE.tapes))


def roots_of(record: Record) -> frozenset[object]:
    """The leaves a record was computed from."""
    found: set[object] = set()
    for ancestor in ancestors([record]):
        if ancestor.op == LEAF:
            found.add(ancestor.call or ancestor)  # a Variable's identity outlives its values
        elif ancestor.origin is not None:
            found |= ancestor.origin.roots
    return frozenset(found)
