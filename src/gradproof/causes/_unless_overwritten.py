"""Rules that were given other numbers than their op had: what changed the numbers is to blame."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic


def unless_overwritten(
    find: Callable[[Case], Iterator[Diagnostic]],
) -> Callable[[Case], Iterator[Diagnostic]]:
    """Says nothing about such a rule."""
    return lambda case: iter(()) if case.was_overwritten else find(case)
