"""Whether the fields of a record hold what its class says they do: for records that come from outside."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin

import numpy as np

Fits = Callable[[Any], bool]


def check_fields(record: Any) -> None:
    """Raise ValueError at the first field that holds something of another type."""
    kind = type(record)
    for name, fits in _fields(kind):  # type: ignore[arg-type]
        value = getattr(record, name)
        if not fits(value):
            raise ValueError(f"`{kind.__name__}.{name}` holds a {type(value).__name__}")


@cache
def _fields(cls: type[Any]) -> tuple[tuple[str, Fits], ...]:
    """What each field is asked; a file has thousands of records of few classes."""
    if not is_dataclass(cls):
        return ()
    known = typing.get_type_hints(cls)
    return tuple((field.name, _fits(known[field.name])) for field in fields(cls))


@cache
def _fits(hint: Any) -> Fits:
    """What tells whether a value is one of a type."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value: True
    if hint is None or hint is type(None):
        return lambda value: value is None
    if origin in (types.UnionType, typing.Union):
        return _any_of(inner)
    if origin is typing.Literal:
        return lambda value: value in inner
    if origin is tuple:
        return _fits_tuple(inner)
    return _fits_other(hint, origin, inner)


def _any_of(hints: Sequence[Any]) -> Fits:
    """Nearly all unions are of something and None: these are asked thousands of times for one file."""
    parts = [_fits(one) for one in hints if one is not type(None)]
    if len(parts) == 1 < len(hints):
        (fits,) = parts
        return lambda value: value is None or fits(value)
    if len(parts) < len(hints):
        return lambda value: value is None or any(part(value) for part in parts)
    return lambda value: any(part(value) for part in parts)


def _fits_tuple(inner: tuple[Any, ...]) -> Fits:
    if len(inner) == 2 and inner[1] is Ellipsis:
        every = _fits(inner[0])
        return lambda value: isinstance(value, tuple) and all(map(every, value))
    parts = [_fits(one) for one in inner]
    return lambda value: (
        isinstance(value, tuple)
        and len(value) == len(parts)
        and all(part(item) for part, item in zip(parts, value))
    )


def _fits_other(hint: Any, origin: Any, inner: tuple[Any, ...]) -> Fits:
    if origin is np.ndarray:  # NumPy makes a number of an array without axes
        return lambda value: isinstance(value, np.ndarray | np.generic)
    if origin in (Mapping, dict):
        key, item = _fits(inner[0]), _fits(inner[1])
        return lambda value: isinstance(value, Mapping) and all(key(k) and item(v) for k, v in value.items())
    if origin in (frozenset, Sequence, list):
        every = _fits(inner[0])
        return lambda value: isinstance(value, origin) and all(map(every, value))
    if origin is Callable:
        return callable
    if hint in _NUMBERS:
        kinds = _NUMBERS[hint]
        return lambda value: isinstance(value, kinds) and not isinstance(value, bool)
    if getattr(hint, "_is_protocol", False):
        return lambda value: True
    return lambda value: isinstance(value, hint)


_NUMBERS: dict[Any, tuple[type[Any], ...]] = {
    float: (float, int),
    complex: (complex, float, int),
    int: (int, np.integer),
}
