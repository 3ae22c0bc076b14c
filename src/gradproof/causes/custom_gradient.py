"""A gradient written by hand is not the derivative of the function it belongs to.

What it finds
    A rule of a custom gradient, or a gradient function passed to `check`, that returns something else than the
    derivative of its forward, in exact arithmetic and at the very point where the program used it. Which mistake it
    is follows from trying the rule at other points and with other incoming gradients: a wrong sign, a constant
    factor, a term or a factor left out or too many, transposed, arguments exchanged, copies of a broadcast not
    summed, the incoming gradient ignored or not used linearly, one branch or some entries wrong, a finite
    difference.

Why it spoils a gradient
    The chain rule multiplies the slopes of all steps. The framework trusts a rule that the user wrote and never
    compares it with the forward, so one wrong rule makes the gradient of everything before it wrong.

Example
    @tf.custom_gradient
    def square(x):
        def backward(upstream):
            return 2.0 * x          # forgets `upstream`
        return x * x, backward

Write instead
    def backward(upstream):
        return upstream * 2.0 * x

Stays silent when
    the rule is the derivative, however unusual it looks; or
    only rounding parts them; or
    the deviation looks intended: an identity for a rounding step, a reversed, scaled or clipped gradient. Those are
    named straight-through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gradproof.causes._changed_gradient import changes_what_it_is_given
from gradproof.causes._evidence import Rows, comparison_rows, subject
from gradproof.causes._misfit import called, misfits, none_for_argument
from gradproof.causes._mistakes import Said, entry, op_span, say
from gradproof.causes._raised import raised_by_rule
from gradproof.causes._remedied import remedied
from gradproof.causes._rounding import loss_of
from gradproof.causes._source import none_returned
from gradproof.causes._unheard_rules import unheard, without_history
from gradproof.causes._unless_overwritten import unless_overwritten
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.loss import Loss, custom_scope
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir import types
from gradproof.ir.span import Span
from gradproof.judge.custom import CustomFault
from gradproof.judge.suspicion import Suspicion
from gradproof.judge.verdict import Verdict

_WITHOUT_ADVICE = ("entries", "other", "not linear")  # the derivative itself says more than words could
_MEASURED = (
    "The forward has no exact meaning here. It was run again beside the inputs it had, and its slope there is another "
    "than the one the rule returned."
)


def find(case: Case) -> Iterator[Diagnostic]:
    yield from raised_by_rule(case, "custom-gradient")
    yield from none_for_argument(case)
    seen: set[tuple[str, str]] = set()
    for fault in case.rules.mistakes:
        key = fault.scope.name, fault.mistake.kind
        if not fault.mistake.is_intended and key not in seen and fault.scope.library is None:
            seen.add(key)  # a rule that is used in a loop has one mistake, not one per step
            yield _diagnose(case, fault)
    if not case.rules.mistakes:
        yield from misfits(case)
        yield from changes_what_it_is_given(case)
    loss = loss_of(case, "custom-gradient")
    if loss is not None:
        yield _narrow(case, loss)
    if case.source.missing is None or case.source.missing.kind == "not-connected":
        found = case.rules.suspicions or tuple(without_history(case))
        yield from (_suspected(case, suspicion) for suspicion in _once(found))
        yield from unheard(case)


def _narrow(case: Case, loss: Loss) -> Diagnostic:
    scope = custom_scope(case, loss.origin)
    assert scope is not None
    narrow, wanted = loss.origin.dtype, case.source.dtype
    digits = round(types.digits_possible(narrow))
    return Diagnostic(
        kind="custom-gradient",
        severity="error",
        certainty="proven",
        headline=f"{called(scope)} computes in {narrow}, not in {wanted}",
        primary=annotated(loss.origin.span, f"{digits} digits from here on"),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"The rule turns a {wanted} into a {narrow}, which holds {digits} digits. The formula is right, but the "
            "digits that are cut off here do not come back."
        ),
        fix=Fix(f"compute the rule in {wanted}, the dtype of what it is the gradient for"),
        op=scope.name,
        share=loss.share,
    )


def _once(found: Iterable[Suspicion]) -> Iterator[Suspicion]:  # a rule in a loop is one rule
    yield from {(one.scope.name, one.kind): one for one in found if one.scope.library is None}.values()


def _suspected(case: Case, suspicion: Suspicion) -> Diagnostic:
    scope = suspicion.scope
    span = scope.rule_at or scope.defined_at or scope.used_at
    if suspicion.kind == "off by a little":
        size = words.significant(suspicion.relative, 2)
        fault, label = (
            f"is off by {size} of its size",
            f"not the derivative: {size} of it is missing or too much",
        )
        why = (
            f"In exact arithmetic the formula of the rule and the derivative differ by {size} of the largest entry. "
            f"Here the rounding of {case.source.dtype} hides it, and the gradient is right to its digits. In a wider "
            "dtype, at other inputs or after many steps it shows."
        )
        fix = "return the exact derivative of the forward"
    elif suspicion.kind == "ignores upstream":
        fault = "ignores the gradient that comes in"
        why = "A rule has to multiply the gradient that comes in with its own slope. This one returns the slope alone"
        if case.verdict is Verdict.CORRECT:
            label = "right only because 1 comes in"
            why += ". Here 1 comes in and the result is right; wherever something else does, it is wrong."
        else:
            label = "the slope alone"
            why += ", and what is computed behind it is lost. Here something else than 1 comes in."
        fix = "multiply by the gradient that comes in"
    else:
        fault, label = "is right, but its own derivative is not", "does not move with the inputs"
        why = (
            "This derivative is differentiated once more. The rule returns the right number, but part of it is a "
            "constant: a plain number, or something behind `stop_gradient`. The second derivative lacks what that "
            "part would have contributed."
        )
        fix = "compute the slope inside the rule from the inputs, with ops that can be differentiated"
    return Diagnostic(
        kind="custom-gradient",
        severity="warning" if case.verdict is Verdict.CORRECT else "error",
        certainty="proven",
        headline=f"{called(scope)} {fault}",
        primary=annotated(span, label),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=why,
        fix=Fix(fix) if case.remedy.rule_fix is None else replace(case.remedy.rule_fix, text=fix),
        op=scope.name,
    )


def _diagnose(case: Case, fault: CustomFault) -> Diagnostic:
    said, span = say(case, fault.mistake), rule_span(case, fault)
    if fault.mistake.is_measured:
        said = replace(said, why=_MEASURED)
    return Diagnostic(
        kind="custom-gradient",
        severity="error",
        certainty="measured" if fault.mistake.is_measured else "proven",
        headline=f"{called(fault.scope)} {said.fault}",
        primary=annotated(span, said.label or _numbers(fault)),
        secondary=tuple(_secondary(case, fault, span)),
        subject=subject(case),
        evidence=(*comparison_rows(case), *_rows(case, fault)),
        why=said.why,
        fix=_fix(case, fault, said, span),
        op=fault.scope.name,
    )


def rule_span(case: Case, fault: CustomFault) -> Span | None:
    """Where the rule computed its result, or wrote None; without that, where the rule or its function is defined."""
    result = fault.mistake.rule.results[fault.mistake.input]
    node = None if result is None else fault.mistake.rule.program[result]
    scope, rule = fault.scope, fault.mistake.rule
    # What the rule only hands on was computed by the forward, which is not to blame for it.
    given = {*rule.inputs, *rule.upstream, *(one.id for one in rule.forward.nodes)}
    if node is not None and node.span is not None and node.id not in given:
        inside = scope.defined_at is None or node.span.file == scope.defined_at.file
        # A rule that is run as one step has the line of what uses the function.
        if inside and node.span not in (case.capture.call, scope.used_at):
            return node.span
    written = none_returned(case, scope.rule_at, fault.mistake.input) if result is None else None
    return written or scope.rule_at or scope.defined_at or scope.used_at


def _numbers(fault: CustomFault) -> str:
    mistake = fault.mistake
    return f"{entry(mistake.meant, mistake.worst)}; the derivative is {entry(mistake.true, mistake.worst)}"


def _secondary(case: Case, fault: CustomFault, primary: Span | None) -> Iterator[Annotation]:
    about = op_span(case, fault.mistake)
    output = case.node(fault.mistake.rule.outputs[0])
    while output.op == "identity":  # frameworks hand copies on; the line of interest is that of the op
        output = case.node(output.inputs[0])
    label = {"branch": "decides here", "missing term": "the way that is left out"}.get(
        fault.mistake.kind, "the slope that is left out"
    )
    if about is not None and about != primary:
        yield Annotation(about, label)
    if output.span is not None and output.span not in (primary, about) and fault.scope.upstream:
        yield Annotation(output.span, "the forward")


def _rows(case: Case, fault: CustomFault) -> Rows:
    mistake, rule = fault.mistake, fault.mistake.rule
    rows = []
    # Where nothing comes after the rule, what it returned is the gradient itself and already shown.
    if rule.has_upstream and rule.results[mistake.input] != case.source.recorded:
        up = rule.here.upstream[0]
        if up.size == 1:
            rows.append(("comes in", words.significant(up.item(), 10)))
        rows.append(("rule alone", entry(mistake.meant, mistake.worst)))
        rows.append(("derivative", entry(mistake.true, mistake.worst)))
    if mistake.kind == "finite difference":
        rows.append(("difference", _prediction(fault)))
    return tuple(rows)


def _prediction(fault: CustomFault) -> str:
    numbers = fault.mistake.numbers
    law = "step^2/6 * y'''" if fault.mistake.detail == "central" else "step/2 * y''"
    step = words.significant(numbers["step"], 4).removesuffix(".0")
    observed, predicted = (words.significant(numbers[key], 4) for key in ("difference", "predicted"))
    return f"{observed}; a step of {step} predicts {law} = {predicted}"


def _fix(case: Case, fault: CustomFault, said: Said, span: Span | None) -> Fix:
    """The derivative that was found and run belongs to the first mistake; others have their own words."""
    first = next(one for one in case.rules.mistakes if not one.mistake.is_intended)
    if case.remedy.rule_fix is not None and fault is first:
        return (
            case.remedy.rule_fix
            if fault.mistake.kind in _WITHOUT_ADVICE
            else replace(case.remedy.rule_fix, text=said.fix)
        )
    return remedied(case, fault, said, span)


ON = (Occasion.MISSING, Occasion.RULE, Occasion.INACCURATE)
CAUSE = Cause(name="custom-gradient", find=unless_overwritten(find), doc=__doc__ or "", on=ON)
