"""A loss that takes logits and is given probabilities: its softmax, or sigmoid, is the second one."""

from __future__ import annotations

import numpy as np

from gradproof.causes._softmax import applied_twice, softmax_length
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.ir.program import Node, Program, ancestors, descendants

FIX_TWICE = "give the loss the logits: it applies a {name} itself, so leave out the one before it"


def given_probabilities(case: Case) -> Diagnostic | None:
    """The gradient is right; the loss it belongs to is flat, and most likely not the one that was meant."""
    program, source = case.capture.program, case.source.node
    if program is None or source is None:
        return None
    for outer in program.nodes:
        is_shown = outer.phase == "forward" and outer.span is not None
        inner = applied_twice(program, outer) if is_shown else None
        if inner is not None and {inner.id, outer.id} <= _on_the_way(program, source):
            return _diagnose(inner, outer, program)
    return None


def _on_the_way(program: Program, source: int) -> set[int]:
    return descendants(program, [source]) & ancestors(program, program.outputs)


def function_name(inner: Node) -> str:
    return "sigmoid" if inner.op == "sigmoid" else "softmax"


def _diagnose(inner: Node, outer: Node, program: Program) -> Diagnostic:
    name, given = function_name(inner), np.asarray(inner.value, np.float64)
    low, high = (words.significant(float(one), 2) for one in (np.min(given), np.max(given)))
    least, most = (words.significant(one, 2) for one in _reach(program, inner))
    assert outer.span is not None
    made = annotated(inner.span, f"this {name} makes probabilities")
    return Diagnostic(
        kind="vanishing",
        severity="warning",
        certainty="proven",
        headline=f"this loss takes logits and is given probabilities, so that {name} is applied twice",
        primary=Annotation(outer.span, f"applies {name} to the results of a {name}"),
        secondary=() if made is None or made.span == outer.span else (made,),
        subject=f"{name} of {name}",
        evidence=(("given", f"{low} to {high}"), ("can return", f"{least} to {most}")),
        why=(
            f"Probabilities lie between 0 and 1, and a {name} of such numbers is nearly flat: whatever the model says, "
            f"it comes out between {least} and {most}. The gradient is right for this loss, but small, and the loss "
            "cannot come near 0. Most likely another loss was meant."
        ),
        fix=Fix(FIX_TWICE.format(name=name)),
        op=outer.op,
    )


def _reach(program: Program, inner: Node) -> tuple[float, float]:
    """The least and the most that comes of numbers between 0 and 1 that a sigmoid or a softmax has made."""
    if function_name(inner) == "sigmoid":
        return 0.5, float(1 / (1 + np.exp(-1.0)))
    others = softmax_length(program, inner) - 1
    return float(1 / (1 + np.e * others)), float(np.e / (np.e + others))
