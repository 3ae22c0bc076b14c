"""Where a gradient is inaccurate because the function rests there: the end of every training.

The terms of the true gradient cancel at a minimum, and what any arithmetic finds is their rounding. Nothing in the
program is to blame for that, and nothing would be gained by more digits: a worthwhile warning, not an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.entries import norm
from gradproof.domains.ball import BallDomain
from gradproof.domains.ieee import Ieee
from gradproof.engine.derive import vjp
from gradproof.engine.refine import entry_count
from gradproof.engine.run import Policy, run
from gradproof.errors import GradproofError
from gradproof.fixes.allowance import cut_short
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict

BITS = 160  # of the runs beside the point for a float64 program; for narrower ones float64 shows enough
MOST_ENTRIES = {53: 2_000_000, BITS: 50_000}  # numbers of a program that is run twice more, by these bits
# As good as the point itself: so many roundings of the sources would move the true gradient by as much as it is off.
ROUNDINGS = 32
REVERSAL = 0.5  # of the change across the point, that the gradient itself may be: then a zero lies in between


def with_rest(case: Case) -> Case:
    """The case, and whether its gradient is nothing but rounding since the function rests where it was asked.

    An error is called harmless only where another formula was looked for, to the end, and none was found.
    """
    was_searched = case.options.fixes and not cut_short()
    if case.verdict is not Verdict.INACCURATE or case.remedy.is_formula or not was_searched:
        return case
    return replace(case, rounding=replace(case.rounding, is_at_rest=_is_at_rest(case)))


def _is_at_rest(case: Case) -> bool:
    """Whether the true gradient turns round so near that the function's own values could not tell the difference.

    Those change by less than a rounding within the square root of one, at a minimum.
    """
    program, enclosure, observed = case.capture.program, case.judgement.enclosure, case.source.observed
    sources = [one for one in case.capture.sources if one.node is not None and types.is_real(one.dtype)]
    if program is None or enclosure is None or observed is None or case.source not in sources:
        return False
    unit = types.unit_roundoff(case.source.dtype)
    rng = np.random.default_rng(0)
    moves = {
        one.node: np.sqrt(unit)
        * np.abs(np.asarray(program[one.node].value, np.float64))
        * _signs(rng, one.shape)
        for one in sources
        if one.node is not None
    }
    bits = 53 if unit > types.unit_roundoff("float64") else BITS
    try:
        if case.source.node is None or entry_count(program) > MOST_ENTRIES[bits]:
            return False
        before, after = (_gradient(program, case.source.node, moves, sign, bits) for sign in (-1.0, 1.0))
    except (GradproofError, ValueError, ArithmeticError):
        return False
    change = norm(after - before) / 2.0
    error = norm(np.asarray(observed, np.float64) - enclosure.mid)
    return norm(after + before) / 2.0 <= REVERSAL * change and error <= ROUNDINGS * np.sqrt(unit) * change


def _signs(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.choice([-1.0, 1.0], shape)


def _gradient(program: Program, wrt: int, moves: Mapping[int, Array], sign: float, bits: int) -> Array:
    domain = Ieee("float64") if bits == 53 else BallDomain(bits)
    with domain.active():
        beside = {
            id: domain.enter(np.asarray(program[id].value, np.float64) + sign * move)
            for id, move in moves.items()
        }
        result = run(domain, program, Policy(inputs=beside))
        (gradient,) = vjp(result, [result.m.literal(np.ones(program[program.outputs[0]].shape))], [wrt])
        mid: Array = domain.leave(gradient)[0]
    return mid
