"""Frameworks as data: how each is called, spelled and spoken of. One file each, which imports nothing of it."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from gradproof.frameworks._framework import Framework

__all__ = ["Framework", "all_frameworks", "framework"]


@cache
def framework(name: str) -> Framework:
    """The framework of that name; of one that has no file here no more is known than its name."""
    if name not in _names():
        return Framework(name, name, module=name, alias=name)
    found: Framework = importlib.import_module(f"{__name__}.{name}").FRAMEWORK
    return found


def all_frameworks() -> tuple[Framework, ...]:
    """Every framework that has a file here."""
    return tuple(framework(name) for name in _names())


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(one.name for one in pkgutil.iter_modules(__path__) if not one.name.startswith("_")))
