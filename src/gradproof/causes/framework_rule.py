"""The framework's own rule for an op, or its implementation, is not right here.

What it finds
    A wrong gradient that no code of the user's explains: the rule of one op returns something else than the
    derivative of that op, in exact arithmetic and on the very inputs it had; or several rules that each choose a side
    at the same tie choose sides that do not go together; or an op returned a number that is far from its exact value,
    beyond anything that rounding can do; or a function of the library holds an inner value constant by
    `stop_gradient`, which is proven to change no first derivative, and a second one is taken.

Why it spoils a gradient
    The chain rule multiplies what the rules return. A fault in one of them reaches every gradient that passes
    through it, whatever is done before or after.

Example
    merged = tf.dynamic_stitch([[0, 1], [1, 2]], [left, right])     # gradient also for the overwritten entry

Write instead
    an equivalent form that does not use the op at this point, or a custom gradient around it

Stays silent when
    a custom gradient of the user is what is wrong; or
    rounding explains the difference; or
    the function has no derivative at this point, so that no rule could be right.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.causes._evidence import comparison_rows, number_at, proven_text, subject, worst
from gradproof.causes._labels import NO_SUM, SUM_TO_1, of_labels, sum_of_labels
from gradproof.causes._mistakes import entry, say
from gradproof.causes._mixed_rows import mixed_rows
from gradproof.causes._past_the_end import past_the_end
from gradproof.causes._raised import raised_by_rule
from gradproof.causes._rounding import loss_of, proven_at, value_at
from gradproof.causes._unless_overwritten import unless_overwritten
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.hidden_stop import HiddenStop
from gradproof.diagnosis.loss import Loss
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.capture import Pullback, Scope
from gradproof.ir.program import descendants
from gradproof.judge.custom import CustomFault, LibraryFault
from gradproof.judge.verdict import Verdict


def find(case: Case) -> Iterator[Diagnostic]:
    rules = case.rules
    yield from raised_by_rule(case, "framework-rule")
    frozen = [one.scope for one in rules.suspicions if one.scope.library is not None]
    if frozen and case.verdict is Verdict.WRONG:
        yield _frozen(case, frozen[0])
    brought = [one for one in rules.mistakes if one.scope.library is not None and not one.mistake.is_intended]
    if brought:
        yield _brought_along(case, brought[0])
    # A rule that stands for a step in one of its gradients is meant as a whole.
    intended = {fault.departure.pullback.op for fault in rules.library_faults if fault.is_intended}
    faults = [fault for fault in rules.library_faults if fault.departure.pullback.op not in intended]
    tied = list(_tied(case)) if faults and all(_is_at_tie(case, fault) for fault in faults) else []
    if faults:
        yield tied[0] if tied else past_the_end(case, faults[0], _wrong_rule(case, faults[0]))
    elif rules.hidden_stop is not None and rules.hidden_stop.is_neutral:
        yield _hidden_stop(case, rules.hidden_stop)
    elif case.verdict is Verdict.WRONG and case.has_no_culprit:
        boundless = [_boundless(case, rule) for rule in rules.boundless_rules[:1]]
        yield from boundless or (*mixed_rows(case), *_partial(case), *_tied(case))[:1]
    loss = loss_of(case, "framework-rule")
    if loss is not None:
        yield _wrong_value(case, loss)


def _wrong_rule(case: Case, fault: LibraryFault) -> Diagnostic:
    departure = fault.departure
    pullback, framework = departure.pullback, words.framework_name(case.capture.framework)
    sums = sum_of_labels(case, pullback)
    label = f"the rule of {pullback.op} is wrong here" if sums is None else NO_SUM
    off = np.abs(departure.meant.mid - departure.true.mid)
    worst = np.unravel_index(int(np.argmax(off)), off.shape)
    parts = (departure.meant, departure.true)
    returned, right = (words.significant(part.mid[worst].item(), 10) for part in parts)
    how = (
        "The op itself, run again beside these inputs, has another slope: the rule returned "
        if departure.is_measured
        else "In exact arithmetic, without any rounding, it returns "
    )
    return Diagnostic(
        kind="framework-rule",
        severity="error",
        certainty="measured" if departure.is_measured else "proven",
        headline=of_labels(pullback.op, sums)
        or f"{framework}'s own gradient of `{pullback.op}` is not its derivative here",
        primary=annotated(pullback.span, label),
        subject=subject(case),
        evidence=(*comparison_rows(case), ("rule alone", returned), ("derivative", right)),
        why=(
            f"{framework} differentiates `{pullback.op}` with a rule of its own. That rule was tried alone, with the "
            f"inputs and the incoming gradient it had. {how}"
            f"{returned} where the derivative is {right}. More precision does not help."
        ),
        fix=Fix(
            (sums and SUM_TO_1) or f"write this step without `{pullback.op}`, or give it a custom gradient"
        ),
        op=pullback.op,
    )


def _brought_along(case: Case, fault: CustomFault) -> Diagnostic:
    """A custom gradient that a library was written with."""
    scope, mistake = fault.scope, fault.mistake
    said = say(case, mistake)
    returned, right = (entry(part, mistake.worst) for part in (mistake.meant, mistake.true))
    return Diagnostic(
        kind="framework-rule",
        severity="error",
        certainty="proven",
        headline=f"the gradient that `{scope.library}` brings along for `{scope.name}` {said.fault}",
        primary=annotated(scope.used_at, f"the rule of {scope.name} is wrong here"),
        subject=subject(case),
        evidence=(*comparison_rows(case), ("rule alone", returned), ("derivative", right)),
        why=said.why,
        fix=Fix(
            f"do without `{scope.name}`, or give the same step a gradient of your own; tell `{scope.library}`"
        ),
        op=scope.name,
    )


def _frozen(case: Case, scope: Scope) -> Diagnostic:
    """A custom gradient of a library that returns the derivative in a way that cannot be differentiated again."""
    return Diagnostic(
        kind="framework-rule",
        severity="error",
        certainty="proven",
        headline=f"the gradient that `{scope.library}` brings along for `{scope.name}` has a wrong derivative itself",
        primary=annotated(scope.used_at, f"calls {scope.name}"),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            "This derivative is differentiated once more. The rule returns the right number, but part of it does not "
            "move with the inputs, and the second derivative lacks what that part would have contributed."
        ),
        fix=Fix(f"write this step with plain ops instead of `{scope.name}`; tell `{scope.library}`"),
        op=scope.name,
    )


def _hidden_stop(case: Case, stop: HiddenStop) -> Diagnostic:
    free = proven_text(case, worst(case))
    return Diagnostic(
        kind="framework-rule",
        severity="error",
        certainty="proven",
        headline=f"a `stop_gradient` hidden in `{stop.function}` leaves terms out of this second derivative",
        primary=annotated(stop.span, f"leads to `{stop.function}`"),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"`{stop.function}` holds an inner value constant. To first order that is harmless: the gradient that "
            "would pass there is proven to be zero, at this point and near it. Here such a gradient is "
            "differentiated once more, and what the inner value contributes to that is missing. More precision does "
            "not help."
        ),
        fix=Fix(
            f"write this step with plain ops instead of `{stop.function}`, so that every term is differentiated",
            checked=f"without that `stop_gradient` the ops that ran have the exact derivative {free}",
        ),
        op="stop_gradient",
    )


def _is_at_tie(case: Case, fault: LibraryFault) -> bool:
    """Whether the op is alone without a derivative, as `abs` of 0, and only the whole has one."""
    reference, program = case.judgement.reference, case.capture.program
    sides, span = None if reference is None else reference.sides, fault.departure.pullback.span
    if sides is None or program is None or sides.fact != "agree":
        return False
    return any(program[id].span == span for id in sides.ties)


def _boundless(case: Case, rule: Pullback) -> Diagnostic:
    """The op alone has an infinite slope, and the framework put a number in its place."""
    framework = words.framework_name(case.capture.framework)
    return Diagnostic(
        kind="framework-rule",
        severity="error",
        certainty="proven",
        headline=f"{framework} drops the infinite slopes of {rule.op}, and with them a part of the gradient",
        primary=annotated(rule.span, "has infinite slopes at this point"),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"Taken alone, a result of {rule.op} has no bounded derivative at this point, as eigenvectors of equal "
            f"eigenvalues have none. {framework} returns other numbers for the infinite slopes. In the whole "
            "computation the infinite parts cancel and leave a finite one, which is lost in this way."
        ),
        fix=Fix(
            "compute what is needed without the singular intermediate result, or give the whole step a custom gradient"
        ),
        op=rule.op,
    )


def _partial(case: Case) -> Iterator[Diagnostic]:
    """A rule gives no gradient to one of its inputs, which then counts as a constant."""
    program, source = case.capture.program, case.source.node
    if program is None or source is None:
        return
    reached = descendants(program, [source], beyond={n.id for n in program.nodes if n.op == "stop_gradient"})
    framework = words.framework_name(case.capture.framework)
    for rule in case.capture.rules.pullbacks:
        for k, (id, result) in enumerate(zip(rule.inputs, rule.results)):
            if result is None and id in reached and rule.span is not None and program[id].scope is None:
                yield Diagnostic(
                    kind="framework-rule",
                    severity="error",
                    certainty="measured",
                    headline=f"{framework} has no gradient of {rule.op} for its {words.ordinal(k + 1)} argument",
                    primary=Annotation(rule.span, "counts as a constant of this argument"),
                    subject=subject(case),
                    evidence=comparison_rows(case),
                    why=(
                        f"{rule.op} depends on `{case.source.name}` by its {words.ordinal(k + 1)} argument too. The "
                        f"rule of {framework} returns nothing for it, so that this part of the gradient is left out."
                    ),
                    fix=Fix(f"keep that argument constant, or give {rule.op} a custom gradient"),
                    op=rule.op,
                )


def _tied(case: Case) -> Iterator[Diagnostic]:
    """Every rule follows its convention at a tie, and what they add up to is the slope of no side."""
    reference, program, source = case.judgement.reference, case.capture.program, case.source.node
    sides = None if reference is None else reference.sides
    if sides is None or sides.fact != "agree" or program is None or source is None:
        return
    reached = descendants(program, [source])
    tied = [id for id in sides.ties if any(x in reached for x in program[id].inputs)]
    span = next((program[id].span for id in tied if program[id].span is not None), None)
    if span is None:
        return
    framework = words.framework_name(case.capture.framework)
    yield Diagnostic(
        kind="framework-rule",
        severity="error",
        certainty="proven",
        headline=f"{framework}'s gradient mixes the two sides of a tie, and belongs to neither",
        primary=Annotation(span, f"{words.count(len(tied), 'comparison')} of equal numbers"),
        subject=subject(case),
        evidence=(*comparison_rows(case), ("both sides", "have the proven slope")),
        why=(
            "At this point numbers are compared that are exactly equal. The function has the same slope on both "
            "sides, so it has a derivative. Going backward, every op decides on its own to which side an equal "
            "number belongs, and these choices add up to a slope that no side has."
        ),
        fix=Fix("write the two sides as one `where` on the result, so that only one of them is counted"),
        op=program[tied[0]].op,
    )


def _wrong_value(case: Case, loss: Loss) -> Diagnostic:
    node, framework = loss.origin, words.framework_name(case.capture.framework)
    name = "compiled function" if node.op == "identity" else f"`{node.op}`"
    called = f"a {name}" if node.op == "identity" else f"the function {name}"
    value = number_at(node.value, loss.index)
    true = proven_at(case, node, loss.index) or words.significant(
        value - number_at(case.rounding.local_errors[node.id], loss.index), 7
    )
    return Diagnostic(
        kind="framework-rule",
        severity="error",
        certainty="proven",
        headline=f"{framework}'s {name} returns {words.significant(value, 3)}, and the exact value is {_short(true)}",
        primary=annotated(node.span, "needs this function in its gradient"),
        subject=subject(case),
        evidence=(*comparison_rows(case), ("computed", value_at(case, node, loss.index)), ("exact", true)),
        why=(
            f"The gradient of this line calls {called}. On the very numbers it was given, {framework} "
            "returns something that no rounding can explain: the implementation of the function is wrong for them."
        ),
        fix=Fix("compute this step in float64 and compare, or rewrite it with functions that are right here"),
        op=node.op,
        share=loss.share,
    )


def _short(text: str) -> str:
    try:
        return words.significant(float(text), 4)
    except ValueError:
        return text


ON = (Occasion.MISSING, Occasion.RULE, Occasion.WRONG, Occasion.INACCURATE)
CAUSE = Cause(name="framework-rule", find=unless_overwritten(find), doc=__doc__ or "", on=ON)
