"""What is recorded for one gradient grows from step to step.

What it finds
    A gradient call in a loop behind which more ops stand at each later execution, in proportion to the number of
    steps; or one that failed because its way leads through a step whose record is gone; or a persistent tape that
    stays open around a loop and is asked in every round; or tensors of earlier steps that are kept, graph and all.

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

from collections.abc import Iterator, Sequence
from itertools import pairwise

from gradproof.causes._missing import broken, diagnose, lacks
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.surroundings import KeptGraphs, OpenRecord

MIN_ROUNDS = 4


def find(case: Case) -> Iterator[Diagnostic]:
    missing = broken(case, "graph-grows")
    if missing is not None:
        yield from diagnose(
            case,
            missing,
            headline=f"{lacks(case)}: the path leads through steps whose record is gone",
            why=(
                f"`{case.capture.target}` is computed from results of an earlier step. The record of that step was "
                "given up when its gradient had been computed."
            ),
            fix=Fix("cut the history where a step begins"),
        )
        return
    graphs = case.capture.around.kept
    if graphs is not None:
        yield _held(case, graphs)
    kept = case.capture.around.open_tape
    if kept is not None and _grows(kept.held):
        yield _around_a_loop(case, kept)
    history = case.capture.around.history
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


def _grows(held: Sequence[int]) -> bool:
    """By about the same number of ops each time, seen at least four times, and doubled since the second."""
    steps = [after - before for before, after in pairwise(held)]
    return (
        len(held) >= MIN_ROUNDS
        and min(steps) > 0
        and max(steps) <= 2 * min(steps)
        and held[-1] >= 2 * held[1]
    )


def _held(case: Case, graphs: KeptGraphs) -> Diagnostic:
    """The gradient is right: what is kept has no part in it."""
    name, call = graphs.name, Annotation(case.capture.call, "has gone through these graphs before")
    steps = ", ".join(f"{execution:,}" for execution in graphs.executions)
    return Diagnostic(
        kind="graph-grows",
        severity="warning",
        certainty="measured",
        headline=f"`{name}` keeps the graphs of steps that are over",
        primary=call if graphs.span is None else Annotation(graphs.span, "kept as a tensor, with its graph"),
        secondary=() if graphs.span is None else (call,),
        subject=f"what `{name}` holds",
        evidence=(
            ("graphs of", f"executions {steps} of line {case.capture.call.line}, seen at {_turn(case)}"),
        ),
        why=(
            f"A tensor that is computed from parameters holds the graph it was computed by. `{name}` keeps such "
            "tensors of one step after the other, and memory grows with the number of steps. The gradient itself is "
            "right."
        ),
        fix=Fix("keep the number alone: `.item()`, or `.detach()` for a tensor"),
    )


def _turn(case: Case) -> str:
    return f"execution {case.capture.run.occurrence:,}"


def _around_a_loop(case: Case, kept: OpenRecord) -> Diagnostic:
    call = Annotation(case.capture.call, "asked in every round")
    return Diagnostic(
        kind="graph-grows",
        severity="warning",
        certainty="measured",
        headline="a persistent tape stays open around a loop and keeps what every round computed",
        primary=call
        if kept.entered is None
        else Annotation(kept.entered, "records from here to the end of its block"),
        secondary=() if kept.entered is None else (call,),
        subject="ops on the tape",
        evidence=(
            ("counted", ", ".join(f"{n:,}" for n in kept.held[-MIN_ROUNDS:]) + " at the latest calls"),
        ),
        why=(
            "A persistent tape keeps the ops and numbers of its block until it is deleted. Each round adds its own, "
            "and the ops of its gradient, since they are computed inside the block: memory grows with the number of "
            "rounds."
        ),
        fix=Fix("open the tape inside the loop, and ask it after its block"),
    )


CAUSE = Cause(name="graph-grows", find=find, doc=__doc__ or "", on=(Occasion.MISSING, Occasion.AROUND))
