"""Which framework a function is written with, by the names that it reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

BY_PACKAGE = {
    "tensorflow": "tensorflow",
    "keras": "tensorflow",
    "jax": "jax",
    "jaxlib": "jax",
    "torch": "torch",
}
"""The packages whose objects say which framework is meant."""


def framework_of(function: Callable[..., Any]) -> str:
    """The one framework whose functions it calls, or the functions beside it that it calls; else NumPy."""
    found = {BY_PACKAGE[package] for package in _packages(function, set()) if package in BY_PACKAGE}
    return found.pop() if len(found) == 1 else "numpy"


def packages_of(value: Any) -> Iterator[str]:
    """The top packages of an object's type and of what its class derives from."""
    yield from (kind.__module__.partition(".")[0] for kind in type(value).__mro__)


def _packages(value: Any, seen: set[int]) -> Iterator[str]:
    """Of an object that a function names, and of all that a function of the user's names in turn."""
    if id(value) in seen:
        return
    seen.add(id(value))
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
    yield from packages_of(value)
    if isinstance(name, str):
        yield name.partition(".")[0]
    if isinstance(name, str) and name.partition(".")[0] in BY_PACKAGE:
        return
    for one in _named_in(value):
        yield from _packages(one, seen)


def _named_in(value: Any) -> Iterator[Any]:
    """What the code of a function names; of a method, a partial call or an object that is called, what theirs names."""
    while isinstance(value, partial):
        value = value.func
    function = inspect.unwrap(value) if callable(value) else None
    function = getattr(function, "__func__", function)
    if not isinstance(function, FunctionType):
        function = vars(type(value)).get("__call__")
    if not isinstance(function, FunctionType):
        return
    names = set(_names(function.__code__))
    yield from (function.__globals__[name] for name in names if name in function.__globals__)
    yield from (cell.cell_contents for cell in function.__closure__ or () if _is_filled(cell))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _names(one)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not None
    except ValueError:
        return False
