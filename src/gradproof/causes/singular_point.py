"""A slope on the path is infinite at this very point.

What it finds
    A square root, norm or power at zero, an arc cosine at 1, a logarithm at zero, or any op whose slope has no bound
    at its argument, where the gradient passes through it.

Why it spoils a gradient
    The chain rule multiplies by that slope. The product is infinite, or NaN where the other factor is zero, even if
    the function as a whole is smooth there, as the square of a norm is.

Example
    distance = np.sqrt(np.sum((x - y) ** 2))    # x equal to y: 0 * inf = NaN

Write instead
    distance = np.sqrt(np.sum((x - y) ** 2) + width**2)     # or the squared distance, where that will do

Stays silent when
    the slope is large but finite; or
    the branch it stands in was not selected: that is masked-branch; or
    the argument is where it is only by rounding: that is underflow, cancellation or absorption.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gradproof.causes._evidence import Rows, subject
from gradproof.causes._missing import broken
from gradproof.causes._missing import diagnose as told
from gradproof.causes._nonfinite import diagnose, line_of, nonfinite_of, returned_rows, way_row
from gradproof.causes._places import capital, forward_op, number_at, op_words, slope_words, spoken
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, Severity, annotated
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.diagnosis.flow import Place
from gradproof.diagnosis.occasion import Occasion
from gradproof.diagnosis.words import number
from gradproof.ir.program import Node, Program
from gradproof.judge.verdict import Verdict

_FIX = "keep the argument away from this point: add a small constant inside, or use the square"
# What no single number shows: where the vectors of a decomposition are none in particular.
_EQUAL = {"eigh": "equal eigenvalues", "eig": "equal eigenvalues", "svd": "equal or zero singular values"}
# Slopes that stay bounded and tend to another number from every side, as around the tip of a cone.
_CONES = frozenset({"hypot"})
_FIX_EQUAL = (
    "keep the matrix away from this point, or use only what does not depend on which vectors are chosen"
)


def find(case: Case) -> Iterator[Diagnostic]:
    stopped = broken(case, "singular-point")
    if stopped is not None:
        yield from told(case, stopped, headline="", why="", fix=None)
        return
    found = nonfinite_of(case, "singular-point")
    if case.stands_alone:
        return  # that is invalid-domain
    if found is not None:
        yield from _smooth_as_a_whole(case, found)
    elif case.verdict is Verdict.UNDEFINED and case.irregular.singular is not None and not case.lacks_a_value:
        yield from _singular(case)
    elif case.verdict is Verdict.UNDEFINED and case.irregular.singular is None:
        yield from _guarded(case)
    elif case.verdict is Verdict.UNVERIFIED and not case.lacks_a_value:
        yield from _not_decided(case)


def _guarded(case: Case) -> Iterator[Diagnostic]:
    """The code for this one point is harmless, and so is all that ran; what would run beside it is not."""
    reference = case.judgement.reference
    if (
        reference is None
        or reference.limit is None
        or reference.limit.kind != "unbounded"
        or reference.sides is None
    ):
        return
    program = reference.run.program
    guard = next((program[id] for id in reference.sides.ties if program[id].span is not None), None)
    if guard is None or guard.span is None:
        return
    index = _entry(case)
    yield Diagnostic(
        kind="singular-point",
        severity="warning",
        certainty="proven",
        headline=f"`{case.capture.target}` has no derivative here: beside this point its slope grows without bound",
        primary=Annotation(guard.span, "a special case for this one point"),
        subject=subject(case, index),
        evidence=(*returned_rows(case, index), *_behaviour(case)),
        why=(
            f"{capital(line_of(guard.span))} has a value of its own for this one point. Towards it the slope of the "
            "function grows without bound. What was returned is the slope of the code for this one point, and no "
            "derivative."
        ),
        fix=Fix(_FIX),
        op=guard.op,
    )


def _smooth_as_a_whole(case: Case, found: Nonfinite) -> Iterator[Diagnostic]:
    """The function has a derivative, and its formula leads through an infinite slope."""
    yield from _infinite_slope(
        case,
        found,
        "though `{target}` is smooth",
        "As a whole `{target}` has a derivative here. Its formula goes through {op}, whose slope is infinite at this "
        "point ({line}), and multiplies that by a factor that is zero. Infinity times zero is NaN.",
        Fix("write the formula without this op, or keep its argument away from this point"),
    )


def _not_decided(case: Case) -> Iterator[Diagnostic]:
    """The run shows the infinite slope; whether the function as a whole has a derivative is not known."""
    found = case.irregular.nonfinite
    if found is None or found.kind != "singular-point":
        return
    yield from _infinite_slope(
        case,
        found,
        "and the gradient is NaN or infinite by it",
        "{Line} computes {op} {at}, where its slope is infinite, and the chain rule multiplies by it. Whether "
        "`{target}` as a whole has a derivative at this point could not be decided.",
        _fix(forward_op(found.program, found.origin)),
    )


def _infinite_slope(case: Case, found: Nonfinite, but: str, why: str, fix: Fix) -> Iterator[Diagnostic]:
    node = forward_op(found.program, found.origin)
    argument = _argument(found, node)
    at = "here" if argument is None else _at(case, found.program, node, argument)
    line, op = line_of(node.span), op_words(node)
    told = {"target": case.capture.target, "op": op, "at": at, "line": line, "Line": capital(line)}
    yield from diagnose(
        case,
        found,
        Place(node.id, found.trail[0].index),
        headline=f"{op} has an infinite slope {at}, {but.format(**told)}",
        label=f"{slope_words(node)} is infinite {at}",
        rows=way_row(found),
        why=why.format(**told),
        fix=fix,
    )


def _argument(found: Nonfinite, node: Node) -> Place | None:
    program = found.program
    if found.culprit is None or not node.inputs or node.id == found.origin.id:
        return found.culprit
    id, index = node.inputs[0], found.trail[0].index
    return Place(id, index) if program[id].shape == program[found.trail[0].id].shape else found.culprit


def _singular(case: Case) -> Iterator[Diagnostic]:
    assert case.irregular.singular is not None and case.judgement.reference is not None
    program = case.judgement.reference.run.program
    node = program[case.irregular.singular.node]
    is_beside = case.irregular.singular.is_beside
    at = "beside this point" if is_beside else _at(case, program, node, case.irregular.singular.operand)
    index = _entry(case)
    yield Diagnostic(
        kind="singular-point",
        severity=_severity(case.irregular.nonfinite, node),
        certainty="proven",
        headline=f"`{case.capture.target}` has no derivative here: {op_words(node)} has {_slope(node)}",
        primary=annotated(
            node.span,
            f"{_slope(node)} {at}" if node.op in _CONES else f"{slope_words(node)} is infinite {at}",
        ),
        subject=subject(case, index),
        evidence=(
            *returned_rows(case, index),
            *_behaviour(case),
            *(() if case.irregular.nonfinite is None else way_row(case.irregular.nonfinite)),
        ),
        why=_why(case, program, node, at),
        fix=_fix(node),
        op=node.op,
    )


def _slope(node: Node) -> str:
    return "another slope on each side" if node.op in _CONES else "an infinite slope"


def _severity(found: Nonfinite | None, node: Node) -> Severity:
    """A branch that is not selected and sends NaN is the fault; that there is no derivative comes on top of it.

    Where both are told of one op they are one thing to fix.
    """
    if found is None:
        return "warning"
    if found.kind != "masked-branch":
        return "error"
    return "note" if forward_op(found.program, found.origin).span == node.span else "warning"


def _entry(case: Case) -> tuple[int, ...]:
    """One that became NaN or infinite, or else the first that has no derivative: others may have one."""
    if case.irregular.nonfinite is not None:
        return case.irregular.nonfinite.trail[-1].index
    found = case.judgement.enclosure
    lacking = np.argwhere(~np.isfinite(found.rad)) if found is not None else np.empty((0, 0))
    return tuple(map(int, lacking[0])) if len(lacking) else (0,) * len(case.source.shape)


def _behaviour(case: Case) -> Rows:
    reason, sides = case.judgement.reason, case.judgement.one_sided
    if sides is not None and sides[0].shape == ():
        return tuple(
            (label, f"slope {number(side)}") for label, side in zip(("from below", "from above"), sides)
        )
    return () if reason is None else (("nearby", reason),)


def _why(case: Case, program: Program, node: Node, at: str) -> str:
    assert case.irregular.singular is not None
    if case.irregular.singular.is_beside:
        return (
            f"{capital(line_of(node.span))} has a special case for this point. Just beside it {op_words(node)} is "
            "computed where its slope is infinite. What was returned is the slope of the code for this point alone, "
            "and no derivative."
        )
    is_number = node.op not in _EQUAL
    there = (
        f"for an argument of {number_at(program, case.irregular.singular.operand)}" if is_number else "there"
    )
    there_is = "its slope is infinite" if node.op not in _CONES else f"it has {_slope(node)}"
    first = f"{capital(line_of(node.span))} computes {op_words(node)} {at}, where {there_is}. "
    if case.irregular.nonfinite is not None and node.op in _CONES:
        return f"{first}Its formula divides 0 by 0 there, and the chain rule goes on with the NaN."
    if case.irregular.nonfinite is not None:
        return (
            f"{first}The chain rule multiplies by it all the same, and the gradient becomes infinite or NaN."
        )
    return f"{first}What was returned {there} is a convention, and no derivative."


def _at(case: Case, program: Program, node: Node, argument: Place) -> str:
    return f"at {_EQUAL.get(node.op) or spoken(case, program, argument)}"


def _fix(node: Node) -> Fix:
    return Fix(_FIX_EQUAL if node.op in _EQUAL else _FIX)


ON = (Occasion.MISSING, Occasion.NONFINITE, Occasion.UNDEFINED, Occasion.UNVERIFIED)
CAUSE = Cause(name="singular-point", find=find, doc=__doc__ or "", on=ON)
