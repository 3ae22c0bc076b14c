"""One file per cause, discovered: every module here whose name has no leading underscore."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

from gradproof.clock import TimeIsOver
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.occasion import occasions

if (
    TYPE_CHECKING
):  # what a case is made of takes a second to load, and whoever only reads about causes needs none
    from gradproof.diagnosis.case import Case
    from gradproof.diagnosis.diagnostic import Diagnostic


@cache
def causes() -> tuple[Cause, ...]:
    """All causes, by name."""
    return tuple(importlib.import_module(f"{__name__}.{name}").CAUSE for name in _modules())


def names() -> list[str]:
    """The names of all causes, which are those of their files."""
    return [module.replace("_", "-") for module in _modules()]


def described(name: str) -> Cause:
    """A cause whose text is read from its file and whose detector is loaded when it is used, which takes a second."""
    file = name.replace("-", "_")
    # Every file begins with its documentation; the rest of it need not be parsed.
    doc = (pkgutil.get_data(__name__, f"{file}.py") or b"").decode().split('"""')[1]
    return Cause(name, lambda case: importlib.import_module(f"{__name__}.{file}").CAUSE.find(case), doc)


@cache
def _modules() -> list[str]:
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def find_all(
    case: Case, excuse: Callable[[Exception | TimeIsOver], None] | None = None
) -> tuple[Diagnostic, ...]:
    """What the causes find: gravest first, then in program order.

    With `excuse`, a cause that fails is left out and its exception handed over: the others still have their say,
    unless it failed because the time is over.
    """
    found: list[Diagnostic] = []
    shown = occasions(case)
    for cause in causes():
        if shown.isdisjoint(cause.on):
            continue
        try:
            found += cause.find(case)
        except Exception as error:
            if excuse is None:
                raise
            excuse(error)
        except TimeIsOver as over:
            if excuse is None:
                raise
            excuse(over)
            break
    return tuple(sorted(found, key=lambda d: -d.rank))
