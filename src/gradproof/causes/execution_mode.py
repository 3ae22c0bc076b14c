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

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.ir.surroundings import ModeGap
from gradproof.judge.verdict import Verdict

_NAMES = {"xla": "XLA", "graph": "a graph"}


def find(case: Case) -> Iterator[Diagnostic]:
    if case.verdict is not Verdict.CORRECT and case.capture.around.mode_gaps:
        yield _diagnose(case, case.capture.around.mode_gaps[0])


def _diagnose(case: Case, gap: ModeGap) -> Diagnostic:
    mode = _NAMES.get(gap.mode, gap.mode)
    return Diagnostic(
        kind="execution-mode",
        # A NaN or lost digits have a cause of their own; that another mode is spared is worth knowing beside it.
        severity="error" if case.verdict is Verdict.WRONG else "warning",
        certainty="measured",
        headline=f"`{gap.function}` returns {gap.compiled} in {mode} and {gap.single} op by op",
        primary=None if gap.span is None else Annotation(gap.span, f"runs in {mode}"),
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


CAUSE = Cause(name="execution-mode", find=find, doc=__doc__ or "")
