"""What was noticed around a gradient call: state, random numbers, numbers that left and came back, other modes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gradproof.ir.program import Program
from gradproof.ir.span import Span
from gradproof.ir.types import Array


@dataclass(frozen=True)
class Cut:
    """Numbers that left the framework in one place and came back in another, as a constant.

    `node` stands for that constant in the program in which the cut is undone.
    """

    how: str
    left: Span | None
    back: Span | None
    node: int


@dataclass(frozen=True)
class LostPart:
    """A part of the target that counts as constant though it was computed from sources, as far as can be told.

    `kind` is "outside-tape", "stored" (in a variable, by the op `how`), "disguised" (as text or bits, by the op `how`)
    or "left-framework"; `left` is where it was computed, `back` where it is used.
    """

    kind: str
    how: str
    left: Span | None
    back: Span | None
    sources: frozenset[str]


@dataclass(frozen=True)
class Uncut:
    """The program as it would be with the cuts undone, and where in it the sources of the capture are."""

    program: Program
    nodes: tuple[int | None, ...]
    cuts: tuple[Cut, ...]


@dataclass(frozen=True)
class OpenRecord:
    """A tape that stays open while it is asked again and again: where it was opened, and how many ops it held."""

    entered: Span | None
    held: tuple[int, ...]


@dataclass(frozen=True)
class KeptGraphs:
    """What a program keeps in a name, or a list: tensors with the graphs of earlier executions of a gradient call."""

    name: str
    span: Span | None  # where something is put into it
    executions: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Differences:
    """What a check of the program's own got for a gradient by finite differences, with which step, by its name.

    With `along`, a direction for every source, it is the slope of the target in that direction. `is_failed` says that
    the check was not content; without it nobody knows.
    """

    step: float
    name: str
    values: Array
    along: tuple[Array, ...] = ()
    is_failed: bool = False


@dataclass(frozen=True)
class Drawn:
    """Random numbers that were drawn while the target was computed, and that it was computed from.

    `is_sample`: they are a sample of a distribution whose parameters were computed from the sources.
    """

    op: str
    span: Span
    is_sample: bool = False


@dataclass(frozen=True)
class Baked:
    """A Python value that a traced function has read once: what it was then and what it is now, as text.

    For a variable that was passed in the place of another one `before` is empty: the trace does not tell them apart.
    With `is_drawn` the name is that of a generator which random numbers were drawn from while the function was traced.
    """

    function: str
    name: str
    before: str
    now: str
    span: Span | None = None
    is_drawn: bool = False


@dataclass(frozen=True)
class ModeGap:
    """A number that a function returned in its own mode, and the one its ops give when they run one by one."""

    function: str
    mode: str
    compiled: str
    single: str
    span: Span | None = None


@dataclass(frozen=True, eq=False)
class Spoilt:
    """A gradient that came back with NaN or infinite entries: for what, and which entries they are."""

    name: str
    entries: Array

    def explains(self, name: str | None, value: Array) -> bool:
        """Whether an update with it shows in a value: in the same name, if it has one, and in all of these entries."""
        is_same = value.shape == self.entries.shape and name in (None, self.name)
        return is_same and not np.isfinite(value[self.entries]).any()


@dataclass(frozen=True)
class History:
    """Earlier executions of the same gradient call: one whose target this one contains (0: none), and their sizes.

    `sizes` pairs the number of an execution with the number of ops its target was computed from. `spoilt` are
    gradients of any call that came back NaN or infinite before: what they updated has such numbers too.
    """

    contains: int = 0
    sizes: tuple[tuple[int, int], ...] = ()
    spoilt: tuple[Spoilt, ...] = ()

    @property
    def grows(self) -> bool:
        """By about the same number of ops with every step, seen at three executions, and at least doubled by now."""
        if len(self.sizes) < 3:
            return False
        (first, least), *later = self.sizes
        slopes = [(size - least) / (occurrence - first) for occurrence, size in later]
        return min(slopes) >= 1.0 and max(slopes) <= 2.0 * min(slopes) and later[-1][1] >= 2 * least


@dataclass(frozen=True)
class Surroundings:
    """What else was noticed while the target was computed: state, numbers that left, checks of the program's own."""

    drawn: tuple[Drawn, ...] = ()
    baked: tuple[Baked, ...] = ()
    mode_gaps: tuple[ModeGap, ...] = ()
    history: History | None = None
    open_tape: OpenRecord | None = None
    kept: KeptGraphs | None = None
    differences: Differences | None = None
    uncut: Uncut | None = None  # where a part of the target left the framework and came back
    lost: tuple[LostPart, ...] = ()
