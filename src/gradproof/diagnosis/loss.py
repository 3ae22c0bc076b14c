"""Where a gradient lost its digits: the facts behind the causes of the family "rounding".

The budget says at which node the error arose. Often that node only rounded as every op does, and another one made the
error matter: a subtraction that cancelled all other digits, a function that is steep there. Both are found here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.steepness import (
    ADDITIONS,
    MIN_GROWTH,
    SUMS,
    amplified,
    entry_at,
    largest_entry,
    steepest,
)
from gradproof.ir import types
from gradproof.ir.capture import Scope
from gradproof.ir.program import Node, ancestors, behind_copies
from gradproof.judge.custom import rule_of
from gradproof.ops import TABLE

Kind = Literal[
    "underflow", "low-precision", "cancellation", "absorption", "accumulation", "ill-conditioned", "framework-rule",
    "custom-gradient", "step-size",
]  # fmt: skip

MIN_ABSORBED = 0.01  # this share of the smaller operand of a sum was rounded away
# Units in the last place by which a function may miss: libraries promise a few, bad ones lose a hundred; what lies
# beyond this is no rounding. Sums are exempt, their error grows with the operands and not with the result.
MOST_ULPS = 2.0**13
FEWEST_ROUNDINGS = 4  # a gradient of a few ops is off by as many; no tolerance below can be met
MOST_ROUNDINGS = 64  # beyond, digits were lost that other ways of computing would have kept
MANY_ROUNDINGS = 8  # from here on the errors of single additions matter by their number
_AT_ORIGIN = ("underflow", "low-precision", "absorption", "accumulation", "framework-rule", "custom-gradient")
_KNOWN: WeakKeyDictionary[Case, Loss | None] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Loss:
    """The kind of loss, the node where the error arose, and the node that made it matter (they may be one)."""

    kind: Kind
    origin: Node
    place: Node
    index: tuple[int, ...]  # the entry of `place` that matters
    growth: float  # at `place`, relative error of the result over that of operands; the step of a "step-size"
    share: float  # of the origin's source line in the whole error


def find_loss(case: Case) -> Loss | None:
    """The main loss of an inaccurate gradient; None where the budget is empty."""
    # Every cause of the family asks, and so do the fixes: for a long program the answer is worth keeping.
    if case not in _KNOWN:
        _KNOWN[case] = _found(case)
    return _KNOWN[case]


def _found(case: Case) -> Loss | None:
    if not case.rounding.budget or is_beyond_dtype(case):
        return None
    origin = _origin(case)
    share = _line_share(case, origin)
    enlarged = amplified(case, origin)
    if enlarged >= MIN_GROWTH:
        return Loss("ill-conditioned", origin, origin, _worst_entry(case, origin), enlarged, share)
    steep = steepest(case)
    place, index, growth = steep if steep is not None else (origin, _worst_entry(case, origin), 1.0)
    kind = _kind(case, origin, place, index, growth)
    if kind in _AT_ORIGIN:
        place, index = origin, _worst_entry(case, origin)
    if kind == "step-size":
        growth = difference_step(case, place) or growth
    return Loss(kind, origin, place, index, growth, share)


def _origin(case: Case) -> Node:
    """The node with the largest share on the line with the largest share: many small roundings outweigh a large one."""
    by_share = sorted(case.rounding.budget, key=lambda id: -abs(case.rounding.budget[id]))
    if case.shares_by_span:
        span = case.shares_by_span[0][0]
        for node in map(case.node, by_share):
            if node.span is not None and (node.span.file, node.span.line) == (span.file, span.line):
                return node
    return case.node(by_share[0])


def _kind(case: Case, origin: Node, place: Node, index: tuple[int, ...], growth: float) -> Kind:
    if _underflowed(case, origin):
        return "underflow"
    if _is_nonsense(case, origin):
        return "framework-rule"
    if _is_narrow(case, origin):
        return "custom-gradient" if origin.op == "cast" and custom_scope(case, origin) else "low-precision"
    if growth >= MIN_GROWTH and place.op in ADDITIONS | SUMS:
        return "cancellation" if difference_step(case, place) is None else "step-size"
    many = _line_roundings(case, origin) >= MANY_ROUNDINGS
    if origin.op in ADDITIONS and not many and _absorbs(case, origin):
        return "absorption"
    if origin.op in SUMS or many:
        return "accumulation"
    return "ill-conditioned"


def _line_share(case: Case, node: Node) -> float:
    if node.span is None:
        return case.rounding.budget[node.id]
    return next(
        (
            s
            for span, s, _ in case.shares_by_span
            if (span.file, span.line) == (node.span.file, node.span.line)
        ),
        0.0,
    )


def _worst_entry(case: Case, node: Node) -> tuple[int, ...]:
    """The entry whose local error contributes most."""
    weighed = np.abs(
        np.asarray(case.rounding.local_errors[node.id]) * np.asarray(case.rounding.adjoints.get(node.id, 1.0))
    )
    return largest_entry(np.broadcast_to(weighed, node.shape))


def _underflowed(case: Case, origin: Node) -> bool:
    """The op returned zero or a subnormal number, and lost most of the true value by it."""
    index = _worst_entry(case, origin)
    value, error = (
        float(np.asarray(origin.value)[index]),
        float(np.asarray(case.rounding.local_errors[origin.id])[index]),
    )
    smallest = (
        float(np.finfo(types.numpy_dtype(origin.dtype)).smallest_normal)
        if origin.dtype != "bfloat16"
        else 2.0**-126
    )
    return abs(value) < smallest and abs(error) > MIN_ABSORBED * abs(value - error)


def is_beyond_dtype(case: Case) -> bool:
    """Whether a gradient is as good as its dtype allows, and the tolerance asks for more."""
    comparison, unit = case.judgement.comparison, types.unit_roundoff(case.source.dtype)
    if case.options.tolerance(case.source.dtype) >= FEWEST_ROUNDINGS * unit or comparison is None:
        return False
    return comparison.relative_error <= MOST_ROUNDINGS * unit


def difference_step(case: Case, place: Node) -> float | None:
    """The step, if a subtraction is that of a difference quotient inside a custom gradient."""
    program, scope = case.program, custom_scope(case, place) if place.op == "sub" else None
    rule = None if scope is None or program is None else rule_of(program, scope)
    if rule is None:
        return None
    behind = ancestors(rule.piece, [place.id])
    for node in rule.piece.nodes:
        moved = {behind_copies(rule.piece, id) for id in node.inputs}  # a variable is read anew by the rule
        if node.id not in behind or node.op not in ADDITIONS or not moved & set(rule.inputs):
            continue
        steps = [
            rule.piece[id] for id in node.inputs if rule.piece[id].op == "constant" and id not in rule.inputs
        ]
        sizes = {abs(float(x)) for step in steps for x in np.asarray(step.value, np.float64).reshape(-1)} - {
            0.0
        }
        if len(sizes) == 1:
            return sizes.pop()
    return None


def custom_scope(case: Case, node: Node) -> Scope | None:
    """The custom gradient whose rule computed a node."""
    program = case.program
    assert program is not None
    for scope in case.capture.rules.scopes:
        rule = rule_of(program, scope)
        if rule is not None and node.id in {n.id for n in rule.piece.nodes} - {
            n.id for n in rule.forward.nodes
        }:
            return scope
    return None


def _is_nonsense(case: Case, origin: Node) -> bool:
    """The op's own error is far beyond a rounding of its result: its implementation is at fault.

    Entry by entry only: how far a solution of equations may be off depends on the equations.
    """
    if (
        _is_joint(case, origin)
        or origin.op in ADDITIONS | SUMS | {"cast"}
        or types.precision_bits(origin.dtype) < 24
    ):
        return False
    index = _worst_entry(case, origin)
    value = abs(complex(np.asarray(origin.value)[index]))
    error = abs(complex(np.asarray(case.rounding.local_errors[origin.id])[index]))
    exact = abs(
        complex(np.asarray(origin.value)[index])
        - complex(np.asarray(case.rounding.local_errors[origin.id])[index])
    )
    most = MOST_ULPS * types.unit_roundoff(origin.dtype) * max(value, exact)
    return error > most and error > most * _lost_inside(case, origin, index)


def _lost_inside(case: Case, origin: Node, index: tuple[int, ...]) -> float:
    """How many times larger the terms are than the sums that an op is given at its own place.

    It may be the end of a kernel that adds before: nobody has seen those sums, and what they lose is no fault of it.
    """
    lost, waiting, known = 1.0, list(origin.inputs), {origin.id}
    while waiting:
        node = case.node(waiting.pop())
        if node.id in known or node.span != origin.span or node.phase != origin.phase:
            continue
        known.add(node.id)
        waiting += node.inputs
        if node.op in ADDITIONS | SUMS:
            terms = [case.node(id).value for id in node.inputs]
            if node.value is None or any(one is None for one in terms):
                return math.inf
            result = entry_at(node.value, origin.shape, index) if node.shape == origin.shape else None
            smallest = np.min(np.abs(node.value)) if result is None else abs(result)
            largest = max(float(np.max(np.abs(one), initial=0.0)) for one in terms)
            lost = max(lost, largest / float(smallest) if smallest else math.inf)
    return lost


def _is_joint(case: Case, origin: Node) -> bool:
    """Whether the entries depend on one another, as those of an inverse do.

    Moving a number computes none: it differs where a compiled function returned something else, for which all that
    it computes may be the reason.
    """
    if origin.op == "identity" and case.program is not None:
        before = (case.program[id] for id in ancestors(case.program, [origin.id]) if id != origin.id)
        return any(_solves(node) for node in before)
    return origin.op == "item" or (origin.op in TABLE and TABLE[origin.op].slopes is None)


def _solves(node: Node) -> bool:
    op = TABLE.get(node.op)
    return op is not None and op.slopes is None and node.op not in SUMS and not (op.moves_only or op.margin)


def _is_narrow(case: Case, origin: Node) -> bool:
    """The error arose in a 16-bit dtype, though the gradient asked for has a wider one, or at a cast to fewer bits."""
    bits = types.precision_bits(origin.dtype)
    if origin.op == "cast":
        return bits < types.precision_bits(case.source.dtype)
    return bits <= 11 and (
        bits < types.precision_bits(case.source.dtype) or _relative_error(case, origin) < 2.0**-bits * 64
    )


def _relative_error(case: Case, node: Node) -> float:
    comparison = case.judgement.comparison
    return comparison.relative_error if comparison is not None else 1.0


def _absorbs(case: Case, origin: Node) -> bool:
    index = _worst_entry(case, origin)
    operands = [abs(entry_at(case.node(id).value, origin.shape, index)) for id in origin.inputs]
    error = abs(float(np.asarray(case.rounding.local_errors[origin.id])[index]))
    return min(operands) > 0 and error >= MIN_ABSORBED * min(operands)


def _line_roundings(case: Case, origin: Node) -> int:
    """How many nodes of the origin's line have a part in the error that is not negligible."""
    line = None if origin.span is None else (origin.span.file, origin.span.line)
    own = abs(case.rounding.budget[origin.id])
    return sum(
        1
        for id, share in case.rounding.budget.items()
        if (span := case.node(id).span) is not None
        and (span.file, span.line) == line
        and abs(share) > 0.1 * own
    )
