"""Sums of gradients stand where the paths that they come from meet, and nowhere else."""

from __future__ import annotations

import numpy as np

from gradproof.ir.capture import Capture, Pullback, RuleRuns
from gradproof.ir.meeting import with_sums_placed
from gradproof.ir.program import Builder
from gradproof.ir.span import Span

CALL = Span("script.py", 9)


def at(line: int) -> Span:
    return Span("script.py", line)


def forked(known: bool = True) -> tuple[Capture, int]:
    """`u = exp(x)` on line 2, `v = sin(x)` on line 3, `y = u - v` on line 4, differentiated on line 9."""
    make = Builder()
    one = np.float32(1.0)
    x = make.input(one, "x", at(1))
    u = make.add("exp", x, value=one, span=at(2))
    again = make.add("identity", x, value=one, span=at(3))  # as a variable that is read once more
    v = make.add("sin", again, value=one, span=at(3))
    y = make.add("sub", u, v, value=one, span=at(4))
    seed = make.constant(one, at(9), phase="backward")
    minus = make.add("neg", seed, value=one, span=at(4), phase="backward")
    first = make.add("mul", seed, u, value=one, span=at(2), phase="backward")
    second = make.add("mul", minus, v, value=one, span=at(3), phase="backward")
    total = make.add("add", first, second, value=one, span=CALL, phase="backward")
    rules = (
        Pullback("Sub", (u, v), (y,), (seed,), (seed, minus)),
        Pullback("Exp", (x,), (u,), (seed,), (first,)),
        *((Pullback("Sin", (again,), (v,), (minus,), (second,)),) if known else ()),
    )
    program = make.build([y, total])
    return Capture("numpy", CALL, "y", (), None, program, RuleRuns(rules)), total


def test_a_sum_stands_where_both_uses_meet():
    capture, total = forked()
    placed = with_sums_placed(capture).gradient_program
    assert placed is not None and placed[total].span == at(4)


def test_only_the_sum_is_moved():
    capture, total = forked()
    placed, before = with_sums_placed(capture).gradient_program, capture.gradient_program
    assert placed is not None and before is not None
    assert [n for n in placed.nodes if n.id != total] == [n for n in before.nodes if n.id != total]


def test_a_summand_of_unknown_origin_leaves_the_sum_at_the_call():
    capture, total = forked(known=False)
    placed = with_sums_placed(capture).gradient_program
    assert placed is not None and placed[total].span == CALL
