"""The same ops give another result in the mode in which the program runs them.

What it finds
    A compiled or traced function whose result differs from that of the same ops run one by one, by more than
    rounding: another number, or NaN where there is one.

Why it spoils a gradient
    Compilers replace ops by others that are equal on paper. Where an op treats a special case, such as a gradient of
    zero, the replacement may not, and a gradient that is right in one mode is wrong in another.

Example
    fast = tf.function(masked_root, jit_compile=True)       # NaN under XLA, 0 op by op

Write instead
    a form that needs no special case: give the branch that is not taken a harmless input

Stays silent when
    the modes agree up to rounding; or
    the function draws random numbers, so that its ops cannot be repeated.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import Rows, comparison_rows, subject, worst
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, Severity, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.diagnosis.parting import ModeFault, Parting
from gradproof.ir import types
from gradproof.ir.surroundings import ModeGap
from gradproof.judge.verdict import Verdict

_NAMES = {"xla": "XLA", "graph": "a graph", "parts": "compiled code"}


def find(case: Case) -> Iterator[Diagnostic]:
    if case.mode_fault is not None:
        yield _spoilt(case, case.mode_fault)
    elif case.verdict is not Verdict.CORRECT and case.capture.around.mode_gaps:
        yield _diagnose(case, case.capture.around.mode_gaps[0])
    elif case.mode_parting is not None:
        yield _broken(case, case.mode_parting)


def _spoilt(case: Case, fault: ModeFault) -> Diagnostic:
    """The same ops were run both ways: which op makes the difference, and whose rewriting it was."""
    name, parting = words.framework_name(case.capture.framework), fault.parting
    single = words.number(fault.single[worst(case)].item(), dtype=case.source.dtype)
    digits = words.digits_text(fault.digits, types.digits_possible(case.source.dtype))
    whose = "" if parting is None else f" Here {parting.whose.text}."
    return Diagnostic(
        kind="execution-mode",
        severity=_severity(case),
        certainty="measured",
        headline=f"{name} loses this gradient {fault.mode}, and has it right op by op",
        primary=_place(case, fault),
        subject=subject(case),
        evidence=(*comparison_rows(case), ("op by op", f"{single}: {digits}"), *_parting_rows(fault)),
        why=(
            "The recorded ops were run again, one by one and as the program ran them. Only the second loses the "
            f"gradient: a compiler replaces ops by others that are equal on paper, and not in floating point.{whose}"
        ),
        fix=case.remedy.fix or Fix("run this function without compilation, or rewrite the step"),
        op=None if parting is None else parting.op,
    )


def _broken(case: Case, parting: Parting) -> Diagnostic:
    """There is no true gradient, and only one of the modes makes a number of it: which op it is."""
    mode = _NAMES.get(case.capture.run.mode, case.capture.run.mode)
    place = Annotation(
        parting.span or case.capture.call, f"{_op_words(parting)} is {parting.other} in {mode}"
    )
    return Diagnostic(
        kind="execution-mode",
        severity="note",  # that there is no gradient is told by a cause of its own
        certainty="measured",
        headline=f"{words.framework_name(case.capture.framework)} returns no number in {mode}, and one op by op",
        primary=place,
        subject=subject(case),
        evidence=(
            ("op by op", f"`{parting.op}` is {parting.single}"),
            (mode, f"`{parting.op}` is {parting.other}"),
        ),
        why=(
            "The recorded ops were run again, one by one and as the program ran them. Only the second makes NaN or "
            f"infinity: {parting.whose.text}."
        ),
        op=parting.op,
    )


def _severity(case: Case) -> Severity:
    """A NaN that has a cause of its own is told by that; that another mode is spared is worth knowing beside it."""
    return (
        "warning" if case.verdict is Verdict.NONFINITE and case.irregular.nonfinite is not None else "error"
    )


def _place(case: Case, fault: ModeFault) -> Annotation:
    parting = fault.parting
    if parting is None or parting.span is None:
        return Annotation(case.capture.call, f"ran {fault.mode}")
    return Annotation(parting.span, f"{_op_words(parting)} is another {fault.mode}")


def _op_words(parting: Parting) -> str:
    return f"`{parting.op}`" if parting.phase == "forward" else f"`{parting.op}` in the derivative of this"


def _parting_rows(fault: ModeFault) -> Rows:
    if fault.parting is None:
        return ()
    parting = fault.parting
    given = f"{parting.op} of {words.comma_list(list(parting.inputs))}"
    exact = (("exactly", parting.exact),) if parting.exact else ()
    return (("parts at", given), *exact, ("one by one", parting.single), (fault.mode, parting.other))


def _diagnose(case: Case, gap: ModeGap) -> Diagnostic:
    mode = _NAMES.get(gap.mode, gap.mode)
    return Diagnostic(
        kind="execution-mode",
        # Where the ops could not be run both ways, the NaN or the lost digits have a cause of their own beside it.
        severity="error" if case.verdict is Verdict.WRONG else "warning",
        certainty="measured",
        headline=f"`{gap.function}` returns {gap.compiled} in {mode} and {gap.single} op by op",
        primary=_place_of_gap(case, gap, mode),
        subject=subject(case),
        evidence=(*comparison_rows(case), (mode, gap.compiled), ("op by op", gap.single)),
        why=(
            f"The ops of `{gap.function}` were run one by one on the very inputs it had. What {mode} made of them "
            "differs by more than rounding, so the compiled form is not equal to the ops that were written."
        ),
        fix=Fix(
            "run this function without compilation, or rewrite the step that the modes treat differently"
        ),
    )


def _place_of_gap(case: Case, gap: ModeGap, mode: str) -> Annotation | None:
    """The op that parts, where it was seen; else the function that was compiled."""
    parting = case.mode_parting
    if parting is not None and parting.span is not None:
        return Annotation(parting.span, f"{_op_words(parting)} is {parting.other} in {mode}")
    return annotated(gap.span, f"runs in {mode}")


CAUSE = Cause(name="execution-mode", find=find, doc=__doc__ or "", on=(Occasion.MODE, Occasion.AROUND))
