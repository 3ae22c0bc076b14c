"""A function that a library keeps in another place than where a program looks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any

_PREFERRED = (
    "math.",
    "linalg.",
    "nn.",
    "random.",
)  # where what once stood at the top has gone, as in TensorFlow 2


def places_of(module: ModuleType, name: str) -> list[str]:
    """The functions of this very name in the modules of a module, the likeliest first."""
    found = [path for path in public_names(module) if path.rpartition(".")[2] == name]
    return sorted((path for path in found if callable(looked_up(module, path))), key=_preference)


def _preference(path: str) -> tuple[int, str]:
    order = [k for k, start in enumerate(_PREFERRED) if path.startswith(start)]
    return (order or [len(_PREFERRED)])[0], path


def public_names(module: ModuleType) -> Sequence[str]:
    """The public names of a module and of the modules in it."""
    own = [name for name in dir(module) if not name.startswith("_")]
    parts = [(name, getattr(module, name, None)) for name in own]
    inner = [f"{name}.{item}" for name, part in parts if isinstance(part, ModuleType) for item in dir(part)]
    return [*own, *(name for name in inner if "._" not in name)]


def looked_up(module: ModuleType, path: str) -> Any:
    found: Any = module
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def only_place(error: BaseException) -> str | None:
    """Where the function is that an `AttributeError` of a module is about; None if that is not clear."""
    if not isinstance(error, AttributeError) or not isinstance(error.obj, ModuleType) or not error.name:
        return None
    places = places_of(error.obj, error.name)
    return places[0] if len({id(looked_up(error.obj, path)) for path in places}) == 1 else None


@contextmanager
def put_back(module: ModuleType, name: str, path: str) -> Iterator[None]:
    """Have the module know the name for a while."""
    setattr(module, name, looked_up(module, path))
    try:
        yield
    finally:
        delattr(module, name)
