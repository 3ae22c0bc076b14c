"""The target was computed without the source.

What it finds
    A gradient of None, or of zeros where a framework returns these, where nothing that was recorded leads from the
    source to the target, and none of the known ways to lose a path explains it; or where the path goes through a
    variable that was assigned and read again, or through a data set; or where target and source are exchanged, or the
    target is a plain number.

Why it spoils a gradient
    If the target does not depend on the source, its derivative is zero, and the framework says None. That is right if
    the source was not meant to take part, and a mistake in the program if it was: another variable was used in its
    place, or the wrong target or source was passed.

Example
    loss = tf.reduce_sum(a * a)
    tape.gradient(loss, b)              # None: b was not used

Write instead
    tape.gradient(loss, a)

Stays silent when
    a path exists and broke: then the cause says where.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._missing import broken, diagnose, lacks
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.frameworks import framework
from gradproof.ir.capture import Break
from gradproof.ir.program import ancestors
from gradproof.judge.verdict import Verdict


def find(case: Case) -> Iterator[Diagnostic]:
    if _is_unused(case):
        yield _unused(case)
        return
    missing = broken(case, "not-connected")
    if missing is None or case.rules.suspicions:  # a custom gradient on the way is what does not depend on it
        return
    name, target = case.source.name, case.capture.target
    special = _special(case, missing)
    if special is None and _is_of_derivatives(case):
        yield _differentiated_away(case, missing)
        return
    if special is not None:
        headline, why, fix = special
        as_found = ": " if "unseen" in missing.facts else " because "
        yield from diagnose(case, missing, f"{lacks(case)}{as_found}{headline}", why, Fix(fix))
        return
    yield from diagnose(
        case,
        missing,
        headline=f"{lacks(case)} because `{target}` was not computed from it",
        why=(
            f"No op that ran leads from `{name}` to `{target}`. If `{name}` is not meant to take part, its derivative "
            "is zero and None does no harm. If it is, something else was used in its place."
        ),
        fix=Fix(f"use `{name}` in `{target}`, or ask for the gradient of what was used"),
    )


def _is_unused(case: Case) -> bool:
    """Whether zeros came back, as some frameworks return them where nothing leads to the target, not even in steps."""
    program, node, observed = case.capture.program, case.source.node, case.source.observed
    if not framework(case.capture.framework).returns_zeros or case.capture.run.order > 1:
        return False
    if program is None or node is None or observed is None:
        return False
    is_zero = case.verdict is Verdict.CORRECT and bool(observed.size) and not observed.any()
    return is_zero and node not in ancestors(program, program.outputs)


def _unused(case: Case) -> Diagnostic:
    name, target = case.source.name, case.capture.target
    return Diagnostic(
        kind="not-connected",
        severity="note",
        certainty="proven",
        headline=f"the gradient for `{name}` is exactly 0: `{target}` was not computed from it",
        primary=Annotation(case.capture.call, f"nothing leads from `{name}` to `{target}`"),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"No op that ran leads from `{name}` to `{target}`, so that zero is right and `{name}` does not train. A "
            f"function that reads `{name}` from outside, and not from its argument, takes it for a constant."
        ),
        fix=Fix(
            f"use what the function is given for `{name}`, or leave `{name}` out of what is differentiated"
        ),
    )


def _is_of_derivatives(case: Case) -> bool:
    """Whether a derivative is differentiated here, and other sources of the same call have got their gradient."""
    capture = case.capture
    others = capture.is_rest or any(one.observed is not None for one in capture.sources)
    return capture.run.order > 1 and others


def _differentiated_away(case: Case, missing: Break) -> Diagnostic:
    """Differentiating drops what is only added; that is how derivatives are, and most likely no mistake."""
    name, target = case.source.name, case.capture.target
    return Diagnostic(
        kind="not-connected",
        severity="warning",
        certainty="measured",
        headline=f"{lacks(case)}: it drops out of the derivatives that `{target}` is computed from",
        primary=annotated(missing.span, missing.label),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"`{target}` is computed from derivatives. What is only added, as the last bias of a network, drops out "
            "of the first derivative, and what multiplies straight pieces, such as those of `relu`, out of the second. "
            f"If `{name}` takes part in no other way, its derivative is zero and None does no harm."
        ),
    )


def _special(case: Case, missing: Break) -> tuple[str, str, str] | None:
    """Headline, explanation and advice where the run shows more than that nothing leads to the target."""
    name, target, facts = case.source.name, case.capture.target, missing.facts
    if "unseen" in facts:
        return (
            f"no op in the record leads from it to `{target}`",
            f"`{target}` was computed from numbers that are older than the record, which holds the latest ops only. If "
            f"they were computed from `{name}`, that was outside the tape, and no path leads back. If they were not, "
            f"the derivative for `{name}` is zero and None does no harm.",
            f"compute all of `{target}` that depends on `{name}` inside the tape",
        )
    if "exchanged" in facts:
        return (
            f"`{name}` was computed from `{facts['exchanged']}`, and not the other way round",
            f"The first argument is what is differentiated, the second what it is differentiated by. `{name}` depends "
            f"on `{target}`, so the two look swapped.",
            f"swap the arguments: `gradient({name}, {target})`",
        )
    if "plain" in facts:
        return (
            f"`{target}` is {facts['plain']}",
            f"What is differentiated has to be a tensor that the tape saw being computed. `{target}` is "
            f"{facts['plain']}, which no op of the framework has made.",
            f"compute `{target}` with the framework's own functions, from what is to be differentiated by",
        )
    if "in" in facts:
        return (
            f"a value made from it went through a {facts['in']}",
            f"`{target}` was computed from what a {facts['in']} handed out. It holds numbers and not what they were "
            f"computed from, so no path leads to `{name}`.",
            f"put only data into the {facts['in']}, and compute what depends on `{name}` inside the tape",
        )
    if "stored" in facts:
        return (
            "a value made from it went through a variable",
            f"This line stores numbers in a variable, and `{target}` was computed from what was read from it "
            f"later. A tape sees the number that is read, not what was assigned, so no path leads to `{name}`.",
            "use the computed tensor itself in the target, and assign it to the variable as well",
        )
    return None


CAUSE = Cause(name="not-connected", find=find, doc=__doc__ or "", on=(Occasion.MISSING, Occasion.ZERO))
