"""The gradient grows by a steady factor each time it passes a line, until its size is out of hand.

What it finds
    A line that ran many times, as in a loop or a deep stack of equal layers, through which the gradient grew by a
    factor of more than a hundred million in all.

Why it spoils a gradient
    The number is right, and useless: one step along it moves the parameters beyond all bounds, and a few more
    executions of the line overflow.

Example
    for _ in range(40):
        state = weight * state          # weight = 3: the gradient grows as 3**40

Write instead
    state = weight * state / norm(state)    # keep the size in bounds; or clip, or fewer steps

Stays silent when
    the growth is moderate; or
    it does not come from one line that is repeated; or
    the gradient is no longer finite: that is overflow.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._scale import diagnose, growth_of, ran, repeated, step_of
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.occasion import Occasion

MIN_FACTOR = 1e8  # more than the digits of a float32: beside such a step everything else is lost


def find(case: Case) -> Iterator[Diagnostic]:
    growth = growth_of(case)
    if growth is None or growth.factor < MIN_FACTOR:
        return
    step, times = words.significant(growth.per_step, 2), words.significant(growth.factor, 2)
    yield from diagnose(
        case,
        growth,
        "exploding",
        headline=f"the gradient for `{case.source.name}` grows {times} times through {repeated(growth)}",
        label=f"grows {step} times with each of {growth.repeats} {step_of(growth)}s",
        why=(
            f"{ran(growth)} Going backward, each {step_of(growth)} multiplies the gradient by about {step}, "
            f"and the factors multiply to {times}. The gradient is right, but a step along it goes far too far."
        ),
        fix=Fix("normalise the state at each step, clip the gradient, or shorten the loop"),
    )


CAUSE = Cause(name="exploding", find=find, doc=__doc__ or "", on=(Occasion.GROWTH,))
