"""Proven gradients that no float64 holds: their size, entry by entry."""

from __future__ import annotations

from gradproof.diagnosis.exact_entry import measured
from gradproof.ir.program import Program
from gradproof.judge.float64_limits import in_balls
from gradproof.judge.judge import Judgement
from gradproof.judge.undefined import TOO_LARGE


def beyond_float64(program: Program, wrt: int, judgement: Judgement) -> dict[tuple[int, ...], str]:
    """By index: the entries that are numbers, and too large for a float64."""
    if judgement.reason != TOO_LARGE:
        return {}
    balls = in_balls(program, wrt)
    places = (tuple(int(k) for k in index) for index in zip(*balls.nonzero())) if balls.ndim else ((),)
    sizes = {index: measured(balls[index]) for index in places}
    return {index: one.words for index, one in sizes.items() if one is not None and one.is_beyond("float64")}
