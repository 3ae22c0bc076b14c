"""One file per cause, discovered: every module here whose name has no leading underscore."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from functools import cache

from gradproof.clock import TimeIsOver
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic


@cache
def causes() -> tuple[Cause, ...]:
    """All causes, by name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return tuple(importlib.import_module(f"{__name__}.{name}").CAUSE for name in names)


def find_all(
    case: Case, excuse: Callable[[Exception | TimeIsOver], None] | None = None
) -> tuple[Diagnostic, ...]:
    """What the causes find: gravest first, then in program order.

    With `excuse`, a cause that fails is left out and its exception handed over: the others still have their say,
    unless it failed because the time is over.
    """
    found: list[Diagnostic] = []
    for cause in causes():
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
