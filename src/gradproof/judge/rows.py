"""All rows of a Jacobian at once, where each of them is right: one run of the program serves them all.

Nothing but `correct` is found here, at an ordinary point of a program whose every op has an exact meaning. Whatever
else a row may be, it has to be looked at alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gradproof.domains.ball64 import BallDomain64
from gradproof.engine.hidden_infinities import unbounded_slopes
from gradproof.engine.many import pull_back_rows
from gradproof.engine.margins import Decision, margins
from gradproof.engine.refine import Enclosure, Refined, entry_count, has_value, refine
from gradproof.engine.run import Run
from gradproof.errors import GradproofError
from gradproof.ir import types
from gradproof.ir.program import Program, prune
from gradproof.ir.types import Array
from gradproof.judge.climb import SHARP_ENTRIES, is_large, is_sharp
from gradproof.judge.compare import Comparison, compare
from gradproof.judge.judge import Judgement
from gradproof.judge.kinds import untested
from gradproof.judge.reference import Oracle, Reference
from gradproof.judge.slope_witness import contradicts_rows
from gradproof.judge.verdict import Verdict
from gradproof.options import Options

AT_A_TIME = 200_000  # numbers that are pulled back together: they stay in the cache, and memory stays bounded


@dataclass(frozen=True)
class RowsEvidence:
    """A program whose output has an entry per row, and per source one observed gradient for every row."""

    program: Program
    wrt: tuple[int, ...]
    observed: tuple[Array, ...]

    @property
    def count(self) -> int:
        return len(self.observed[0])

    @property
    def target(self) -> int:
        return self.program.outputs[0]


def judge_rows(
    program: Program, target: int, wrt: Sequence[int], observed: Sequence[Array], options: Options
) -> list[tuple[Judgement, ...]] | None:
    """The judgements of every row, all of them `correct`; None where a row needs a look of its own."""
    evidence = RowsEvidence(prune(program, [target]), tuple(wrt), tuple(observed))
    if not _is_plain(evidence) or is_large(evidence.program):
        return None
    climb = _Climb(evidence, options)
    try:
        refined = refine(evidence.program, climb.measure, climb.is_decided, options)
        decisions = tuple(margins(refined.run))
        if not refined.decided or unbounded_slopes(refined.run, wrt):
            return None
        if any(bool((one.ties | one.is_unclear).any()) for one in decisions if one.moves):
            return None
        if contradicts_rows(evidence.program, evidence.wrt, climb.whole, refined.run, options):
            return None
    except (GradproofError, _NotRight):
        return None
    return [_judgements(*climb.found[row], refined, decisions) for row in range(evidence.count)]


def _judgements(
    enclosures: tuple[Enclosure, ...],
    comparisons: tuple[Comparison, ...],
    refined: Refined,
    decisions: tuple[Decision, ...],
) -> tuple[Judgement, ...]:
    balls: tuple[Oracle, ...] = tuple("ball" for _ in enclosures)
    reference = Reference(enclosures, balls, comparisons, refined, decisions, None, None)
    return tuple(
        Judgement(Verdict.CORRECT, "ball", None, own, compared, reference)
        for own, compared in zip(enclosures, comparisons)
    )


def _is_plain(evidence: RowsEvidence) -> bool:
    """Whether every node has a meaning and a finite real value."""
    program = evidence.program
    if untested(program) is not None or any(node.is_opaque for node in program.nodes):
        return False
    return all(np.isfinite(one).all() for one in evidence.observed) and all(
        node.is_discrete or (types.is_real(node.dtype) and bool(np.isfinite(node.value).all()))
        for node in program.nodes
        if node.dtype != types.TUPLE
    )


class _NotRight(Exception):
    """A row that may not be right: the climb is over."""


@dataclass
class _Climb:
    """Each row keeps the enclosures of the first rung that decides it, as it would alone."""

    evidence: RowsEvidence
    options: Options
    found: dict[int, tuple[tuple[Enclosure, ...], tuple[Comparison, ...]]] = field(default_factory=dict)
    whole: tuple[Enclosure, ...] = ()

    def measure(self, result: Run) -> list[object]:
        evidence = self.evidence
        shape = evidence.program[evidence.target].shape
        units = np.eye(evidence.count).reshape(evidence.count, *shape) * (
            1.0 if has_value(result) else np.nan
        )
        step = max(1, AT_A_TIME // max(1, entry_count(evidence.program)))
        return [
            part
            for start in range(0, evidence.count, step)
            for part in pull_back_rows(result, evidence.target, units[start : start + step], evidence.wrt)
        ]

    def is_decided(self, parts: tuple[Enclosure, ...], result: Run) -> bool:
        n = len(self.evidence.wrt)
        self.whole = tuple(
            Enclosure(
                *(np.concatenate([getattr(one, side) for one in parts[k::n]]) for side in ("mid", "rad"))
            )
            for k in range(n)
        )
        if not all(one.is_bounded for one in self.whole):
            if isinstance(result.m.domain, BallDomain64):
                return False
            raise _NotRight  # what more digits give no bound may be singular
        # The second rung takes milliseconds for each of the rows.
        sharp_wanted = entry_count(self.evidence.program) * self.evidence.count <= SHARP_ENTRIES
        for row in range(self.evidence.count):
            if row not in self.found:
                self._look_at(row, sharp_wanted)
        return len(self.found) == self.evidence.count

    def _look_at(self, row: int, sharp_wanted: bool) -> None:
        own = tuple(Enclosure(one.mid[row], one.rad[row]) for one in self.whole)
        if sharp_wanted and not all(map(is_sharp, own)):
            return
        compared = tuple(
            compare(observed[row], one, types.dtype_name(observed), self.options)
            for observed, one in zip(self.evidence.observed, own)
        )
        if any(one.outcome not in ("within", "undecided") for one in compared):
            raise _NotRight
        if all(one.outcome == "within" for one in compared):
            self.found[row] = own, compared
