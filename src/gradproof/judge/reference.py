"""The reference: the true gradient as far as it can be known, at ordinary points, at ties and at singular points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from gradproof.domains.ball import BallDomain
from gradproof.engine.decisions import Sides, sides
from gradproof.engine.derive import vjp
from gradproof.engine.hidden_infinities import absorbed
from gradproof.engine.limits import Limit, limit_gradient
from gradproof.engine.margins import Decision, margins
from gradproof.engine.refine import (
    FIRST_ARB_BITS,
    Enclosure,
    Refined,
    arb_domain,
    entry_count,
)
from gradproof.engine.run import Policy, Run, run
from gradproof.errors import GradproofError
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.judge.climb import Climb, comparisons
from gradproof.judge.compare import Comparison
from gradproof.judge.exact_zeros import ExactZeros
from gradproof.judge.without_value import op_without_value
from gradproof.options import Options

Oracle = Literal["ball", "limit", "differences", "float64", "none"]

# Up to this many numbers in a program the second rung takes well under a second, so that a limit can be tried.
CHEAP_ENTRIES = 20_000
PRECISE_BITS = 256  # tells any two numbers of a float64 program apart, short of a tie
_BALL: Oracle = "ball"


@dataclass(frozen=True)
class Evidence:
    """What the judge needs: the program, what was observed, and, where the framework's own ran, its gradient program.

    `program` computes a scalar; `wrt` are the nodes it was differentiated for; `observed` the gradients returned,
    None where there was none. `gradient_program` has the backward ops that really ran; `recorded` are its nodes
    that hold the observed gradients.
    """

    program: Program
    wrt: tuple[int, ...]
    observed: tuple[Array | None, ...]
    recorded: tuple[int | None, ...] = ()
    gradient_program: Program | None = None

    @cached_property
    def op_without_value(self) -> str | None:
        """The op by which the function has no value at this point; looked for once for all gradients."""
        return op_without_value(self.program)


@dataclass(frozen=True)
class Reference:
    """Enclosures of the true gradients and how the observed ones compare, with what was learnt on the way.

    `oracles` says per gradient where its enclosure comes from: balls at the point, or the limit of balls nearby.
    `beside` is the run with the ties settled as they are on one of the sides, where the sides agree.
    """

    enclosures: tuple[Enclosure, ...]
    oracles: tuple[Oracle, ...]
    comparisons: tuple[Comparison | None, ...]
    refined: Refined
    decisions: tuple[Decision, ...]
    sides: Sides | None
    limit: Limit | None
    beside: Run | None = None

    @property
    def run(self) -> Run:
        return self.refined.run


def find_reference(evidence: Evidence, options: Options) -> Reference:
    """Climb until every observed gradient is decided; look at the sides of ties, and for limits at singular points."""
    zeros = ExactZeros(evidence.program, evidence.wrt)
    refined, found_out = Climb(evidence.program, evidence.wrt, evidence.observed, zeros, options).climb()
    decided = tuple(margins(refined.run))
    found = _at_ties(evidence, refined, decided, options)
    enclosures, at = refined.enclosures, refined.run
    at_tie = found is not None and bool(found.ties)
    if found is not None and found.fact == "agree" and found.decisions:
        enclosures, at = _beside(evidence, zeros, refined.run, found.decisions)
        open = any(one.outcome == "undecided" for one in _compared(evidence, enclosures, at, options) if one)
        if open and _is_cheap(evidence.program):
            precise = run(_precise(options), evidence.program)
            enclosures, at = _beside(evidence, zeros, precise, found.decisions)
    elif found is not None and _is_steep(evidence.program, found, decided, options):
        found = replace(found, fact="agree")
        if found.decisions:
            at = _beside(evidence, zeros, refined.run, found.decisions)[1]
        enclosures = tuple(Enclosure(one.mid, np.full(one.rad.shape, np.inf)) for one in enclosures)
    enclosures = _without_hidden(evidence, at, enclosures)
    oracles: tuple[Oracle, ...] = tuple(_BALL for _ in enclosures)
    limit = None
    if not all(enclosure.is_bounded for enclosure in enclosures) and _is_cheap(evidence.program):
        limit, enclosures, oracles = _with_limits(evidence, enclosures, at_tie)
    if enclosures is not refined.enclosures:
        found_out = _compared(evidence, enclosures, refined.run, options)
    beside = None if at is refined.run else at
    return Reference(enclosures, oracles, tuple(found_out), refined, decided, found, limit, beside)


def _is_steep(program: Program, found: Sides, decided: Sequence[Decision], options: Options) -> bool:
    """Whether sure ties could not be told because of what is beside them: only points nearby can answer then."""
    if found.fact != "cannot tell" or not found.ties or not _is_cheap(program):
        return False
    if _is_unclear(found, decided):  # products and sums of few digits are exact only with more of them
        decided = tuple(margins(run(_precise(options), program)))
    return not _is_unclear(found, decided)


def _is_unclear(found: Sides, decided: Sequence[Decision]) -> bool:
    return any(bool(one.is_unclear.any()) for one in decided if one.node in found.ties)


def _without_hidden(
    evidence: Evidence, result: Run, enclosures: tuple[Enclosure, ...]
) -> tuple[Enclosure, ...]:
    """Nothing is known of an entry whose chain rule has a zero times an unbounded slope."""
    masks = absorbed(result, evidence.wrt)
    if not masks:
        return enclosures
    return tuple(
        replace(one, rad=np.where(masks[id], np.inf, one.rad)) if id in masks else one
        for id, one in zip(evidence.wrt, enclosures)
    )


def _compared(
    evidence: Evidence, enclosures: Sequence[Enclosure], result: Run, options: Options
) -> list[Comparison | None]:
    return comparisons(evidence.wrt, evidence.observed, enclosures, result, options)


def _is_cheap(program: Program) -> bool:
    return entry_count(program) <= CHEAP_ENTRIES


def _at_ties(
    evidence: Evidence, refined: Refined, decided: Sequence[Decision], options: Options
) -> Sides | None:
    if not any(bool((decision.ties | decision.is_unclear).any()) for decision in decided if decision.moves):
        return None
    domain = refined.run.m.domain
    if (
        refined.precision_bits > FIRST_ARB_BITS
    ):  # for the sake of a gradient that is zero; ties need no such care
        domain = arb_domain(evidence.program, FIRST_ARB_BITS)
    found = sides(evidence.program, domain, evidence.wrt)
    if found.fact == "cannot tell" and refined.precision_bits > FIRST_ARB_BITS:
        found = sides(evidence.program, refined.run.m.domain, evidence.wrt)
    if found.fact != "cannot tell" or refined.precision_bits > 53 or not _is_cheap(evidence.program):
        return found
    return sides(evidence.program, _precise(options), evidence.wrt)


def _precise(options: Options) -> BallDomain:
    return BallDomain(min(PRECISE_BITS, options.precision_cap_bits))


def _beside(
    evidence: Evidence, zeros: ExactZeros, result: Run, decisions: Mapping[int, Array]
) -> tuple[tuple[Enclosure, ...], Run]:
    """The gradient just beside a tie whose sides agree, and the run that it is the gradient of."""
    beside = run(result.m, evidence.program, Policy(decisions=decisions))
    gradients = vjp(beside, [beside.m.literal(np.ones(()))], evidence.wrt)
    with beside.m.domain.active():
        enclosures = [Enclosure(*beside.m.domain.leave(gradient)) for gradient in gradients]
    return zeros.put(enclosures), beside


def _with_limits(
    evidence: Evidence, enclosures: tuple[Enclosure, ...], at_tie: bool
) -> tuple[Limit | None, tuple[Enclosure, ...], tuple[Oracle, ...]]:
    """Entries without a bound replaced by the limit of the gradients nearby, where there is one."""
    balls: tuple[Oracle, ...] = tuple(_BALL for _ in enclosures)
    try:
        limit = limit_gradient(evidence.program, evidence.wrt, at_tie=at_tie)
    except GradproofError:
        return None, enclosures, balls
    mended = tuple(
        at if at.is_bounded else _filled(at, near) for at, near in zip(enclosures, limit.enclosures)
    )
    oracles: tuple[Oracle, ...] = tuple(
        "ball" if at.is_bounded else "limit" if new.is_bounded else "none"
        for at, new in zip(enclosures, mended)
    )
    return limit, mended, oracles


def _filled(at: Enclosure, near: Enclosure) -> Enclosure:
    unknown = ~np.isfinite(at.rad)
    return replace(at, mid=np.where(unknown, near.mid, at.mid), rad=np.where(unknown, near.rad, at.rad))
