"""Shared words: an index past the end, where the library reads the nearest entry, or NaN, and no gradient goes back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradproof.causes._evidence import comparison_rows
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.ir.capture import Pullback
from gradproof.ir.program import Node, ancestors
from gradproof.ir.types import Array
from gradproof.judge.custom import LibraryFault

_GATHER = "gather"
_FIX = Fix("correct the indices: they begin at 0 and end one before the length of the axis")


def past_the_end(case: Case, fault: LibraryFault, found: Diagnostic) -> Diagnostic:
    """What was found about the rule of a gather, told as what it is where some of its indices lie outside."""
    pullback = fault.departure.pullback
    inside = _inside(case, pullback)
    if inside is None or inside.all():
        return found
    framework = words.framework_name(case.capture.framework)
    count = f"{inside.size - int(np.sum(inside))} of {inside.size} entries"
    return replace(
        found,
        headline="an index lies past the end: the value is read from the nearest entry, the gradient is dropped",
        primary=annotated(pullback.span, f"{count} are read from outside"),
        evidence=comparison_rows(case),
        why=(
            f"Where NumPy raises an IndexError, {framework} reads the nearest entry there is, and passes no gradient "
            f"back to it. Here that happens to {count}, so that the gradient is not that of the value. The numbers "
            "mean something else than intended, too: that entry was not asked for."
        ),
        fix=_FIX,
    )


def nan_past_the_end(case: Case, choice: Node, found: Diagnostic) -> Diagnostic:
    """What was found about a NaN that is written down, told as what it is where a read from outside gives it."""
    program = case.capture.program
    if program is None or choice.span is None or program[choice.inputs[1]].op != "take":
        return found
    inside = np.asarray(program[choice.inputs[0]].value)
    count = f"{inside.size - int(np.sum(inside))} of {inside.size} entries"
    framework, target = words.framework_name(case.capture.framework), case.capture.target
    return replace(
        found,
        headline=f"an index lies past the end: NaN is read there, and `{target}` has no value",
        primary=Annotation(choice.span, f"{count} are read from outside"),
        why=(
            f"Where NumPy raises an IndexError, {framework} reads NaN, and passes no gradient back. Here that happens "
            f"to {count}: `{target}` is NaN by it, while its gradient may look like one."
        ),
        fix=_FIX,
    )


def _inside(case: Case, pullback: Pullback) -> Array | None:
    """For each entry whether it was read where it was asked for, as the lowering of a gather marks it."""
    program = case.capture.gradient_program
    if program is None or pullback.op != _GATHER:
        return None
    within = ancestors(program, pullback.outputs) - ancestors(program, pullback.inputs)
    marks = [program[node.inputs[0]] for node in program.nodes if node.id in within and node.op == "select"]
    return np.asarray(marks[0].value) if marks and marks[0].dtype == "bool" else None
