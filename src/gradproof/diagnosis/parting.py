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
class Parting:
    """An op that gives one number op by op and another in a mode, on inputs that are the same in both.

    `index` is the entry where they differ most; `inputs` what the op had there, as text; `exact` what it gives in
    exact arithmetic. With `share` it is the op that accounts for that part of the gap in the gradient.
    """

    node: int
    op: str
    phase: str
    span: Span | None
    dtype: str
    index: tuple[int, ...]
    inputs: tuple[str, ...]
    exact: str
    single: str
    other: str
    whose: Whose
    share: float | None = None


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
