"""What is being recorded right now, and how a NumPy call becomes a record."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from gradproof.ir import types
from gradproof.tape.place import Place, here
from gradproof.tape.record import CALL, ITEM, LEAF, Call, Origin, Record, Token, constant

if TYPE_CHECKING:
    from gradproof.tape.array import Array

_KNOWN_DTYPES = frozenset(
    types.numpy_dtype(name) for name in (*types.REAL_BITS, *types.COMPLEX_BITS, *types.DISCRETE)
)


class Leave:
    """Numbers that left the tapes: the record they had, where, and by which door."""

    __slots__ = ("how", "place", "record", "tapes")

    def __init__(self, how: str, place: Place | None, record: Record, tapes: tuple[Token, ...]) -> None:
        self.how, self.place, self.record, self.tapes = how, place, record, tapes


class _State(threading.local):
    """Per thread, as tapes of one thread must not see the work of another."""

    tapes: tuple[Token, ...] = ()  # those that record now
    scope: int | None = None  # the custom gradient whose forward or rule is running
    phase: Any = "forward"
    leaves: list[Leave] | None = None  # shared by all tapes that record now
    branches: list[Record] | None = None


STATE = _State()


@contextmanager
def recording(*tapes: Token) -> Iterator[None]:
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


def record_call(
    function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], value: Any
) -> Any:
    """The result `value` of a NumPy call as traced arrays that know how it came about."""
    place = here()
    arrays = _arrays(args, [])
    if kwargs:
        _arrays(tuple(kwargs.values()), arrays)
    if not STATE.tapes or not any(array.is_tracked for array in arrays):
        return _untracked(value, arrays, place)
    inputs: list[Record] = []
    call = Call(function, name, _snapshot(args, inputs), {key: _snapshot(item, inputs) for key, item in kwargs.items()})
    return _tracked(value, call, tuple(inputs), place)


def _tracked(value: Any, call: Call, inputs: tuple[Record, ...], place: Place | None) -> Any:
    from gradproof.tape.array import Array

    tapes, phase, scope_id = STATE.tapes, STATE.phase, STATE.scope
    if isinstance(value, tuple | list):
        parts = tuple(np.asarray(part) for part in value)
        if not all(part.dtype in _KNOWN_DTYPES for part in parts):
            return _left(value, call, inputs, place)
        whole = Record(CALL, inputs, parts, place, tapes, phase=phase, scope=scope_id, call=call)
        items = [
            Array(Record(ITEM, (whole,), part, place, tapes, {"index": k}, phase, scope_id))
            for k, part in enumerate(parts)
        ]
        return _like(value, items)
    array = np.asarray(value)
    if array.dtype not in _KNOWN_DTYPES:
        return _left(value, call, inputs, place)
    return Array(Record(CALL, inputs, array, place, tapes, phase=phase, scope=scope_id, call=call))


def _like(value: Any, items: list[Any]) -> Any:
    """The same kind of sequence: a list, a tuple, or one of NumPy's named tuples."""
    if isinstance(value, list):
        return items
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def _left(value: Any, call: Call, inputs: tuple[Record, ...], place: Place | None) -> Any:
    """Results of a kind that no program knows (objects, strings, long doubles) are handed out as they are."""
    for record in inputs:
        note_leave(call.name, record, place)
    return value


def _untracked(value: Any, arrays: list[Array], place: Place | None) -> Any:
    from gradproof.tape.array import Array

    roots = frozenset().union(*(array.roots for array in arrays)) if arrays else frozenset()
    reason = "outside-tape" if any(array._record is not None for array in arrays) else "not-watched"
    inherited = next((array._origin for array in arrays if array._origin is not None), None)
    origin = Origin(inherited.reason if inherited else reason, inherited.place if inherited else place, roots)

    def wrap(part: Any) -> Any:
        part = np.asarray(part)
        return Array(value=part, origin=origin) if part.dtype in _KNOWN_DTYPES else part

    if isinstance(value, tuple | list):
        return _like(value, [wrap(part) for part in value])
    return wrap(value)


def note_leave(how: str, record: Record | None, place: Place | None = None) -> None:
    """Remember that numbers left through `float()`, `np.asarray` or the like."""
    if STATE.leaves is not None and record is not None and STATE.tapes:
        STATE.leaves.append(Leave(how, place or here(), record, STATE.tapes))


def _arrays(item: Any, found: list[Any]) -> list[Any]:
    from gradproof.tape.array import Array

    if isinstance(item, Array):
        found.append(item)
    elif isinstance(item, tuple | list):
        for part in item:
            _arrays(part, found)
    return found


def _snapshot(item: Any, inputs: list[Record]) -> Any:
    """Arguments as they are now: records for traced arrays, copies of arrays that the caller may change later."""
    from gradproof.tape.array import Array

    if isinstance(item, Array):
        record = item._record if item.is_tracked and item._record is not None else _outsider(item)
        inputs.append(record)
        return record
    if isinstance(item, np.ndarray):
        return item if not item.flags.writeable and item.base is None else item.copy()
    if isinstance(item, tuple):
        return tuple(_snapshot(part, inputs) for part in item)
    if isinstance(item, list):
        return [_snapshot(part, inputs) for part in item]
    return item


def _outsider(array: Array) -> Record:
    """A traced array that no live tape knows: a constant that remembers why."""
    origin = array._origin or Origin("outside-tape", None if array._record is None else array._record.place, array.roots)
    return constant(array._value, origin)


def roots_of(record: Record) -> frozenset[object]:
    """The leaves a record was computed from."""
    from gradproof.tape.record import ancestors

    found: set[object] = set()
    for ancestor in ancestors([record]):
        if ancestor.op == LEAF:
            found.add(ancestor.call or ancestor)  # a Variable's identity outlives its values
        elif ancestor.origin is not None:
            found |= ancestor.origin.roots
    return frozenset(found)
