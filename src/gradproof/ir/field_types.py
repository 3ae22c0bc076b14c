"""Whether the fields of a record hold what its class says they do: for records that come from outside."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_origin

import numpy as np


def check_fields(record: Any) -> None:
    """Raise ValueError at the first field that holds something of another type."""
    if not is_dataclass(record):
        return
    kind = type(record)
    for name, hint in _hints(kind).items():  # type: ignore[arg-type]
        value = getattr(record, name)
        if not _fits(value, hint):
            raise ValueError(f"`{kind.__name__}.{name}` holds a {type(value).__name__}")


@cache
def _hints(cls: type[Any]) -> Mapping[str, Any]:
    known = typing.get_type_hints(cls)
    return {field.name: known[field.name] for field in fields(cls)}


def _fits(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    if origin in (types.UnionType, typing.Union):
        return any(_fits(value, one) for one in inner)
    if origin is typing.Literal:
        return value in inner
    if origin is tuple:
        return isinstance(value, tuple) and _fits_tuple(value, inner)
    return _fits_other(value, hint, origin, inner)


def _fits_tuple(value: tuple[Any, ...], inner: tuple[Any, ...]) -> bool:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return all(_fits(item, inner[0]) for item in value)
    return len(value) == len(inner) and all(map(_fits, value, inner))


def _fits_other(value: Any, hint: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    if origin is np.ndarray:
        return isinstance(value, np.ndarray | np.generic)  # NumPy makes a number of an array without axes
    if origin in (Mapping, dict):
        pairs = isinstance(value, Mapping) and value.items()
        return pairs is not False and all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in pairs)
    if origin in (frozenset, Sequence, list):
        return isinstance(value, origin) and all(_fits(item, inner[0]) for item in value)
    if origin is Callable:
        return callable(value)
    if hint is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if hint is complex:
        return isinstance(value, complex | float | int) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    return getattr(hint, "_is_protocol", False) or isinstance(value, hint)
