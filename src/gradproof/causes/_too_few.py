"""A variance, or a standard deviation, of so few numbers that there is nothing to divide by."""

from __future__ import annotations

import math
from dataclasses import replace

from gradproof.causes._nonfinite import line_of
from gradproof.causes._places import capital
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.ir.program import Node, Program
from gradproof.ir.span import Span


def of_too_few(case: Case, found: Diagnostic, program: Program, node: Node, span: Span) -> Diagnostic:
    """What was found, in the words of a variance: it is divided by one less than there are numbers."""
    given, less = program[node.inputs[0]].shape, node.params.get("ddof", 0)
    count = math.prod(given[axis] for axis in node.params["axes"])
    if count > less:
        return found
    numbers = "1 number" if count == 1 else f"{count} numbers"
    return replace(
        found,
        headline=f"the spread of {numbers} is not defined, so `{case.capture.target}` has no gradient",
        primary=Annotation(span, f"of {numbers} here, divided by {count} - {less}"),
        why=(
            f"A variance, or a standard deviation, is a sum over numbers divided by how many there are, here less "
            f"{less}. {capital(line_of(span))} has {numbers}: there is nothing to divide by."
        ),
        fix=Fix(
            "take it over an axis with more numbers, or divide by how many there are (a correction of 0)"
        ),
    )
