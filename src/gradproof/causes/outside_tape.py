"""Part of the computation ran while the tape was not recording.

What it finds
    A gradient of None where the path from the source to the target passes through an op that ran before the tape
    was opened, after it was closed, or while its recording was stopped.

Why it spoils a gradient
    A tape knows only the ops that run inside its `with` block. An op outside leaves a plain number behind, and the
    path from the target to the source ends at it.

Example
    y = x * x                       # before the tape
    with tf.GradientTape() as tape:
        z = y + 1.0
    tape.gradient(z, x)             # None

Write instead
    with tf.GradientTape() as tape:
        y = x * x
        z = y + 1.0

Stays silent when
    every op on the path was recorded; or
    the target does not depend on the source at all.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._lost import lost
from gradproof.causes._missing import (
    broken,
    diagnose,
    indentation,
    indented_below,
    lacks,
    no_zero,
    tape_line,
)
from gradproof.causes._source import line_of
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.capture import Break
from gradproof.ir.surroundings import LostPart


def find(case: Case) -> Iterator[Diagnostic]:
    yield from lost(case, "outside-tape", _part)
    yield from lost(case, "stored", _stored)
    missing = broken(case, "outside-tape")
    if missing is None:
        return
    name, target = case.source.name, case.capture.target
    yield from diagnose(
        case,
        missing,
        headline=f"{lacks(case)}: part of `{target}` was computed outside the tape",
        why=(
            f"{no_zero(case)}`{target}` does depend on `{name}`, but a tape records only the ops that run inside its "
            "`with` block. What ran outside is a plain number to it, and the path back to "
            f"`{name}` ends there."
        ),
        fix=Fix("move the whole computation into the `with` block of the tape", _patch(case, missing)),
    )


def _part(case: Case, part: LostPart) -> Diagnostic:
    name, target = case.source.name, case.capture.target
    return Diagnostic(
        kind="outside-tape",
        severity="note",
        certainty="measured",
        headline=f"a part of `{target}` was computed from `{name}` outside the tape and counts as constant",
        primary=annotated(part.left, "the tape did not see this"),
        secondary=() if part.back in (None, part.left) else (Annotation(part.back, "used here"),),
        why=(
            "A tape records only the ops that run inside its `with` block. This gradient is that of the rest: it is "
            "right if a constant is meant, and lacks a term if not."
        ),
    )


def _stored(case: Case, part: LostPart) -> Diagnostic:
    name, target = case.source.name, case.capture.target
    return Diagnostic(
        kind="outside-tape",
        severity="note",
        certainty="measured",
        headline=f"a part of `{target}` passes through a variable that holds what was computed from `{name}`",
        primary=annotated(part.left, "put into a variable"),
        secondary=() if part.back in (None, part.left) else (Annotation(part.back, "read from it"),),
        why=(
            "No gradient passes through an assignment. This gradient is that of the rest: it is right if a constant is "
            "meant, and lacks a term if not."
        ),
    )


def _patch(case: Case, missing: Break) -> str:
    """The line moved into the block, where it stands beside it and on one line."""
    tape, outside = tape_line(case), line_of(case, missing.span)
    if tape is None or missing.span is None or missing.span.file != tape[0].file:
        return ""
    below = indented_below(case, tape[0])
    is_beside = bool(outside.strip()) and indentation(outside) == indentation(tape[1])
    if not is_beside or not below or outside.rstrip().endswith((",", "(", "\\", ":")):
        return ""
    moved = f"+{indentation(below)}{outside.strip()}"
    if missing.span.line < tape[0].line:
        return f"-{outside}\n {tape[1]}\n{moved}\n {below}"
    return f" {tape[1]}\n {below}\n-{outside}\n{moved}"


CAUSE = Cause(name="outside-tape", find=find, doc=__doc__ or "", on=(Occasion.MISSING, Occasion.AROUND))
