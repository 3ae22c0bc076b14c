"""One file per cause, discovered: every module here whose name has no leading underscore."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic


@cache
def causes() -> tuple[Cause, ...]:
    """All causes, by name."""
    names = sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))
    return tuple(importlib.import_module(f"{__name__}.{name}").CAUSE for name in names)


def find_all(case: Case) -> tuple[Diagnostic, ...]:
    """What the causes find: gravest first, then in program order."""
    found = [diagnostic for cause in causes() for diagnostic in cause.find(case)]
    return tuple(sorted(found, key=lambda d: -d.rank))
