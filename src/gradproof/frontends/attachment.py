"""What a frontend offers that listens to a running program: its end, what it skipped, what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.ir.capture import Capture
from gradproof.ir.span import Span

Policy = Callable[[int], bool]
"""Whether the n-th execution (counted from 1) of a gradient call is looked at."""


class Receiver(Protocol):
    """Takes every gradient call that is looked at, right after it returned.

    Reading a call means turning it into programs, which costs time; a receiver that has none left asks for
    the facts alone, and they carry its reason. A call whose sources cannot share one program is read as
    several captures.
    """

    def __call__(self, read: Callable[[], Sequence[Capture]], unread: Callable[[str], Capture]) -> None: ...


@dataclass(frozen=True)
class Skipped:
    """Executions of a gradient call that were not looked at; `nonfinite` of them returned NaN or inf."""

    span: Span
    count: int
    nonfinite: int = 0


@dataclass(frozen=True, eq=False)
class Crash:
    """What is known about the exception that ended the program.

    `captures` are the gradients it was about to compute. They were had by running the program to that call after
    its end, with the change that `mended` names if one was needed; those without a program could not be had.
    """

    diagnostic: Diagnostic | None
    captures: tuple[Capture, ...] = ()
    mended: str = ""


@dataclass(frozen=True)
class Attachment:
    """A frontend that listens. Nothing of it raises into the user's program.

    `tried` and `crashed` run code of the user's and are asked once, when the program has ended: `tried` gives
    the calls whose hand-written rules never ran in the program, with the rules run, and `crashed` explains the
    exception nobody caught. `ended` hands over what waited for the end of the program.
    `remarks` are worth a note of the report, and belong to no gradient. `recount` begins to
    count the executions of every line anew, for a program that consists of parts with a report each, such as
    tests.
    """

    framework: str
    remove: Callable[[], None]
    skipped: Callable[[], list[Skipped]]
    failures: Callable[[], list[str]]
    tried: Callable[[], Sequence[Capture]] = tuple
    crashed: Callable[[BaseException], Crash | None] = lambda error: None
    recount: Callable[[], None] = lambda: None
    ended: Callable[[], None] = lambda: None
    remarks: Callable[[], Sequence[str]] = tuple
