"""The path runs through an op whose result changes only in steps.

What it finds
    A gradient that is None, or zero in all entries, because every way from the source to the target passes through a
    rounding, an argmax, a sort order, a comparison or a cast to an integer.

Why it spoils a gradient
    The result of such an op stays the same for small changes of its input and then jumps. Its derivative is zero
    wherever it has one, so an optimiser gets no direction from it, however far from the optimum.

Example
    hits = np.equal(np.argmax(logits, axis=1), labels)      # 1 - mean(hits) has gradient zero

Write instead
    loss = -np.mean(log_softmax(logits)[np.arange(n), labels])      # a smooth loss in its place

Stays silent when
    another way from the source to the target is smooth, so that the gradient is not zero throughout; or
    the source does not reach the target even through the discrete op; or
    a second derivative that is zero came along with others that are not, as at the point of a gradient penalty; or
    the point is exactly on a step: that is jump.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._missing import broken
from gradproof.causes._places import capital, op_words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.capture import Break
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.judge.verdict import Verdict
from gradproof.ops import TABLE

_FIX = "use a smooth function in its place: softmax for argmax, a sigmoid for a comparison, a smooth loss for accuracy"


def find(case: Case) -> Iterator[Diagnostic]:
    missing = broken(case, "discrete-op")
    if missing is not None:
        yield _missing(case, missing)
    elif case.verdict is Verdict.CORRECT and _is_zero(case) and not _is_beside_others(case):
        node = _first_step(case)
        if node is not None and node.span is not None:
            yield _zero(case, node)


def _missing(case: Case, missing: Break) -> Diagnostic:
    name, target = case.source.name, case.capture.target
    op = missing.facts.get("op")
    what = f"`{op}`" if op else "a step function"
    return Diagnostic(
        kind="discrete-op",
        severity="error",
        certainty="measured",
        headline=f"the gradient for `{name}` is None: {what} lies on the path to `{target}`",
        primary=annotated(missing.span, missing.label),
        secondary=tuple(Annotation(span, label) for span, label in missing.contributing),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=(
            f"`{target}` does depend on `{name}`, but through a result that changes only in steps. Between the steps "
            "its derivative is zero, and on them there is none, so no gradient is passed on. Zero instead of None "
            "would not help either: it tells an optimiser nothing."
        ),
        fix=Fix(_FIX),
    )


def _is_beside_others(case: Case) -> bool:
    """Whether a second derivative came along with others that train: the point of a gradient penalty is not trained."""
    others = (one.observed for one in case.capture.sources if one is not case.source)
    return case.capture.run.order > 1 and any(one is not None and bool(np.any(one)) for one in others)


def _is_zero(case: Case) -> bool:
    observed, true = case.source.observed, case.true
    if observed is None or true is None or not observed.size:
        return False
    return not np.any(observed) and not np.any(true.mid) and not np.any(true.rad)


def _first_step(case: Case) -> Node | None:
    """The first discrete op at which the smooth way from the source ends for good, if none leads to the target.

    The decisions of a clamp or a relu stand beside a way that goes on: what follows from them is reached smoothly too.
    In a second derivative it is they that end the way: they are told where the relu stands, not where it was
    differentiated.
    """
    program, source = case.capture.program, case.source.node
    if program is None or source is None:
        return None
    smooth = descendants(program, [source])
    output = program.outputs[0]
    if output in smooth:
        return None
    cut_off = ancestors(program, [output], beyond=() if case.capture.run.order > 1 else smooth)
    steps = (
        n for n in program.nodes if n.id in cut_off and n.is_discrete and any(id in smooth for id in n.inputs)
    )
    return next((node for node in steps if _is_step(program, node)), None)


def _is_step(program: Program, node: Node) -> bool:
    return node.op in TABLE and TABLE[node.op].is_decision


def _zero(case: Case, node: Node) -> Diagnostic:
    name, target = case.source.name, case.capture.target
    assert node.span is not None
    said = _STRAIGHT if case.capture.run.order > 1 else _STEPS
    words = {"name": name, "target": target, "op": op_words(node), "Op": capital(op_words(node))}
    return Diagnostic(
        kind="discrete-op",
        severity="warning",
        certainty="proven",
        headline=said.headline.format(**words),
        primary=Annotation(node.span, said.label),
        subject=subject(case, (0,) * len(case.source.shape)),
        evidence=comparison_rows(case),
        why=said.why.format(line=node.span.line, **words),
        fix=Fix(said.fix),
        op=node.op,
    )


@dataclass(frozen=True)
class _Said:
    headline: str
    label: str
    why: str
    fix: str


_STEPS = _Said(
    "the gradient for `{name}` is 0 everywhere: {op} changes only in steps",
    "the result stays the same for small changes",
    "Zero is right, and of no use. {Op} on line {line} turns `{name}` into a result that changes only in steps, and "
    "`{target}` depends on `{name}` in no other way. Training does not change `{name}`.",
    _FIX,
)
# The first derivative of a function that decides between straight pieces is made of the decisions alone.
_STRAIGHT = _Said(
    "the second derivative for `{name}` is 0 everywhere: this is made of straight pieces",
    "straight pieces, such as those of `relu`: no curvature between the corners",
    "Zero is right, and of no use. The slope of a function like `relu` is the same number on a whole piece, so that "
    "its own slope is 0 there, whatever the weights are. `{target}` depends on `{name}` through such slopes alone, so "
    "that nothing can be learnt from this derivative.",
    "use a smooth function where second derivatives are needed: tanh, softplus, gelu or sin in place of relu",
)


CAUSE = Cause(name="discrete-op", find=find, doc=__doc__ or "", on=(Occasion.MISSING, Occasion.ZERO))
