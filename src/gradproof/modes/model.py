"""What is known when one gradient was run in many modes: as data, free of any framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.parting import OpSeen, Parting
from gradproof.engine.refine import Enclosure
from gradproof.ir.span import Span
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict
from gradproof.modes.feed import Feed
from gradproof.modes.graph import GraphOp

PRECISIONS = ("float64", "float32", "bfloat16", "float16")


class NotRun(Exception):
    """A mode cannot run this program; the message is the reason, as a clause."""


@dataclass(frozen=True)
class Mode:
    """One way that a framework has of running a program.

    `values` computes the nodes that are asked for, each as the mode computes it; `gradient` the target and its
    gradients by the framework's own differentiation. Both raise `NotRun`. `runs_as` is the word by which captures
    call this mode, `is_single` says that every op is rounded by itself. `rethreaded` is the mode with another number of
    threads.
    """

    framework: str
    name: str
    values: Callable[[Feed, Sequence[int]], list[Array]]
    gradient: Callable[[Feed, int, Sequence[int]], tuple[Array, list[Array | None]]]
    runs_as: str = ""
    is_single: bool = False
    policy: str | None = None  # the dtype that the mode itself computes in, whatever the program's is
    precisions: tuple[str, ...] = PRECISIONS
    title: str = ""  # in sentences: "XLA", "a graph"
    is_slow: bool = False  # it takes seconds where others take a moment, and comes last
    rethreaded: Mode | None = None
    is_apart: bool = False  # it runs in a process of its own, which has to start first
    begin: Callable[[], None] | None = None  # starts what it needs besides, so that it need not be waited for

    @property
    def words(self) -> str:
        return self.title or self.name


@dataclass(frozen=True)
class LackingMode:
    """A mode that was not run, and why."""

    framework: str
    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class ModeCell:
    """One gradient in one mode."""

    gradient: Array | None
    verdict: Verdict
    digits: float | None = None
    gap_ulps: float | None = None  # the largest distance to what the user's own run returned
    worst: tuple[int, ...] | None = None
    partings: tuple[Parting, ...] = ()  # from the run it is held against: the first, and the decisive one
    lost: OpSeen | None = None  # from which op on it is off

    @property
    def ops(self) -> tuple[OpSeen, ...]:
        """Those that are told, each once."""
        told = () if self.lost is None or self.lost in self.partings else (self.lost,)
        return (*self.partings, *told)


@dataclass(frozen=True, eq=False)
class ModeLine:
    """All gradients of a call in one mode and one precision."""

    framework: str
    mode: str
    dtype: str
    value: Array
    cells: tuple[ModeCell, ...]
    is_own: bool = False
    repeats: bool | None = None  # whether it returns the same bits when it is run again
    rethreads: bool | None = None  # and with another number of threads
    title: str = ""
    policy: str | None = None  # the dtype that the mode itself computes in

    @property
    def counts(self) -> str:
        """The dtype whose digits can be asked for."""
        return self.policy or self.dtype

    @property
    def verdict(self) -> Verdict:
        return max((cell.verdict for cell in self.cells), key=lambda one: one.severity)


@dataclass(frozen=True, eq=False)
class ModeSource:
    """What was differentiated for: its name, what the user's run returned, and the proven gradient."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    observed: Array | None
    true: Enclosure | None
    reason: str | None = None  # why there is no proven gradient
    beyond: Mapping[tuple[int, ...], str] = field(
        default_factory=dict
    )  # proven entries that no float64 holds


@dataclass(frozen=True)
class ModesVerdict:
    """What the table says: `kind` is "agree", "inaccurate", "wrong" or "unverified"; all advice was run.

    `advice` names modes that give the digits back, `rewriting` another way of writing the function that does.
    """

    kind: str
    verdict: str
    advice: tuple[str, ...] = ()
    rewriting: Fix | None = None


@dataclass(frozen=True, eq=False)
class CallModes:
    """One gradient call in every mode."""

    call: Span
    framework: str
    mode: str
    target: str
    dtype: str
    sources: tuple[ModeSource, ...]
    lines: tuple[ModeLine, ...]
    lacking: tuple[LackingMode, ...]
    conclusion: ModesVerdict
    notes: tuple[str, ...] = ()
    occurrence: int = 1
    graph: tuple[GraphOp, ...] = ()  # the ops around those at which modes part

    @property
    def has_fault(self) -> bool:
        """Whether a mode of the program's own framework is off in the program's own precision."""
        own = (one for one in self.lines if one.framework == self.framework and one.dtype == self.dtype)
        return any(one.verdict.is_fault for one in own if one.policy is None)


@dataclass(frozen=True, eq=False)
class ModesReport:
    """What `compare` found; `sources` maps a file to its text."""

    calls: tuple[CallModes, ...]
    version: str = ""
    frameworks: Mapping[str, str] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        # The renderers stand above this layer; as in a report, what is printed fetches its words when it is asked.
        from gradproof.render.modes_text import to_modes_text

        return to_modes_text(self)

    def _repr_html_(self) -> str:
        """What a notebook shows, by the name that notebooks ask for."""
        from gradproof.render.modes_html import to_modes_fragment

        return to_modes_fragment(self)

    def _repr_pretty_(self, printer: Any, is_cycle: bool) -> None:
        del is_cycle
        printer.text(str(self).rstrip("\n"))
