"""How a NumPy call becomes a record. This runs at every operation, so it is written for speed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradproof.frontends.record.place import Place, here
from gradproof.ir import types
from gradproof.tape.array import Array
from gradproof.tape.plain import require_plain
from gradproof.tape.record import CALL, ITEM, Origin, Record, TapeCall, constant
from gradproof.tape.state import STATE, note_leave

_KNOWN_DTYPES = frozenset(
    types.numpy_dtype(name) for name in (*types.REAL_BITS, *types.COMPLEX_BITS, *types.DISCRETE)
)


def record_flat(function: Any, args: tuple[Any, ...], value: Any) -> Any:
    """The result of a call whose arguments are arrays and numbers, no lists: ufuncs and operators."""
    tapes = STATE.tapes
    if not tapes:
        return _untracked(value, [x for x in args if isinstance(x, Array)])
    inputs: list[Record] = []
    kept: list[Any] = []
    is_tracked = False
    for x in args:
        if isinstance(x, Array):
            record = x._record_now if x._base is None else x._record
            if record is not None and record.is_tracked:
                is_tracked = True
            else:
                record = _outsider(x)
            inputs.append(record)
            kept.append(record)
        elif isinstance(x, np.ndarray):
            require_plain(x)
            kept.append(x.copy() if x.flags.writeable or x.base is not None else x)
        else:
            kept.append(x)
    if not is_tracked:
        return _untracked(value, [x for x in args if isinstance(x, Array)])
    return _tracked(value, TapeCall(function, tuple(kept)), tuple(inputs))


def record_call(function: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], value: Any) -> Any:
    """The result `value` of any NumPy call as traced arrays that know how it came about."""
    arrays = _arrays(args, [])
    if kwargs:
        _arrays(tuple(kwargs.values()), arrays)
    if not STATE.tapes or not any(array.is_tracked for array in arrays):
        return _untracked(value, arrays)
    inputs: list[Record] = []
    call = TapeCall(
        function, _snapshot(args, inputs), {key: _snapshot(item, inputs) for key, item in kwargs.items()}
    )
    return _tracked(value, call, tuple(inputs))


def _tracked(value: Any, call: TapeCall, inputs: tuple[Record, ...]) -> Any:
    place = here()
    if isinstance(value, tuple | list):
        return _tracked_parts(value, call, inputs, place)
    array = value if type(value) is np.ndarray else np.asarray(value)
    if array.dtype not in _KNOWN_DTYPES:
        return _left(value, call, inputs, place)
    state = STATE
    return Array(
        Record(CALL, inputs, array, place, state.tapes, phase=state.phase, scope=state.scope, call=call)
    )


def _tracked_parts(value: Any, call: TapeCall, inputs: tuple[Record, ...], place: Place | None) -> Any:
    parts = tuple(np.asarray(part) for part in value)
    if not all(part.dtype in _KNOWN_DTYPES for part in parts):
        return _left(value, call, inputs, place)
    tapes, phase, scope = STATE.tapes, STATE.phase, STATE.scope
    whole = Record(CALL, inputs, parts, place, tapes, phase=phase, scope=scope, call=call)
    items = [
        Array(Record(ITEM, (whole,), part, place, tapes, {"index": k}, phase, scope))
        for k, part in enumerate(parts)
    ]
    return _like(value, items)


def _like(value: Any, items: list[Any]) -> Any:
    """The same kind of sequence: a list, a tuple, or one of NumPy's named tuples."""
    if isinstance(value, list):
        return items
    return type(value)(*items) if hasattr(value, "_fields") else tuple(items)


def _left(value: Any, call: TapeCall, inputs: tuple[Record, ...], place: Place | None) -> Any:
    """Results of a kind that no program knows (objects, strings, long doubles) are handed out as they are."""
    for record in inputs:
        note_leave(call.name, record, place)
    return value


def _untracked(value: Any, arrays: list[Array]) -> Any:
    """A result that no tape follows; where it came from is kept, to explain a missing gradient."""
    roots = frozenset().union(*(array.roots for array in arrays)) if arrays else frozenset()
    inherited = next((array._origin for array in arrays if array._origin is not None), None)
    if inherited is not None:
        origin = Origin(inherited.reason, inherited.place, roots)
    else:
        has_record = any(array._record is not None for array in arrays)
        origin = Origin("outside-tape" if has_record else "not-watched", here(), roots)

    def wrap(part: Any) -> Any:
        part = np.asarray(part)
        return Array(value=part, origin=origin) if part.dtype in _KNOWN_DTYPES else part

    if isinstance(value, tuple | list):
        return _like(value, [wrap(part) for part in value])
    return wrap(value)


def _arrays(item: Any, found: list[Array]) -> list[Array]:
    if isinstance(item, Array):
        found.append(item)
    elif isinstance(item, tuple | list):
        for part in item:
            _arrays(part, found)
    return found


def _snapshot(item: Any, inputs: list[Record]) -> Any:
    """Arguments as they are now: records for traced arrays, copies of arrays that may be changed."""
    if isinstance(item, Array):
        record = item._record
        if record is None or not record.is_tracked:
            record = _outsider(item)
        inputs.append(record)
        return record
    if isinstance(item, np.ndarray):
        require_plain(item)
        return item.copy() if item.flags.writeable or item.base is not None else item
    if isinstance(item, tuple):
        return tuple([_snapshot(part, inputs) for part in item])
    if isinstance(item, list):
        return [_snapshot(part, inputs) for part in item]
    return item


def _outsider(array: Array) -> Record:
    """A traced array that no live tape knows: a constant that remembers why."""
    record = array._record
    origin = array._origin or Origin("outside-tape", None if record is None else record.place, array.roots)
    return constant(array._value, origin)
