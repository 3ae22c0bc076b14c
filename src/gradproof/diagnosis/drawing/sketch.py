"""What the pictures of a gradient are made from, kept until somebody asks for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.diagnosis.drawing.guilt import guilty_nodes
from gradproof.diagnosis.drawing.modes import Replay
from gradproof.diagnosis.drawing.shorten import significant
from gradproof.diagnosis.drawing.view import Outline, outline_of
from gradproof.diagnosis.figures import Passage
from gradproof.engine.refine import Enclosure
from gradproof.ir.capture import Source
from gradproof.ir.program import Program
from gradproof.ir.surroundings import ModeGap
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict

# A program is kept for its pictures up to this size, about a megabyte; a larger one would take too long to run
# at many points anyway, and of it only an outline is kept.
MOST_NUMBERS, MOST_NODES = 50_000, 2_000
BYTES_PER_NODE = 1_000  # an op with its place and the head of its array, measured
LEAST_SHARE = 1e-4  # of the error; what has less is not seen


@dataclass(frozen=True, eq=False)
class Sketch:
    """One gradient, without the proof of it.

    `program` and `gradient_program` are None where they are too large to be kept; then there is an `outline`.
    `index` is the entry that the pictures are about. `seeks_noise` says that rounding is what there is to see.
    """

    framework: str
    source: Source
    index: tuple[int, ...]
    true: Enclosure | None
    program: Program | None
    gradient_program: Program | None
    names: Mapping[int, str] = field(default_factory=dict)  # the user's, of all sources of the call
    too_large: str = ""
    outline: Outline | None = None
    seeks_noise: bool = False
    is_plain: bool = False  # right, and nothing to say about it
    used_step: float | None = None
    passages: tuple[Passage, ...] = ()
    mode_gaps: tuple[ModeGap, ...] = ()
    replays: Mapping[str, Replay] = field(default_factory=dict)
    guilty: frozenset[int] = frozenset()
    shares: Mapping[int, float] = field(default_factory=dict)

    @property
    def n_bytes(self) -> int:
        """What is kept for the pictures only."""
        program = self.gradient_program or self.program
        if program is None:
            return 0
        return sum(BYTES_PER_NODE + getattr(node.value, "nbytes", 0) for node in program.nodes)


def sketched(case: Case, diagnostics: Sequence[Diagnostic], replays: Mapping[str, Replay]) -> Sketch:
    """Takes from a case what its pictures need, and nothing that would keep a large program alive."""
    capture, program = case.capture, case.program
    is_small = program is None or _size(program) == ""
    is_plain = case.verdict is Verdict.CORRECT and not diagnostics
    names = {source.node: source.name for source in capture.sources if source.node is not None}
    return Sketch(
        framework=capture.framework,
        source=case.source,
        index=_worst(case),
        true=None if case.verdict is Verdict.UNDEFINED else case.true,
        program=capture.program if is_small else None,
        gradient_program=capture.gradient_program if is_small else None,
        names=names,
        too_large="" if program is None else _size(program),
        outline=None if is_small or program is None else shared_outline(program, names),
        seeks_noise=case.verdict is Verdict.INACCURATE or bool(case.irregular.flips),
        is_plain=is_plain,
        used_step=_used_step(diagnostics),
        passages=case.sizes.passages,
        mode_gaps=capture.around.mode_gaps,
        # A custom gradient is a rule that only the user's own function knows; and where nothing is wrong, no mode
        # is worth the time that compiling takes.
        replays={} if capture.rules.scopes or is_plain else replays,
        guilty=guilty_nodes(case, diagnostics),
        shares={
            id: float(significant([share])[0])
            for id, share in case.rounding.budget.items()
            if abs(share) >= LEAST_SHARE
        },
    )


# By program, so that the gradients of one call share them; they go when the program does.
_OUTLINES: WeakKeyDictionary[Program, Outline] = WeakKeyDictionary()
_SIZES: WeakKeyDictionary[Program, str] = WeakKeyDictionary()


def shared_outline(program: Program, names: Mapping[int, str]) -> Outline:
    """The outline of a program, made once; so is the view that comes from it."""
    outline = _OUTLINES.get(program)
    if outline is None:
        outline = _OUTLINES[program] = outline_of(program, names)
    return outline


def _size(program: Program) -> str:
    """Why a program is too large to be kept; empty where it is not."""
    if program not in _SIZES:
        numbers = sum(math.prod(node.shape) for node in program.nodes)
        is_large = numbers > MOST_NUMBERS or len(program.nodes) > MOST_NODES
        large = f"a program of {len(program.nodes):,} ops and {numbers:,} numbers is too large to be run many times"
        _SIZES[program] = large if is_large else ""
    return _SIZES[program]


def _worst(case: Case) -> tuple[int, ...]:
    """The entry where the sides differ, or that is not finite, or that is furthest off; else the largest."""
    judgement, observed, true = case.judgement, case.source.observed, case.true
    shape = case.source.shape
    sides = judgement.one_sided
    if sides is not None and case.verdict is Verdict.UNDEFINED and sides[0].shape == shape:
        return _largest(np.abs(sides[1] - sides[0]))
    if judgement.comparison is not None and judgement.comparison.worst is not None:
        return judgement.comparison.worst
    for array in (observed, None if true is None else true.mid):
        if array is not None and array.shape == shape:
            return _largest(np.abs(array))
    return (0,) * len(shape)


def _largest(sizes: Array) -> tuple[int, ...]:
    if not sizes.size:
        return (0,) * sizes.ndim
    place = np.argmax(np.where(np.isnan(sizes), np.inf, sizes))
    return tuple(int(k) for k in np.unravel_index(place, sizes.shape))


def _used_step(diagnostics: Sequence[Diagnostic]) -> float | None:
    """The step of a finite difference in a hand-written rule, where one was found to blame."""
    for diagnostic in diagnostics:
        if diagnostic.kind == "step-size":
            return next((float(value) for label, value in diagnostic.evidence if label == "step"), None)
    return None
