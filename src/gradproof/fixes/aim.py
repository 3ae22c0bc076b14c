"""What a change has to reach: the true gradient, the digits there are and could be, and where to begin."""

from __future__ import annotations

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.loss import find_loss
from gradproof.fixes.search import Aim
from gradproof.fixes.tried import Replay, replayed_in
from gradproof.fixes.verify import N_NEARBY, GradientPair, rounded_gradient, tightened
from gradproof.ir import types
from gradproof.ir.program import Program
from gradproof.ir.types import Array
from gradproof.judge.verdict import Verdict

MASKED = "masked-branch"
_RULES = (
    "framework-rule",
    "custom-gradient",
    "step-size",
)  # a derivative rule lost the digits, not the formula
_UNSEEN = ("not-watched", "outside-tape", "reassigned-variable")
EQUAL = f" Both are equal in exact arithmetic, here and at {N_NEARBY} points nearby."
EQUAL_PART = (
    f" What is changed is equal in exact arithmetic to what it was, here and at {N_NEARBY} points nearby."
)
# The ways to a NaN that another way of writing avoids; where there is a derivative, rounding has left the domain.
_ROUNDING = ("overflow", "underflow", "cancellation", "absorption", "invalid-domain")


def aim_of(case: Case) -> Aim | None:
    source, true = case.source, case.true
    program = case.capture.program
    if (
        source.node is None
        or program is None
        or true is None
        or not true.is_bounded
        or case.capture.run.order != 1
    ):
        return None
    if not types.is_real(source.dtype) or not _can_be_run_better(case):
        return None
    true = tightened(program, source.node, true)
    gradients = GradientPair(source.node, true, source.dtype, case.options)
    digits = 0.0 if source.observed is None else gradients.digits(source.observed)
    possible = types.digits_possible(source.dtype)
    if case.mode_fault is not None:  # op by op the formula shows what it is capable of
        possible = min(possible, case.mode_fault.digits)
    return Aim(gradients, digits, possible, _places(case))


def _can_be_run_better(case: Case) -> bool:
    """Digits were lost to rounding or to a mode, a dropped branch sent NaN, or a tape did not see all that ran."""
    if case.mode_fault is not None and case.irregular.kind != MASKED:
        return True
    if case.verdict is Verdict.MISSING:
        return case.source.missing is not None and case.source.missing.kind in _UNSEEN
    if case.verdict is Verdict.NONFINITE:
        return case.irregular.kind in (*_ROUNDING, MASKED)
    if case.verdict is Verdict.INACCURATE and case.irregular.kind in _ROUNDING:
        return True  # what is divided by an infinite number is 0
    loss = find_loss(case) if case.verdict is Verdict.INACCURATE else None
    return loss is not None and loss.kind not in _RULES


def _places(case: Case) -> tuple[int, ...]:
    """Where the search begins: the node that lost the digits, the one where the error arose, and their lines."""
    if case.mode_fault is not None and case.mode_fault.parting is not None:
        suspects = [case.node(case.mode_fault.parting.node)]
    elif case.irregular.nonfinite is not None:
        suspects = [case.irregular.nonfinite.origin]
    else:
        loss = find_loss(case)
        suspects = [] if loss is None else [loss.place, loss.origin]
    program = case.capture.program
    assert program is not None
    spans = {node.span for node in suspects if node.span is not None}
    same = [node.id for node in program.nodes if node.span in spans]
    return (*(node.id for node in suspects), *same)


def checked_digits(
    case: Case, program: Program, aim: Aim, replay: Replay | None, proven: str = ""
) -> str | None:
    """What the changed program returned in the user's framework and what is proven of it; None if that is no better.

    Empty where it cannot be run there as the user would run it: then NumPy tells whether it is worth offering.
    """
    gradient = None if replay is None else replay(program, aim.gradients.wrt)
    in_framework = gradient is not None
    gradient = gradient if in_framework else rounded_gradient(program, aim.gradients.wrt)
    if gradient is None or not aim.is_reached(digits := aim.gradients.digits(gradient)):
        return None
    if not in_framework:
        return ""
    name, dtype = words.framework_name(case.capture.framework), case.source.dtype
    agreement = words.whole_digits_text(digits, types.digits_possible(case.source.dtype))
    return f"{replayed_in(name)} {_shown(gradient, dtype)} to {agreement}.{proven}"


def _shown(gradient: Array, dtype: str) -> str:
    """Numbers that can be read are shown; of more, only that they are right."""
    if gradient.ndim > 1:
        return f"the proven gradient in {dtype}"
    return f"{words.array_text(gradient, dtype)} in {dtype}, the proven value"
