"""Installing the hooks the moment the user's program imports a framework, without importing it ourselves."""

from __future__ import annotations

import importlib.abc
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any


def on_import(action: Callable[[], None], package: str) -> Callable[[], None]:
    """Run `action` right after the import of a package is complete, at once if it already is.

    Returns what cancels it. The action's own failures are its own business: it must not raise.
    """
    if _is_imported(package):
        action()
        return lambda: None
    finder = _Finder(action, package)
    sys.meta_path.insert(0, finder)
    return finder.cancel


def _is_imported(package: str) -> bool:
    module = sys.modules.get(package)
    spec = getattr(module, "__spec__", None)
    return module is not None and not getattr(spec, "_initializing", False)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the package as Python would, and adds the action to its loading."""

    def __init__(self, action: Callable[[], None], package: str) -> None:
        self._action, self._package = action, package

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self._package:
            return None
        self.cancel()
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                _follow(spec.loader, self._action)
                return spec
        return None

    def cancel(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def _follow(loader: Any, action: Callable[[], None]) -> None:
    """The loader keeps its class, which tools look at; only this one loading is followed."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        execute(module)
        action()

    loader.exec_module = exec_module
