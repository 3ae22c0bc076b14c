"""A function was asked outside the numbers for which it is defined.

What it finds
    A logarithm or square root of a negative number, an arc cosine beyond 1, a power of a negative base, or any
    other op without a real value at its argument, where the target or its gradient depends on it; and data or
    parameters that are NaN or infinite themselves.

Why it spoils a gradient
    Where a function has no value it has no slope. Frameworks return NaN, and everything computed from NaN is NaN;
    or they return a number all the same, which then is the slope of nothing.

Example
    cosine = np.sum(u * v) / (norm(u) * norm(v))    # 1.0000001 after rounding
    angle = np.arccos(cosine)                       # NaN

Write instead
    angle = np.arctan2(norm(np.cross(u, v)), np.sum(u * v))

Stays silent when
    the op is asked at the end of its domain and not beyond it: that is singular-point; or
    the branch it stands in was not selected: that is masked-branch; or
    its result does not reach the target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from gradproof.causes._evidence import Rows, observed_text, subject
from gradproof.causes._indefinite import indefinite, rounded_indefinite
from gradproof.causes._nonfinite import diagnose, line_of, nonfinite_of, returned_rows, way_row
from gradproof.causes._past_the_end import nan_past_the_end
from gradproof.causes._places import capital, forward_op, name_of, number_at, op_words, spoken
from gradproof.causes._rounding import proven_ball
from gradproof.causes._too_few import of_too_few
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.exact_entry import culprit_of, exact_entry
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.diagnosis.flow import Place, value_at
from gradproof.diagnosis.occasion import Occasion
from gradproof.diagnosis.singular import Singular
from gradproof.ir.program import Node, Program
from gradproof.judge.unknown import nan_chosen
from gradproof.judge.verdict import Verdict

_FIX_DATA = "look where the number comes from: a gap in the data, or an update with a gradient like this one"
_FIX_MASK = (
    "write a large number in the place of the infinity, such as {number}: beside others it weighs nothing either, and "
    "a row that holds nothing else has a value"
)
_FIX_TRAINED = (
    "look for the earlier step that made it so (`--checks all` looks at every one): a smaller learning rate, or "
    "clipped gradients, keep the weights finite"
)


def find(case: Case) -> Iterator[Diagnostic]:
    found = nonfinite_of(case, "invalid-domain") or (
        case.irregular.nonfinite if case.verdict is Verdict.UNVERIFIED else None
    )
    if found is not None and found.origin.op in ("input", "constant"):
        yield from _from_the_data(case, found)
    elif found is not None and found.kind == "invalid-domain":
        yield from rounded_indefinite(case, found) or _from_the_run(case, found)
    elif case.stands_alone and case.irregular.singular is not None:
        yield from _beside(case, case.irregular.singular)
    elif case.verdict is Verdict.UNDEFINED and (choice := _nan_chosen(case)) is not None:
        yield nan_past_the_end(case, choice, _from_a_choice(case, choice))
    elif case.lacks_a_value and case.verdict in (Verdict.UNVERIFIED, Verdict.UNDEFINED):
        yield from _from_exact_arithmetic(case)


def _from_the_run(case: Case, found: Nonfinite) -> Iterator[Diagnostic]:
    node = found.origin
    op = forward_op(found.program, node)
    argument = found.culprit
    at = "here" if argument is None else f"at {spoken(case, found.program, argument)}"
    rows = () if argument is None else _argument_row(case, found, argument)
    why = (
        f"{capital(line_of(node.span))} asks {op_words(op)} for a value {at}, where it has none. The result is "
        f"{_value_of(found)}, and spoils everything computed from it, up to the gradient."
    )
    if rows:
        why += " In exact arithmetic the argument is inside the domain: rounding before this line has moved it out."
    yield from diagnose(
        case,
        found,
        found.trail[0],
        headline=f"rounding moves the argument of {op_words(op)} out of its domain"
        if rows
        else f"{op_words(op)} has no finite value {at}",
        label=f"not defined {at}",
        rows=(*rows, *way_row(found)),
        why=why,
        fix=Fix("keep the argument inside the domain, or use a formula that does not cancel")
        if rows
        else Fix("keep the argument inside the domain, or use a function that is defined there"),
    )


def _value_of(found: Nonfinite) -> str:
    """`NaN` or `inf`: what the first bad number is, in a sentence."""
    return number_at(found.program, found.trail[0]).replace("nan", "NaN")


def _from_the_data(case: Case, found: Nonfinite) -> Iterator[Diagnostic]:
    """The number was NaN or infinite before anything was computed from it."""
    if len(found.trail) < 2 or not found.is_forward:  # what a rule puts in is the rule's
        return
    first, second = found.trail[0], found.trail[1]
    value, named = _value_of(found), name_of(case, found.program, first)
    node = found.program[second.id]
    what = f"`{named}`" if named is not None else "an input"
    entry = f" in entry {list(first.index)}" if named is None and first.index else ""
    is_trained = case.capture.run.occurrence > 1 and any(one.node == first.id for one in case.capture.sources)
    if _is_left_behind(case, found, first):
        shown = annotated(node.span, f"{value} comes in here{entry}")
        yield _from_an_earlier_step(case, f"{what} is {value}", shown)
        return
    yield from diagnose(
        # Without a value there is no true gradient to be shown.
        replace(
            case, remedy=replace(case.remedy, fix=None), judgement=replace(case.judgement, enclosure=None)
        ),
        replace(found, kind="invalid-domain"),
        second,
        headline=f"{what} is {value} before anything is computed from it",
        label=f"{value} comes in here{entry}",
        why=(
            f"No op of the program has made this {value}: {line_of(node.span)} was given it{entry}. Everything "
            "computed from it has no value either, up to the gradient."
        ),
        fix=Fix(_FIX_TRAINED if is_trained else _data_words(found, first)),
    )


def _data_words(found: Nonfinite, first: Place) -> str:
    """An infinity that is one number, and no entry of an array, was written to mask something."""
    node = found.program[first.id]
    if node.op != "constant" or node.shape or not np.isinf(np.asarray(node.value)).all():
        return _FIX_DATA
    return _FIX_MASK.format(number="-1e9" if np.asarray(node.value) < 0 else "1e9")


def _is_left_behind(case: Case, found: Nonfinite, first: Place) -> bool:
    """Whether an earlier gradient for the same thing had no numbers where it has none now.

    What has no name, and no number left in any entry, was computed from what such a step has spoilt; data has gaps.
    """
    history, value = case.capture.around.history, found.program[first.id].value
    names = dict(found.program.names) | {s.node: s.name for s in case.capture.sources if s.node is not None}
    if history is None or value is None:
        return False
    numbers = np.asarray(value)
    is_computed = first.id not in names and numbers.size > 1 and not np.isfinite(numbers).any()
    return any(is_computed or one.explains(names.get(first.id), numbers) for one in history.spoilt)


def _from_an_earlier_step(case: Case, what: str, primary: Annotation | None) -> Diagnostic:
    """What an update with NaN has left behind is no fault of its own."""
    return Diagnostic(
        kind="invalid-domain",
        severity="note",
        certainty="likely",
        headline=f"{what} since an earlier step, whose gradient was NaN or infinite and was applied",
        primary=primary,
        subject=subject(case),
        why=(
            "The earlier gradient is the fault to fix. What was updated with it holds no number any more, and every "
            "later gradient is computed from that."
        ),
    )


def _argument_row(case: Case, found: Nonfinite, argument: Place) -> Rows:
    """What the argument is without rounding, where that is another number and the function as a whole has a value."""
    exact = proven_ball(case, found.program[argument.id], argument.index)
    if exact is None or abs(exact[0] - value_at(found.program, argument)) <= exact[1]:
        return ()
    return (("argument", f"computed {number_at(found.program, argument)}, proven {words.number(*exact)}"),)


def _beside(case: Case, singular: Singular) -> Iterator[Diagnostic]:
    """There is a value at this very point, and none on any side of it."""
    assert case.judgement.reference is not None
    program, index = case.judgement.reference.run.program, (0,) * len(case.source.shape)
    node = program[singular.node]
    if node.span is None:
        return
    yield Diagnostic(
        kind="invalid-domain",
        severity="error",
        certainty="proven",
        headline=f"{op_words(node)} has a value at this point and none beside it, so there is no slope",
        primary=Annotation(node.span, f"not defined beside {spoken(case, program, singular.operand)}"),
        subject=subject(case, index),
        evidence=returned_rows(case, index),
        why=(
            f"{capital(line_of(node.span))} computes {op_words(node)} where it is a real number for single values of "
            f"`{case.source.name}` only. A slope compares neighbours, and there are none."
        ),
        fix=Fix("keep the argument inside the domain, or hold what has no neighbours fixed"),
        op=node.op,
    )


def _nan_chosen(case: Case) -> Node | None:
    program = case.capture.program
    choice = None if program is None else nan_chosen(program)
    return None if choice is None or choice.span is None else choice


def _from_a_choice(case: Case, choice: Node) -> Diagnostic:
    """Somebody has written NaN down for arguments like these, as a library does for a variance of one number."""
    assert choice.span is not None
    target, index = case.capture.target, (0,) * len(case.source.shape)
    return Diagnostic(
        kind="invalid-domain",
        severity="error",
        certainty="proven",
        headline=f"NaN is chosen for a value here, so `{target}` has no gradient",
        primary=Annotation(choice.span, "gives NaN for these arguments"),
        subject=subject(case, index),
        evidence=((words.framework_name(case.capture.framework), observed_text(case, index)),),
        why=(
            f"{capital(line_of(choice.span))} is written to give NaN for arguments like these: it is not defined for "
            f"them, as a variance is not for a single number. `{target}` is computed from it and has no value here, "
            "and a function without a value has no slope."
        ),
        fix=Fix("keep the arguments where the function is defined, or use one that is defined there"),
        op=choice.op,
    )


def _from_exact_arithmetic(case: Case) -> Iterator[Diagnostic]:
    """The target has no value at this point, or its slope is asked for where there are no values around."""
    reference = case.judgement.reference
    if not case.irregular.without_value or reference is None:
        return
    program = reference.run.program
    node = program[(place := _asked_in_vain(program, case.irregular.without_value)).id]
    argument = culprit_of(program, place)
    if node.span is None or node.op in ("input", "constant"):
        return
    at = "here" if argument is None else f"at {spoken(case, program, argument)}"
    index = (0,) * len(case.source.shape)
    found = Diagnostic(
        kind="invalid-domain",
        severity="error",
        certainty="proven",
        headline=f"{op_words(node)} has no value {at}, so `{case.capture.target}` has no gradient",
        primary=Annotation(node.span, f"not defined {at}"),
        subject=subject(case, index),
        evidence=((words.framework_name(case.capture.framework), observed_text(case, index)),),
        why=(
            f"{capital(line_of(node.span))} asks {op_words(node)} for a value {at}, where it has none among the real "
            "numbers. A function without a value has no slope. A number that is returned all the same comes from "
            "the formula of the slope, which does not know where its function ends."
        ),
        fix=Fix("keep the argument inside the domain, or use a function that is defined there"),
        op=node.op,
    )
    told = {"var": of_too_few, "cholesky": indefinite}.get(node.op)
    yield found if told is None else told(case, found, program, node, node.span)


def _asked_in_vain(program: Program, way: Sequence[Place]) -> Place:
    """The op that has no value at the very numbers it was given: before it a bound may have been lost at an edge."""
    exact = ((place, exact_entry(program, place)) for place in way)
    return next((place for place, one in exact if one is None or not one.is_defined), way[0])


ON = (Occasion.NONFINITE, Occasion.UNDEFINED, Occasion.UNVERIFIED)
CAUSE = Cause(name="invalid-domain", find=find, doc=__doc__ or "", on=ON)
