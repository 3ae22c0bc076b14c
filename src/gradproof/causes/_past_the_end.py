"""Shared words: an index past the end, where the library reads the nearest entry and passes no gradient back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradproof.causes._evidence import comparison_rows
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.ir.capture import Pullback
from gradproof.ir.program import ancestors
from gradproof.ir.types import Array
from gradproof.judge.custom import LibraryFault

_GATHER = "gather"


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
        primary=None
        if pullback.span is None
        else Annotation(pullback.span, f"{count} are read from outside"),
        evidence=comparison_rows(case),
        why=(
            f"Where NumPy raises an IndexError, {framework} reads the nearest entry there is, and passes no gradient "
            f"back to it. Here that happens to {count}, so that the gradient is not that of the value. The numbers "
            "mean something else than intended, too: that entry was not asked for."
        ),
        fix=Fix("correct the indices: they begin at 0 and end one before the length of the axis"),
    )


def _inside(case: Case, pullback: Pullback) -> Array | None:
    """For each entry whether it was read where it was asked for, as the lowering of a gather marks it."""
    program = case.capture.gradient_program
    if program is None or pullback.op != _GATHER:
        return None
    within = ancestors(program, pullback.outputs) - ancestors(program, pullback.inputs)
    marks = [program[node.inputs[0]] for node in program.nodes if node.id in within and node.op == "select"]
    return np.asarray(marks[0].value) if marks and marks[0].dtype == "bool" else None
