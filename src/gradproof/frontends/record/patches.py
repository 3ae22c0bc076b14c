"""Replacing functions of TensorFlow for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Patch = tuple[Any, str, Any]
"""An owner, the name of a function in it, and what takes its place."""


def wrap(owner: Any, name: str, around: Callable[..., Any]) -> Patch:
    """A patch that calls `around(original, *args, **kwargs)`.

    The wrapper says it comes from the module it is put into, so that AutoGraph does not convert it. The
    caller's frame is the second above `around`.
    """
    original = owner.__dict__[name]

    @wraps(original)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        return around(original, *args, **kwargs)

    return owner, name, hooked


def apply(patches: Iterable[Patch]) -> Callable[[], None]:
    """Put patches in; returns what takes them out, the last first."""
    undo: list[Patch] = []
    for owner, name, replacement in patches:
        # As it stands there, a class method as such; the code of a function stands nowhere.
        undo.append((owner, name, owner.__dict__[name] if name in owner.__dict__ else getattr(owner, name)))
        setattr(owner, name, replacement)

    def remove() -> None:
        while undo:
            owner, name, original = undo.pop()
            setattr(owner, name, original)

    return remove
