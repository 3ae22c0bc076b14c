"""A column and a row of the same length were subtracted, and broadcasting made a table of all pairs.

What it finds
    A difference of two arrays of shapes (n, 1) and (n,), one computed from what is trained and one given, that is
    then summed or averaged to one number.

Why it spoils a gradient
    Broadcasting turns the n predictions and the n labels into n times n differences: every prediction is compared
    with every label. The gradient is right for that loss, but the loss is not the one that was meant; its
    predictions all go to the mean of the labels.

Example
    prediction = model(x)                           # shape (32, 1)
    loss = tf.reduce_mean((prediction - y) ** 2)    # y has shape (32,)

Write instead
    loss = tf.reduce_mean((prediction[:, 0] - y) ** 2)

Stays silent when
    the line itself adds an axis, so that all pairs are wanted; or
    both sides are computed from what is trained, as in a table of distances; or
    the table is not reduced to one number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradproof.causes._source import line_of
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.diagnosis.tables import shape_before, tables
from gradproof.diagnosis.words import shape_text
from gradproof.ir.program import Node, Program

_WANTED = re.compile(r"None|newaxis|expand|reshape|outer|pairwise")


def find(case: Case) -> Iterator[Diagnostic]:
    program = case.capture.program
    if program is None or case.source.node is None:
        return
    seen: set[tuple[str, int]] = set()
    for table in tables(program, case.source.node):
        span = table.node.span
        place = ("", 0) if span is None else (span.file, span.line)
        if place not in seen and not _WANTED.search(line_of(case, span)):
            seen.add(place)
            yield _diagnose(case, program, table.node)


def _diagnose(case: Case, program: Program, node: Node) -> Diagnostic:
    n = node.shape[0]
    first, second = (shape_text(shape_before(program, id)) for id in node.inputs)
    return Diagnostic(
        kind="silent-broadcast",
        severity="warning",
        certainty="measured",
        headline=f"{n} numbers minus {n} numbers gives {n * n} differences here",
        primary=annotated(node.span, f"{first} - {second} has shape {shape_text(node.shape)}"),
        subject="shapes",
        evidence=(("left", first), ("right", second), ("difference", shape_text(node.shape))),
        why=(
            f"A column of shape ({n}, 1) and a row of shape ({n},) are broadcast to a table of all pairs. Each of the "
            f"{n} predictions is compared with all {n} labels, and the sum runs over every pair. The gradient is "
            "right for this loss, but the loss is most likely not the one that was meant."
        ),
        fix=Fix("give both sides the same shape, such as with `[:, 0]` on the column"),
        op=node.op,
    )


CAUSE = Cause(name="silent-broadcast", find=find, doc=__doc__ or "", on=(Occasion.ALWAYS,))
