"""The mode table: what other ways of running the same program return for the worst entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.drawing.line import FAILURES
from gradproof.diagnosis.entries import digits_possible, entry_digits
from gradproof.diagnosis.figures import ModeRow
from gradproof.domains.ieee import Ieee
from gradproof.engine.refine import Enclosure
from gradproof.engine.run import Policy, run
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.surroundings import ModeGap
from gradproof.ir.types import Array

Replay = Callable[[Program, int], Array | None]  # runs a forward program, returns its gradient for a node

PRECISIONS = ("bfloat16", "float16", "float32", "float64")
_REDECIDED = Policy(redecide=True)
_GAP_MODES = {"xla": "XLA", "graph": "a graph", "parts": "compiled code"}


@dataclass(frozen=True, eq=False)
class ModeEntry:
    """The entry that the table is about, and the whole gradient it is measured against."""

    index: tuple[int, ...]
    shape: tuple[int, ...]
    true: Enclosure | None

    def row(self, mode: str, gradient: Array, dtype: str | None = None) -> ModeRow | None:
        """What a run returned; None where it has another shape, and nothing can be compared."""
        gradient = np.asarray(gradient)
        if gradient.shape != self.shape:
            return None
        dtype = dtype or types.dtype_name(gradient)
        value = words.number(gradient[self.index].item(), dtype=dtype)
        return ModeRow(mode, dtype, value, self._digits(gradient, dtype))

    def _digits(self, gradient: Array, dtype: str) -> float | None:
        possible = digits_possible(dtype)
        if self.true is None or possible is None:
            return None
        wide = np.complex128 if np.iscomplexobj(gradient) else np.float64
        digits = entry_digits(gradient.astype(wide), self.true.mid, self.true.rad, possible)[self.index]
        return float(digits) + 0.0 if np.isfinite(digits) else None  # no digits, and not minus none

    def proven(self) -> Iterator[ModeRow]:
        if self.true is not None and np.isfinite(self.true.rad[self.index]):
            value = words.number(self.true.mid[self.index].item(), float(self.true.rad[self.index]))
            yield ModeRow("proven", "real numbers", value)


def in_other_precisions(entry: ModeEntry, program: Program, recorded: int, dtype: str) -> Iterator[ModeRow]:
    """The recorded ops, run again by NumPy as they were recorded and in one precision throughout."""
    for precision in (None, *PRECISIONS):
        if precision == dtype and _is_all_in(program, dtype):
            continue  # the first of them already
        try:
            gradient = run(Ieee(precision), program, _REDECIDED).values[recorded]
        except FAILURES:
            continue
        row = entry.row("the recorded ops, by NumPy", gradient, precision)
        if row is not None:
            yield row


def _is_all_in(program: Program, dtype: str) -> bool:
    return all(node.dtype == dtype for node in program.nodes if types.is_real(node.dtype))


def in_other_modes(
    entry: ModeEntry, program: Program, source: int, replays: Mapping[str, Replay]
) -> Iterator[ModeRow]:
    """The forward ops, given to the framework again in each of its modes."""
    for mode, replay in replays.items():
        gradient = replay(program, source)
        row = None if gradient is None else entry.row(mode, gradient)
        if row is not None:
            yield row


def observed_gaps(gaps: Sequence[ModeGap]) -> Iterator[ModeRow]:
    """What functions of the user returned in the mode they ran in, and op by op."""
    for gap in gaps:
        yield ModeRow(f"`{gap.function}` in {_GAP_MODES.get(gap.mode, gap.mode)}", "", gap.compiled)
        yield ModeRow(f"`{gap.function}` op by op", "", gap.single)
