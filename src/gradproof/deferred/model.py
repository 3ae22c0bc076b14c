"""What the files of a deferred check hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gradproof.audit.crash import ProgramEnd
from gradproof.audit.facts import Heard
from gradproof.audit.settings import Settings
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.report import GradientReport, Script
from gradproof.ir.capture import Capture
from gradproof.options import Options


@dataclass(frozen=True)
class Begun:
    """How a process began: what it was asked for, in which folder, and which of several ranks it is."""

    version: str
    folder: str
    options: Options = field(default_factory=Options)
    settings: Settings = field(default_factory=Settings)
    rank: int | None = None


@dataclass(frozen=True)
class KeptCall:
    """One gradient call: its captures, or the reports of one that only the process itself could judge.

    `are_tried`: a second look, after the program's end, at calls that were kept before.
    """

    captures: tuple[Capture, ...] = ()
    reports: tuple[GradientReport, ...] = ()
    are_tried: bool = False


@dataclass(frozen=True)
class Text:
    """A file of the user's as it was when it ran."""

    file: str
    text: str


@dataclass(frozen=True)
class Ended:
    """How a process ended: what it knows beside its gradients, and what crashed; `seconds` are the program's own.

    `withheld` was not run again after the program's end.
    `declared` are the functions that were declared to be as they are on purpose: files, first and last lines.
    """

    heard: Heard
    script: Script | None = None
    ending: ProgramEnd | None = None
    crash: Diagnostic | None = None
    seconds: float = 0.0
    withheld: tuple[str, ...] = ()
    declared: frozenset[tuple[str, int, int]] = frozenset()


@dataclass(frozen=True)
class JudgedPiece:
    """What became of a piece of a capture, until all of them are there: reports by their places.

    None where a quick look at the piece did not do.
    """

    reports: Mapping[int, tuple[GradientReport, ...]] | None
    seconds: float = 0.0


@dataclass(frozen=True)
class Judged:
    """What became of one capture. `key` says what was judged, and how: another capture has another one."""

    key: str
    reports: tuple[GradientReport, ...]
    faults: tuple[str, ...] = ()
    seconds: float = 0.0
