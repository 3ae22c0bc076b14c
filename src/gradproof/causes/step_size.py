"""The step of a finite difference is too small or too large, and the difference is not the derivative.

What it finds
    A finite difference inside a hand-written gradient whose step is so small that rounding drowns it; and a gradient
    check by finite differences, `gradient_check_numerical`, that fails because of the epsilon it was given; and one
    of the framework's own, `tf.test.compute_gradient`, whose differences miss a gradient that is right.

Why it spoils a gradient
    A difference quotient has two errors. The function bends within the step, which costs more for a larger step; and
    its two values are rounded, which costs more for a smaller one. Only between the two is it worth anything, and
    even there it has about half of the digits.

Example
    (f(x + 1e-12) - f(x)) / 1e-12           # 4 right digits in float64

Write instead
    the exact derivative; for a check, `gradproof.derivative(f, x)`, which chooses its steps and says its error

Stays silent when
    the step is so large that the formula itself is off: in a rule that is custom-gradient; or
    the difference is as good as the dtype of the gradient asks for.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.blackbox.numerical_check import NumericalCheck
from gradproof.blackbox.step import STEP_FAULTS, StepJudgement
from gradproof.causes._differences import diagnose, missed
from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._rounding import loss_of
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix, annotated
from gradproof.diagnosis.loss import custom_scope
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir import types


def find(case: Case) -> Iterator[Diagnostic]:
    off = missed(case)
    if off is not None and off.kind == "step-size":
        yield diagnose(case, off)
    loss = loss_of(case, "step-size")
    if loss is None:
        return
    scope = custom_scope(case, loss.place)
    name = "the rule" if scope is None else f"the gradient of `{scope.name}`"
    step = _short(loss.growth, 4)
    digits = round(types.digits_possible(loss.place.dtype))
    yield Diagnostic(
        kind="step-size",
        severity="error",
        certainty="proven",
        headline=f"a step of {step} is too small for the finite difference in {name}",
        primary=annotated(loss.place.span, "all but the last digits cancel"),
        subject=subject(case),
        evidence=(*comparison_rows(case), ("step", step)),
        why=(
            f"The two values that are subtracted differ in their last digits only, since the step between them is "
            f"{step}. A {loss.place.dtype} carries {digits} digits, and what is left of them is mostly rounding. "
            "A larger step has less rounding and more error from the curvature of the function; no step gives all "
            "digits."
        ),
        fix=case.remedy.rule_fix or Fix("return the exact derivative"),
        op=loss.place.op,
        share=loss.share,
    )


def of_check(check: NumericalCheck, name: str = "f") -> Diagnostic | None:
    """What a gradient check by finite differences has to say about the epsilon it was given."""
    step = check.step
    if check.cause != "step-size" or step is None or check.epsilon is None:
        return None
    epsilon = _short(check.epsilon, 4)
    size, reason = STEP_FAULTS[step.fault]
    usable = "none serves all entries"
    if step.usable is not None:
        usable = " to ".join(_short(bound, 1) for bound in step.usable)
    return Diagnostic(
        kind="step-size",
        severity="warning" if check.verdict == "agrees" else "error",
        certainty="measured",
        headline=f"epsilon {epsilon} is too {size} for this check: {reason}",
        subject=f"d {name} / d argument {step.argument + 1}" + (f"{list(step.index)}" if step.index else ""),
        evidence=(
            ("difference", words.significant(step.difference, 10)),
            ("slope", words.number(step.value, step.error)),
            ("truncation", _short(step.predicted_truncation, 2)),
            ("rounding", _short(step.predicted_rounding, 2)),
            ("usable steps", usable),
        ),
        why=_why(step, epsilon),
        fix=Fix(f"leave epsilon out, so that it is chosen; usable here: {usable}"),
    )


def _why(step: StepJudgement, epsilon: str) -> str:
    if step.fault == "corner":
        return (
            f"The two values lie {epsilon} before and behind the point. Neither rounding nor the curvature around the "
            "point explains how far their difference is off. Within the step the function has to be "
            "another one than at the point: it has a corner there, as relu and abs have, or bends sharply."
        )
    return (
        "A difference quotient is off by the curvature of the function within the step and by the rounding of its two "
        f"values. With {epsilon} the first is about {_short(step.predicted_truncation, 2)} and the "
        f"second {_short(step.predicted_rounding, 2)}, so the check fails and the gradient need not."
    )


def _short(number: float, digits: int) -> str:
    """`1e-12`, not `1.0e-12`: a step is a power of ten to whoever chose it."""
    return words.significant(number, digits).removesuffix(".0").replace(".0e", "e")


CAUSE = Cause(name="step-size", find=find, doc=__doc__ or "", on=(Occasion.INACCURATE, Occasion.AROUND))
