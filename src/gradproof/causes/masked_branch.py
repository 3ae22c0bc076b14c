"""A branch that was not selected sends NaN into the gradient.

What it finds
    A gradient that is NaN because an op in a branch whose result was dropped, sliced away or multiplied by zero has
    an infinite slope or no value, where the true gradient is finite.

Why it spoils a gradient
    Selecting picks a value after both branches were computed. Going backward, the dropped branch receives the
    gradient 0 and multiplies it by its own slope. If that is infinite or NaN, the product is NaN, not 0.

Example
    x = tf.Variable([4.0, 0.0])
    logs = tf.where(x > 0, tf.math.log(x), 0.0)     # gradient [0.25, nan]

Write instead
    safe = tf.where(x > 0, x, 1.0)                  # an input on which the dropped branch is harmless
    logs = tf.where(x > 0, tf.math.log(safe), 0.0)

Stays silent when
    the dropped branch is finite and has a finite slope; or
    the framework's rule returns 0 for an incoming gradient of 0, so that no NaN arises; or
    the branch that was taken has the infinite slope itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gradproof.causes._nonfinite import diagnose, nonfinite_of
from gradproof.causes._places import capital, forward_op, number_at, op_words, slope_words, spoken
from gradproof.causes._source import text_of
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.diagnosis.flow import Place, operand
from gradproof.diagnosis.occasion import Occasion
from gradproof.frameworks import framework
from gradproof.ir.program import Node

_WHERE_RULES = frozenset({"SelectV2", "Select", "select", "select_n"})
_WRITTEN = re.compile(r"^((?:\w+\.)*where)\s*\(")


def find(case: Case) -> Iterator[Diagnostic]:
    found = nonfinite_of(case, "masked-branch")
    if found is None or found.zero is None or found.meeting is None:
        return
    op = forward_op(found.program, found.origin)
    argument = _argument(found, op)
    yield from diagnose(
        case,
        found,
        Place(op.id, found.trail[0].index),
        headline=_headline(case, found),
        label=_label(case, found, op, argument),
        rows=(("made of", _made_of(found, op, argument)),),
        secondary=_dropped_at(found),
        why=_why(case, found, op, argument),
        fix=Fix(_fix(found, op)),
    )


def _argument(found: Nonfinite, op: Node) -> Place | None:
    """The number that the op of the branch was given, where it is an entrywise op of one argument that matters."""
    place = found.trail[0]
    if op.shape != found.program[place.id].shape or not op.inputs or op.op in ("mul", "add", "sub"):
        return found.culprit
    try:
        return operand(found.program, Place(op.id, place.index), 1 if op.op in ("div", "xdivy") else 0)
    except (IndexError, StopIteration):
        return found.culprit


def _chooser(case: Case, found: Nonfinite) -> str:
    """What drops the branch, by the user's name for it where the rule or the line tells; else empty."""
    assert found.zero is not None
    if found.zero.why != "not selected":
        return {"not used": "the slice", "multiplied by 0": "the mask"}[found.zero.why]
    node, where = found.zero.node, framework(case.capture.framework).where
    rules = {pullback.op for pullback in case.capture.rules.pullbacks if pullback.span == node.span}
    if rules & {*_WHERE_RULES, where} or (not rules and case.capture.framework == "numpy"):
        return f"`{where}`"
    written = _WRITTEN.search(text_of(case, node.span))
    return "" if written is None else f"`{written.group(1)}`"


def _is_cut_before(found: Nonfinite) -> bool:
    """Whether the zero is met further back, as that of a `relu` whose result the op was given."""
    assert found.zero is not None
    if found.is_forward or found.zero.why != "not selected":
        return False
    span = found.zero.node.span
    selected = [
        one.id for one in found.program.nodes if (one.op, one.phase, one.span) == ("select", "forward", span)
    ]
    # Some frameworks compute the slopes before they go backward: the order of the function itself tells.
    if len(selected) == 1:  # a library's ops all stand at the line that calls it
        return selected[-1] < forward_op(found.program, found.origin).id
    return found.zero.node.id > found.origin.id


def _headline(case: Case, found: Nonfinite) -> str:
    assert found.zero is not None
    if _is_cut_before(found):
        return "an infinite slope is multiplied by 0 in the backward pass, which leaves NaN"
    if found.zero.why == "multiplied by 0":
        return "multiplying by 0 does not remove the NaN from the gradient"
    chooser = _chooser(case, found)
    what = {
        "not used": "what is sliced away",
        "not selected": f"the branch that {chooser} throws away"
        if chooser
        else "the branch that is not chosen",
    }
    return f"{what[found.zero.why]} still sends NaN into the gradient"


def _label(case: Case, found: Nonfinite, op: Node, argument: Place | None) -> str:
    at = "here" if argument is None else f"at {spoken(case, found.program, argument)}"
    if found.exact is not None and found.exact.is_beyond(found.origin.dtype):
        return f"{found.exact.words} {at} is too large for {found.origin.dtype}"
    if found.is_forward:
        return f"{op_words(op).strip('`')} has no finite value {at}"
    return f"{slope_words(op)} is infinite {at}"


def _made_of(found: Nonfinite, op: Node, argument: Place | None) -> str:
    """`0 (not selected) * inf (slope of log at 0) = nan`."""
    assert found.zero is not None and found.meeting is not None
    at = "" if argument is None else f" at {number_at(found.program, argument)}"
    result = number_at(found.program, found.meeting)
    if found.meeting == found.trail[0] and found.culprit is not None:
        return f"0 ({found.zero.why}) / {number_at(found.program, found.culprit)} = {result}"
    bad = _bad_factor(found)
    kind = "result" if found.is_forward else "slope"
    name, value = op_words(op).strip("`"), number_at(found.program, bad)
    return f"0 ({found.zero.why}) * {value} ({kind} of {name}{at}) = {result}"


def _bad_factor(found: Nonfinite) -> Place:
    assert found.meeting is not None
    return found.trail[max(found.trail.index(found.meeting) - 1, 0)]


def _dropped_at(found: Nonfinite) -> tuple[Annotation, ...]:
    assert found.zero is not None
    labels = {
        "not selected": "its result is dropped here",
        "not used": "not used here",
        "multiplied by 0": "times 0 here",
    }
    if _is_cut_before(found):
        labels["not selected"] = "multiplies it by 0"
    span, own = found.zero.node.span, found.origin.span
    # On one line the underline of the branch says enough.
    if span is None or (own is not None and span.line == own.line):
        return ()
    return (Annotation(span, labels[found.zero.why]),)


def _why(case: Case, found: Nonfinite, op: Node, argument: Place | None) -> str:
    assert found.zero is not None
    chooser, name = _chooser(case, found), op_words(op)
    at = "" if argument is None else f" at {spoken(case, found.program, argument)}"
    value = number_at(found.program, _bad_factor(found))
    if _is_cut_before(found):
        return (
            f"{capital(name)} is computed{at}, where its slope is {value}. Its argument was cut off there, as by "
            f"`relu`, and so does not depend on anything: going backward, the slope is multiplied by 0. But 0 "
            f"times {value} is NaN."
        )
    first = {
        "not selected": f"{capital(chooser) or 'A choice between branches'} selects values, not computations. Going "
        f"forward, {name} is computed{at} and dropped.",
        "not used": f"A slice drops values, not computations. Going forward, {name} is computed{at} and not used.",
        "multiplied by 0": f"A mask of 0 removes numbers, but not NaN or infinity. {capital(name)} is "
        f"computed{at} all the same.",
    }[found.zero.why]
    if found.is_forward and found.zero.why == "multiplied by 0":
        return f"{first} Its result is {value}, and 0 times {value} is NaN."
    second = "its own result" if found.is_forward else "its own slope"
    met = f"There that is {value}, and 0 times {value} is NaN."
    if found.meeting == found.trail[0]:
        met = "There the divisor is 0 as well, and 0 / 0 is NaN."
    return f"{first} Going backward, it receives gradient 0 and multiplies it by {second}. {met}"


def _fix(found: Nonfinite, op: Node) -> str:
    assert found.zero is not None
    if _is_cut_before(found):
        return f"keep the argument of {op_words(op)} off the point where its slope is infinite: add a small number"
    if found.zero.why == "not used":
        return "slice first, so that the op never sees the entry that is not used"
    return "give the unselected branch an input on which it is harmless"


CAUSE = Cause(name="masked-branch", find=find, doc=__doc__ or "", on=(Occasion.NONFINITE,))
