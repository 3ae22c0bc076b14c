"""One file per kind of fix, discovered: every module here whose name has no leading underscore."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from gradproof.ir import syntax

if (
    TYPE_CHECKING
):  # what a fix is made of takes a second to load, and whoever only reads about fixes needs none
    from gradproof.fixes.kind import FixKind


@cache
def kinds() -> tuple[FixKind, ...]:
    """All kinds of fixes, by name."""
    return tuple(importlib.import_module(f"{__name__}.{name}").FIX for name in _modules())


def serving(cause: str) -> tuple[FixKind, ...]:
    """The kinds that may mend what a cause has found."""
    return tuple(kind for kind in kinds() if cause in kind.serves)


def described(cause: str) -> list[tuple[str, str]]:
    """The names of the kinds that serve a cause, with the first sentence of each: read, and not loaded."""
    found = []
    for module in _modules():
        tree = syntax.module((pkgutil.get_data(__name__, f"{module}.py") or b"").decode())
        call = next(
            one.value
            for one in tree.body
            if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "FIX"
        )
        assert isinstance(call, ast.Call)
        name, serves = map(ast.literal_eval, call.args[:2])
        if cause in serves:
            found.append((name, (ast.get_docstring(tree) or "").split("\n")[0]))
    return found


@cache
def _modules() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
