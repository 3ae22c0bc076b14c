"""Functions that are flat where they were computed, as a sigmoid far from its middle."""

from __future__ import annotations

import numpy as np

from gradproof.causes._evidence import subject
from gradproof.causes._nonfinite import returned_rows
from gradproof.causes._probabilities import FIX_TWICE, function_name
from gradproof.causes._softmax import applied_twice, is_by_hand
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.span import Span
from gradproof.ir.types import unit_roundoff

_LIMITS = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0)}
NEAR = 4.0  # units of the last digit within which a result cannot be told from its limit

ONCE = (
    "keep what goes into it near 0 (smaller weights, scaled inputs, a normalisation), or compute the loss from the "
    "logits, which does not saturate"
)


def saturated(case: Case, span: Span | None = None) -> Node | None:
    """The first function on the path, or of them at `span`, whose results all stand at its limits to the last digit."""
    program, source = case.capture.program, case.source.node
    if program is None or source is None:
        return None
    path = descendants(program, [source]) & ancestors(program, program.outputs)
    nodes = (node for node in program.nodes if node.id in path and node.span is not None)
    return next((node for node in nodes if span in (None, node.span) and _is_at_limit(program, node)), None)


def cuts_off(case: Case) -> Node | None:
    """The saturated function that the target depends on the source through, if it does so in no other way."""
    first, program, source = saturated(case), case.capture.program, case.source.node
    if first is None or program is None or source is None:
        return None
    reached = {source}
    for node in program.nodes:
        if reached.intersection(node.inputs) and not _is_at_limit(program, node):
            reached.add(node.id)
    return None if reached.intersection(program.outputs) else first


def saturated_before(case: Case, node: Node) -> Node | None:
    """The same among what a node was computed from: a comparison behind such a function only looks at its limits."""
    found, program = saturated(case), case.capture.program
    is_before = found is not None and program is not None and found.id in ancestors(program, [node.id])
    return found if is_before else None


def flattened(case: Case, node: Node, index: tuple[int, ...], how: str) -> Diagnostic:
    """`how` says why nothing is left of the true gradient."""
    program, dtype = case.capture.program, case.source.dtype
    assert program is not None and node.span is not None
    function = saturated_name(program, node)
    return Diagnostic(
        kind="vanishing",
        severity="warning",
        certainty="proven" if case.judgement.oracle == "ball" else "measured",
        headline=f"the gradient for `{case.source.name}` is 0: {function} is saturated",
        primary=Annotation(node.span, "every result stands at a limit of the function, where it is flat"),
        subject=subject(case, index),
        evidence=returned_rows(case, index),
        why=(
            f"Zero is right to the digits of a {dtype}, and of no use. So far out {function} hardly changes with what "
            f"goes into it: {how}. A training step leaves `{case.source.name}` as it is."
        ),
        fix=Fix(saturated_fix(program, node)),
        op=node.op,
    )


def saturated_name(program: Program, node: Node) -> str:
    return "`softmax`" if _limits(program, node) and node.op == "div" else f"`{node.op}`"


def saturated_fix(program: Program, node: Node) -> str:
    """What helps: for a softmax that goes into a loss with a softmax of its own, to leave it out."""
    after = descendants(program, [node.id]) - {node.id}
    is_twice = any(applied_twice(program, program[id]) is node for id in after)
    return FIX_TWICE.format(name=function_name(node)) if is_twice else ONCE


def _is_at_limit(program: Program, node: Node) -> bool:
    limits = _limits(program, node)
    if limits is None:
        return False
    value = np.asarray(node.value, np.float64)
    away = np.minimum(np.abs(value - limits[0]), np.abs(value - limits[1]))
    return bool(value.size) and bool(np.all(away <= NEAR * unit_roundoff(node.dtype)))


def _limits(program: Program, node: Node) -> tuple[float, float] | None:
    return _LIMITS["softmax"] if is_by_hand(program, node) else _LIMITS.get(node.op)
