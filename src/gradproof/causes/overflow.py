"""A number too large for its dtype became infinite.

What it finds
    An op whose exact result is a finite number, larger than the largest one of the dtype, where the infinity that
    was returned in its place makes the gradient NaN or infinite.

Why it spoils a gradient
    Infinity divided by infinity, minus infinity, or times zero is NaN. A gradient computed from it is lost, although
    the true one may be an ordinary number.

Example
    p = tf.exp(logits) / tf.reduce_sum(tf.exp(logits))      # float32: exp(100) is infinite

Write instead
    p = tf.nn.softmax(logits)                               # subtracts the largest logit first

Stays silent when
    the infinity does not reach the gradient; or
    the result is infinite in exact arithmetic too; or
    the branch it arises in was not selected: that is masked-branch.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._nonfinite import diagnose, line_of, nonfinite_of, way_row
from gradproof.causes._places import capital, forward_op, number_at, op_words
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Diagnostic, Fix
from gradproof.diagnosis.exact_entry import LARGEST
from gradproof.diagnosis.first_nonfinite import Nonfinite
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.program import Node
from gradproof.judge.verdict import Verdict

SHORT = 1e6  # a limit below is told with all its digits: that of float16 is no round number
MANY = 3  # from so many executions on, a line is a loop


def find(case: Case) -> Iterator[Diagnostic]:
    found = nonfinite_of(case, "overflow")
    if found is None or found.exact is None:
        return
    node = found.origin
    op = forward_op(found.program, node)
    limit = LARGEST[node.dtype]
    largest = f"{limit:.0f}" if limit < SHORT else words.significant(limit, 2)
    where = "" if found.is_forward else "the gradient of "
    too_large = f"is {found.exact.words} here, too large for {node.dtype}"
    inside = f"returns infinity, though its value {found.exact.words} is no more than {node.dtype} can hold"
    yield from diagnose(
        case,
        found,
        found.trail[0],
        headline=f"{where}{op_words(op)} {too_large if found.exact.is_beyond(node.dtype) else inside}",
        label=f"computed {number_at(found.program, found.trail[0])}, proven {found.exact.words}",
        rows=(("limit", f"the largest {node.dtype} is {largest}"), *way_row(found)),
        why=_why(case, found, node, largest),
        fix=Fix(_fix(found)),
    )


def _why(case: Case, found: Nonfinite, node: Node, largest: str) -> str:
    step = _execution(found, node)
    when = "" if step is None else f", at its {words.ordinal(step)} execution,"
    size = "" if found.exact is None else found.exact.words
    first = f"{capital(line_of(node.span))}{when} computes a number of size {size}. "
    second = f"A {node.dtype} ends at {largest}, so it becomes infinite. "
    if found.exact is not None and not found.exact.is_beyond(node.dtype):
        second = f"A {node.dtype} ends at {largest}, and a step inside of the op is beyond that. "
    if found.meeting is not None and found.meeting != found.trail[0]:
        met = found.program[found.meeting.id]
        third = f"In the backward ops of {line_of(met.span)} it meets a zero or another infinity, which gives NaN."
        return first + second + third
    if case.verdict is Verdict.INACCURATE:
        return f"{first}{second}What is divided by it is 0, and that zero goes into the gradient."
    return f"{first}{second}Everything that the chain rule multiplies by it is infinite too."


def _execution(found: Nonfinite, node: Node) -> int | None:
    """Which execution of its line this is, where the line runs many times."""
    same = [
        one.id
        for one in found.program.nodes
        if one.span == node.span and one.op == node.op and one.phase == node.phase
    ]
    return same.index(node.id) + 1 if len(same) >= MANY else None


def _fix(found: Nonfinite) -> str:
    if found.origin.op in ("exp", "exp2", "expm1", "cosh", "sinh"):
        return "subtract the largest exponent first, or keep the logarithm and never take `exp`"
    return "scale the numbers down, work with their logarithms, or use a wider dtype"


CAUSE = Cause(name="overflow", find=find, doc=__doc__ or "", on=(Occasion.NONFINITE,))
