"""What a report shows as pictures: slices, step curves, sizes along a loop, modes, the program itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradproof.ir.program import Phase
from gradproof.ir.span import Span
from gradproof.ir.types import Array


@dataclass(frozen=True, eq=False)
class Slice:
    """The target and its slope along the line `point + t * direction`, proven and as floating point computes them.

    The five arrays have one entry per `t`, ascending, 0 among them; NaN where there is no value.
    `direction` says in words where the line leads, `computed_by` what computed the floating-point curves.
    """

    direction: str
    computed_by: str
    t: Array
    proven_value: Array
    proven_slope: Array
    computed_value: Array
    computed_slope: Array


@dataclass(frozen=True, eq=False)
class StepCurve:
    """The relative error of a central difference against its step, along one direction.

    `usable` is the range of steps that is good to `usable_to`; None where no step is. `used` is the step that the
    user's own check took, if there was one.
    """

    direction: str
    steps: Array
    errors: Array
    usable: tuple[float, float] | None = None
    usable_to: float = 0.0
    used: float | None = None


@dataclass(frozen=True, eq=False)
class Passage:
    """The size of the gradient at every execution of a line that runs many times, the first execution first."""

    span: Span
    op: str
    sizes: tuple[float, ...]
    inside: bool = False  # of one execution: layers or time steps of a model


@dataclass(frozen=True)
class ModeRow:
    """What one way of running the same program returned for the worst entry, and how many of its digits are right."""

    mode: str
    dtype: str
    value: str
    digits: float | None = None


@dataclass(frozen=True)
class NodeView:
    """A node as a reader sees it: `value` is a number, or the range and the count of non-finite entries."""

    id: int
    op: str
    inputs: tuple[int, ...]
    dtype: str
    shape: tuple[int, ...]
    phase: Phase
    value: str
    span: Span | None = None
    name: str = ""


@dataclass(frozen=True, eq=False)
class ProgramView:
    """The captured program in the order it ran; `omitted` nodes were left out of the middle for their number."""

    nodes: tuple[NodeView, ...]
    omitted: int = 0


@dataclass(frozen=True, eq=False)
class Figures:
    """The pictures of one gradient. Gradients of one call share their `program`, the same object.

    `guilty` are the nodes on the way from the fault to the gradient, `shares` each node's part in its error.
    `lacking` says for each picture that could not be made why not.
    """

    slice: Slice | None = None
    steps: StepCurve | None = None
    passages: tuple[Passage, ...] = ()
    modes: tuple[ModeRow, ...] = ()
    program: ProgramView | None = None
    guilty: frozenset[int] = frozenset()
    shares: dict[int, float] = field(default_factory=dict)
    lacking: dict[str, str] = field(default_factory=dict)
