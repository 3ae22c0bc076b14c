"""What is recorded for one gradient grows from step to step.

What it finds
    A gradient call in a loop behind which more ops stand at each later execution, in proportion to the number of
    steps.

Why it spoils a gradient
    The recorded computation reaches back through all earlier steps. Time and memory grow until the program fails, and
    the gradient sums over a history that most likely was not meant.

Example
    with gradproof.GradientTape(persistent=True) as tape:
        for step in range(100):
            state = np.tanh(w * state)
            gradient = tape.gradient(state, w)      # through all steps so far

Write instead
    cut the history where it should end: a new tape in every step, or `stop_gradient(state)`

Stays silent when
    the number of ops stays the same, or changes without growing in proportion to the steps; or
    the earlier target itself is contained: that is stale-accumulation.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix


def find(case: Case) -> Iterator[Diagnostic]:
    history = case.capture.history
    if history is None or history.contains or not history.grows:
        return
    sizes = ", ".join(f"{size:,} at execution {occurrence:,}" for occurrence, size in history.sizes)
    yield Diagnostic(
        kind="graph-grows",
        severity="warning",
        certainty="measured",
        headline=f"the gradient of `{case.capture.target}` runs through more ops with every step",
        primary=Annotation(case.capture.call, "reaches back through all earlier steps"),
        subject=f"ops behind `{case.capture.target}`",
        evidence=(("counted", sizes),),
        why=(
            f"`{case.capture.target}` is computed from results of earlier steps, and their history is still recorded. "
            "The gradient runs back through all of it, so time and memory grow with the number of steps."
        ),
        fix=Fix("open a new tape in every step, or cut the history with `stop_gradient`"),
    )


CAUSE = Cause(name="graph-grows", find=find, doc=__doc__ or "")
