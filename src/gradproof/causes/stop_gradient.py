"""`stop_gradient` makes a value a constant, here or inside a library, and a gradient is lost or incomplete by it.

What it finds
    A gradient of None because everything that leads from the source to the target passes through `stop_gradient`; and
    a second derivative that lacks terms because a function of the library cuts a way on purpose. One that first
    derivatives do not feel, and the second does, is the library's fault and named framework-rule.

Why it spoils a gradient
    What is behind `stop_gradient` counts as a constant. That is right where it is meant, as for the target of
    temporal-difference learning. In a second derivative the constant's own change is missing.

Example
    target = tf.stop_gradient(reward + value(next_state))
    grad = tape.gradient(target, weights)      # None: only a constant is left of the weights

Write instead
    grad = tape.gradient((value(state) - target) ** 2, weights)      # what comes after it has a way left open

Stays silent when
    another path still leads from the source to the target: then the gradient is that of the path left open; or
    the `stop_gradient` stands in the user's own line, who has chosen it.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._missing import broken, diagnose, lacks
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion


def find(case: Case) -> Iterator[Diagnostic]:
    missing = broken(case, "stop-gradient")
    if missing is not None:
        name, target = case.source.name, case.capture.target
        yield from diagnose(
            case,
            missing,
            headline=f"{lacks(case)} because `stop_gradient` cuts the path to `{target}`",
            why=(
                f"`{target}` does depend on `{name}`, but only through a value that `stop_gradient` makes a constant. "
                "That is what it is for, and a constant has no gradient."
            ),
            fix=Fix("leave out `stop_gradient`, or ask for the gradient of what comes after it"),
        )
    if case.rules.hidden_stop is not None and not case.rules.hidden_stop.is_neutral:
        yield _hidden(case)


def _hidden(case: Case) -> Diagnostic:
    stop = case.rules.hidden_stop
    assert stop is not None
    held, free = (words.significant(number, 8) for number in (stop.held, stop.free))
    return Diagnostic(
        kind="stop-gradient",
        severity="warning",
        certainty="measured",
        headline="a hidden `stop_gradient` leaves terms out of this derivative of a derivative",
        primary=annotated(stop.span, "holds an inner value constant"),
        subject=subject(case, stop.index),
        evidence=(*comparison_rows(case), ("with it", held), ("without it", free)),
        why=(
            f"This line leads to `{stop.function}`, which puts `stop_gradient` on an inner value: a constant, to "
            "first derivatives as well. Here a derivative is differentiated once more, and the terms that come from "
            "that inner value are missing. The number is that of the path left open."
        ),
        fix=Fix("write this step with plain ops, so that every term is differentiated"),
        op="stop_gradient",
    )


CAUSE = Cause(name="stop-gradient", find=find, doc=__doc__ or "", on=(Occasion.MISSING, Occasion.RULE))
