"""Functions that are flat where they were computed: a softmax over one number, a sigmoid far from its middle."""

from __future__ import annotations

import numpy as np

from gradproof.causes._evidence import subject
from gradproof.causes._nonfinite import returned_rows
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.span import Span
from gradproof.ir.types import unit_roundoff

_HANDED_ON = frozenset({"identity", "reshape", "cast", "broadcast_to"})
_SOFTMAX = frozenset({"softmax", "log_softmax"})
_LIMITS = {"sigmoid": (0.0, 1.0), "softmax": (0.0, 1.0), "tanh": (-1.0, 1.0)}
NEAR = 4.0  # units of the last digit within which a result cannot be told from its limit

TWICE = "give the loss the logits: it applies a softmax itself"
ONCE = (
    "keep what goes into it near 0 (smaller weights, scaled inputs, a normalisation), or compute the loss from the "
    "logits, which does not saturate"
)


def is_over_one(program: Program, node: Node) -> bool:
    """Whether a softmax runs over a single number, so that it is 1 and its logarithm 0 whatever that number is."""
    if node.op in _SOFTMAX:
        given = program[node.inputs[0]].shape
        return all(given[axis] == 1 for axis in node.params["axes"])
    summed = _summed_by_hand(program, node)
    return summed is not None and all(
        program[summed.inputs[0]].shape[axis] == 1 for axis in summed.params["axes"]
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
    is_twice = any(_is_softmax(program, program[id]) for id in after)
    return TWICE if is_twice and _LIMITS.get(node.op, (0.0, 1.0))[0] == 0.0 else ONCE


def _is_at_limit(program: Program, node: Node) -> bool:
    limits = _limits(program, node)
    if limits is None:
        return False
    value = np.asarray(node.value, np.float64)
    away = np.minimum(np.abs(value - limits[0]), np.abs(value - limits[1]))
    return bool(value.size) and bool(np.all(away <= NEAR * unit_roundoff(node.dtype)))


def _limits(program: Program, node: Node) -> tuple[float, float] | None:
    return _LIMITS["softmax"] if _is_by_hand(program, node) else _LIMITS.get(node.op)


def _is_by_hand(program: Program, node: Node) -> bool:
    """Whether this is exp(x) divided by its sum: how JAX writes a softmax, and many people."""
    return node.op == "div" and _summed_by_hand(program, node) is not None


def _is_softmax(program: Program, node: Node) -> bool:
    """Whether this is a softmax or its logarithm, by name or written by hand."""
    return node.op in _SOFTMAX or _summed_by_hand(program, node) is not None


def _summed_by_hand(program: Program, node: Node) -> Node | None:
    """The sum in exp(x) / sum(exp(x)) or in x - log(sum(exp(x))), if this is one of them."""
    if node.op not in ("div", "sub"):
        return None
    top, bottom = (_handed_on(program, id) for id in node.inputs)
    if node.op == "sub" and bottom.op != "log":
        return None
    summed = bottom if node.op == "div" else _handed_on(program, bottom.inputs[0])
    if summed.op != "sum":
        return None
    term = _handed_on(program, summed.inputs[0])
    same = term if node.op == "div" or term.op != "exp" else _handed_on(program, term.inputs[0])
    return summed if term.op == "exp" and same is top else None


def _handed_on(program: Program, id: int) -> Node:
    """The node whose numbers these are, behind reshapes."""
    node = program[id]
    while node.op in _HANDED_ON:
        node = program[node.inputs[0]]
    return node
