"""NumPy functions that make a new array like another, and those that change their first argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradproof.tape.array import Array
from gradproof.tape.dispatch import raw, rebind
from gradproof.tape.recording import record_call
from gradproof.tape.state import note_leave

Special = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


def _create(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An array of constants, traced so that entries can be assigned to it."""
    return Array(value=function(*raw(args), **{key: raw(item) for key, item in kwargs.items()}))


def _full_like(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    names = ("a", "fill_value", "dtype")
    given = {**dict(zip(names, args)), **kwargs}
    result = _create(np.empty_like, (given["a"],), {"dtype": given.get("dtype"), "shape": given.get("shape")})
    result[...] = given["fill_value"]
    del function
    return result


def _change(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Run on a copy; a traced target then takes over the result."""
    target, *rest = args
    is_traced = isinstance(target, Array)
    new = target._value.copy() if is_traced else target
    function(new, *raw(tuple(rest)), **{key: raw(item) for key, item in kwargs.items()})
    if is_traced:
        rebind(target, record_call(function, args, kwargs, new))
        return
    for item in (*rest, *kwargs.values()):
        if isinstance(item, Array):
            note_leave(f"np.{function.__name__}", item._record)


CREATES: dict[Any, Special] = {
    np.zeros_like: _create,
    np.ones_like: _create,
    np.empty_like: _create,
    np.full_like: _full_like,
}
CHANGES_ITS_ARGUMENT: dict[Any, Special] = dict.fromkeys(
    (np.copyto, np.put, np.place, np.putmask, np.fill_diagonal, np.put_along_axis), _change
)
