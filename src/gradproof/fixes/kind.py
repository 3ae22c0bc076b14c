"""What a kind of fix is: the causes it serves, and the changes it offers for one fault."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.fixes.tried import Replay


@dataclass(frozen=True, eq=False)
class Fault:
    """What is to be mended: a case, what was found in it, and how a changed program is run in the user's framework."""

    case: Case
    found: Diagnostic
    replay: Replay | None = None


@dataclass(frozen=True)
class FixKind:
    """`offer` yields changes that mend a fault, those that change least first; nothing where it cannot help."""

    name: str
    serves: tuple[str, ...]
    offer: Callable[[Fault], Iterable[Fix]]
