"""The op at which two ways of running a program part, and a mode that spoils what the same ops have right: as data."""

from __future__ import annotations

from dataclasses import dataclass

from gradproof.ir.span import Span
from gradproof.ir.types import Array


@dataclass(frozen=True)
class Whose:
    """Whose rounding or rewriting made two modes part: a kind, and the sentence for it."""

    kind: str
    text: str


@dataclass(frozen=True, eq=False)
class OpSeen:
    """An op of a run at the entry that matters: `inputs` is what it had there, as text, `other` what it returned.

    `exact` is what it gives in exact arithmetic on these inputs; with `share` it is the op that accounts for that part
    of the gap, or of the error, in the gradient.
    """

    node: int
    op: str
    phase: str
    span: Span | None
    dtype: str
    index: tuple[int, ...]
    inputs: tuple[str, ...]
    exact: str
    other: str
    whose: Whose
    share: float | None

    @property
    def place(self) -> str:
        """Where it stands in the source: "`div` in the derivative of line 7"."""
        if self.span is None:
            return ""
        return (
            f"`{self.op}` in {'the derivative of ' if self.phase == 'backward' else ''}line {self.span.line}"
        )


@dataclass(frozen=True, eq=False)
class Parting(OpSeen):
    """An op that gives one number, `single`, in one run and another in a mode.

    The run is that of the same framework op by op; or, with `beside`, that of the program's own framework.
    """

    single: str
    beside: str = ""


@dataclass(frozen=True, eq=False)
class DigitsLost(OpSeen):
    """The op from which on a run is off: its error, as later ops enlarge it, is most of the gradient's."""


@dataclass(frozen=True, eq=False)
class ModeFault:
    """A gradient that the framework has right when it runs op by op, and not in the mode in which it ran.

    `mode` is that mode in a sentence ("under XLA"), `single` the gradient op by op and `digits` how many of its digits
    are right; `parting` is the op that makes the difference, where it was seen.
    """

    mode: str
    single: Array
    digits: float
    parting: Parting | None
