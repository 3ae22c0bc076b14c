"""Shared by the causes of the family "rounding": one loss, found once, put into words by the cause of its kind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.causes._evidence import Rows, comparison_rows, subject
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import AT_REST, Annotation, Diagnostic, Fix, Severity, annotated
from gradproof.diagnosis.loss import Kind, Loss, find_loss
from gradproof.ir import types
from gradproof.ir.program import Node
from gradproof.judge.verdict import Verdict

_ADDITIONS = ("add", "sub")


def loss_of(case: Case, kind: Kind) -> Loss | None:
    """The loss of an inaccurate gradient, if it is of this kind; what a compiler lost is not the formula's."""
    if case.mode_fault is not None:
        return None
    if case.verdict is not Verdict.INACCURATE or case.irregular.nonfinite is not None:
        return None
    loss = find_loss(case)
    if loss is not None and case.remedy.is_formula:
        loss = _of_the_formula(loss)
    elif loss is not None and case.remedy.is_problem and loss.kind == "cancellation":
        loss = replace(loss, kind="ill-conditioned")
    return loss if loss is not None and loss.kind == kind else None


def _of_the_formula(loss: Loss) -> Loss:
    """Another way of writing the function keeps the digits: then an addition lost them, and not the problem."""
    if loss.kind != "ill-conditioned":
        return loss
    if loss.place.op in _ADDITIONS:
        return replace(loss, kind="cancellation")
    if loss.origin.op in _ADDITIONS and loss.origin.shape == loss.place.shape:
        return replace(loss, kind="absorption", place=loss.origin)
    return loss


def diagnose(
    case: Case,
    loss: Loss,
    headline: str,
    label: str,
    lost_at: str,
    why: str,
    fix: Fix | None = None,
    severity: Severity = "error",
) -> Iterator[Diagnostic]:
    primary = annotated(loss.place.span, label)
    advice = None if case.rounding.is_at_rest else fix
    yield Diagnostic(
        kind=loss.kind,
        severity="warning" if case.rounding.is_at_rest else severity,
        certainty="proven" if case.judgement.oracle == "ball" else "measured",
        headline=headline,
        primary=primary,
        secondary=_origin_note(loss),
        subject=subject(case),
        evidence=(*comparison_rows(case), *_lost(loss, lost_at)),
        why=why,
        fix=case.remedy.fix or advice,  # one that was run before one that is only advice
        op=loss.place.op,
        share=loss.share,
        notes=(AT_REST,) if case.rounding.is_at_rest else (),
    )


def _lost(loss: Loss, lost_at: str) -> Rows:
    where = f"line {loss.place.span.line}: " if loss.place.span is not None else ""
    return (("lost at", where + lost_at),) if lost_at else ()


def _origin_note(loss: Loss) -> tuple[Annotation, ...]:
    """The line where the error arose, if another line made it matter."""
    origin = loss.origin
    if origin is loss.place or origin.span is None or origin.span == loss.place.span:
        return ()
    return (Annotation(origin.span, spacing_text(origin)),)


def spacing_text(node: Node) -> str:
    """`float32 has no number between 1e10 and 1e10 + 1024`, at the largest entry of a node."""
    value = np.abs(np.asarray(node.value)).astype(np.float64)
    largest = float(value.max(initial=0.0))
    step = spacing(largest, node.dtype)
    number = words.significant(largest, 6).removesuffix(".0")
    return f"{node.dtype} has no number between {number} and {number} + {words.significant(step, 4).removesuffix('.0')}"


def spacing(value: float, dtype: str) -> float:
    """The distance to the next number of the dtype."""
    if value == 0.0 or not np.isfinite(value):
        return 0.0
    return float(2.0 ** (np.floor(np.log2(abs(value))) + 1 - types.precision_bits(dtype)))


def value_at(case: Case, node: Node, index: tuple[int, ...]) -> str:
    return words.number(np.asarray(node.value)[index].item(), dtype=node.dtype)


def proven_at(case: Case, node: Node, index: tuple[int, ...]) -> str | None:
    """The exact value of an entry of a forward node, in words; None for nodes outside the proven run."""
    ball = proven_ball(case, node, index)
    return None if ball is None else words.number(*ball)


def proven_ball(case: Case, node: Node, index: tuple[int, ...]) -> tuple[Any, float] | None:
    """The same as a midpoint and a radius."""
    reference = case.judgement.reference
    if reference is None or node.id not in reference.run.values or isinstance(node.value, tuple):
        return None
    if case.capture.copies is not None and reference.run.program[node.id] is not node:
        return None  # in a program of copies another node has the number
    domain = reference.run.m.domain
    with domain.active():
        mid, rad = domain.leave(reference.run.values[node.id])
    return (mid[index].item(), rad[index].item()) if np.isfinite(rad[index]) else None


def computed_and_proven(case: Case, node: Node, index: tuple[int, ...]) -> str:
    """`computed 0, proven 1`, the label under a value that is off."""
    proven = proven_at(case, node, index)
    computed = f"computed {value_at(case, node, index).removesuffix('.0')}"
    return computed if proven is None else f"{computed}, proven {proven.removesuffix('.0')}"


def operands_over_result(case: Case, loss: Loss) -> float:
    """How many times larger the largest operand is than the true result."""
    sizes = []
    for id in loss.place.inputs:
        value = np.abs(np.asarray(case.node(id).value, np.complex128))
        try:
            sizes.append(float(np.broadcast_to(value, loss.place.shape)[loss.index]))
        except ValueError:
            sizes.append(float(value.max(initial=0.0)))
    value = np.asarray(loss.place.value, np.complex128)[loss.index]
    error = np.asarray(case.rounding.propagated[loss.place.id])[loss.index]
    true = abs(complex(value - error)) or abs(complex(value))
    return max(sizes, default=0.0) / true if true else np.inf
