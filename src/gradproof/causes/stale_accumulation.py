"""The target still contains the targets of earlier steps.

What it finds
    A gradient call in a loop whose target was computed from the target of an earlier execution of the same line; or
    a gradient that was added to one of an earlier step, after that one had been used for an update; or gradients that
    were set back before any update had used them.

Why it spoils a gradient
    The gradient of a running total is the sum of the gradients of all steps so far. It is right for the total, but
    each update then repeats all earlier ones, and the work grows with every step. Gradients that are set back too
    early are gone when the optimizer comes to use them, and nothing is learnt.

Example
    with tf.GradientTape(persistent=True) as tape:
        for batch in data:
            total = total + loss(batch)
            gradient = tape.gradient(total, w)      # of all batches so far

Write instead
    for batch in data:
        with tf.GradientTape() as tape:
            step = loss(batch)
        gradient = tape.gradient(step, w)

Stays silent when
    each step computes its target anew; or
    the earlier target enters as a plain number.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._missing import broken, diagnose
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.capture import Break, Stale
from gradproof.judge.verdict import Verdict


def find(case: Case) -> Iterator[Diagnostic]:
    emptied = broken(case, "stale-accumulation")
    if emptied is not None:
        yield from _emptied(case, emptied)
        return
    if case.source.stale is not None and case.verdict is not Verdict.CORRECT:
        yield _kept(case, case.source.stale)
        return
    history = case.capture.around.history
    if history is None or not history.contains:
        return
    target, earlier = case.capture.target, words.ordinal(history.contains)
    yield Diagnostic(
        kind="stale-accumulation",
        severity="warning",
        certainty="measured",
        headline=f"`{target}` still contains the `{target}` of earlier steps",
        primary=Annotation(case.capture.call, f"contains that of the {earlier} execution"),
        subject=f"d {target} / d {case.source.name}",
        evidence=(
            ("execution", str(case.capture.run.occurrence)),
            ("contains that of", str(history.contains)),
        ),
        why=(
            f"`{target}` was computed from what it was at an earlier execution of this line, so its gradient is the "
            "sum over all steps since. Each update repeats the earlier ones, and every step takes longer."
        ),
        fix=Fix("start a new total and a new tape in every step"),
    )


def _emptied(case: Case, missing: Break) -> Iterator[Diagnostic]:
    """Set back between the call and the update, by an optimizer or a module."""
    name = case.source.name
    return diagnose(
        case,
        missing,
        headline=f"the gradient for `{name}` is gone when the optimizer steps",
        why=(
            "The gradients were computed and then set back, before the optimizer had used them. Nothing has changed "
            f"`{name}` in between, and the step finds no gradient in any of its parameters: it learns nothing."
        ),
        fix=Fix("set the gradients back before they are computed, or after the step: not in between"),
    )


def _kept(case: Case, stale: Stale) -> Diagnostic:
    """A framework that adds every gradient to the ones before, and nobody who took those away."""
    name, title = case.source.name, words.framework_name(case.capture.framework)
    updated = stale.updated
    return Diagnostic(
        kind="stale-accumulation",
        severity="error",
        certainty="measured",
        headline=f"the gradient for `{name}` still contains those of earlier steps",
        primary=Annotation(case.capture.call, "adds to the gradient that is there"),
        secondary=() if updated is None else (Annotation(updated, "used it, and left it there"),),
        subject=subject(case),
        evidence=(
            *comparison_rows(case),
            ("was there before", words.array_text(stale.held, case.source.dtype)),
        ),
        why=(
            f"{title} adds every gradient to the one that is there. `{name}` was updated with that one and it was "
            "not set back, so that this step repeats the earlier ones."
        ),
        fix=Fix("set the gradients back before each step: `optimizer.zero_grad()`"),
    )


CAUSE = Cause(name="stale-accumulation", find=find, doc=__doc__ or "", on=(Occasion.MISSING, Occasion.AROUND))
