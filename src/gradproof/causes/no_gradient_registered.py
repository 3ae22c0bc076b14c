"""The framework has no gradient for an op on the path, or none for the argument that matters.

What it finds
    A gradient of None where the path from the source to the target passes through an op for which the framework has
    no rule, or whose rule returns nothing for this argument; or, as a note, one that lacks a part, because numbers go
    on as text or bits.

Why it spoils a gradient
    Without a rule the gradient ends there. The derivative may well exist; the framework just does not know it.

Example
    cdf = tf.math.betainc(a, b, x)      # has a gradient for x, none for a and b

Write instead
    a custom gradient around the op, or a form that uses other ops

Stays silent when
    the op is constant between jumps, so that there is no useful derivative: that is discrete-op; or
    the path broke elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._lost import lost
from gradproof.causes._missing import broken, diagnose, lacks, no_zero, remedy
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.surroundings import LostPart


def find(case: Case) -> Iterator[Diagnostic]:
    yield from lost(case, "disguised", _part)
    missing = broken(case, "no-gradient-registered")
    if missing is None:
        return
    framework, op = words.framework_name(case.capture.framework), missing.facts.get("op", "")
    op = f"`{op}`" if op and "`" not in op else op
    what = (
        f"{op} has none for this argument"
        if op
        else f"a function on the path to `{case.capture.target}` has none"
    )
    if "text" in missing.facts:
        what = f"{op} makes text of the numbers"
    exists = " The derivative does exist, and its value is given above." if case.true is not None else ""
    yield from diagnose(
        case,
        missing,
        headline=f"{lacks(case)}: {what}",
        why=(
            f"{no_zero(case)}{framework} passes gradients back op by op, and {op or 'this function'} has no rule for "
            f"the argument that comes from `{case.source.name}`, so the gradient ends there.{exists}"
        ),
        fix=Fix(remedy(missing, f"give {op or 'it'} a custom gradient, or write this step with other ops")),
    )


def _part(case: Case, part: LostPart) -> Diagnostic:
    name, target, framework = (
        case.source.name,
        case.capture.target,
        words.framework_name(case.capture.framework),
    )
    return Diagnostic(
        kind="no-gradient-registered",
        severity="note",
        certainty="measured",
        headline=f"a part of `{target}` was computed from `{name}` through `{part.how}`, which has no gradient",
        primary=annotated(part.left, "numbers go on as text or bits from here"),
        secondary=() if part.back in (None, part.left) else (Annotation(part.back, "numbers again"),),
        why=(
            f"For {framework} what comes back is a constant. This gradient is that of the rest: it is right if a "
            "constant is meant, and lacks a term if not."
        ),
    )


CAUSE = Cause(
    name="no-gradient-registered", find=find, doc=__doc__ or "", on=(Occasion.MISSING, Occasion.AROUND)
)
