"""A rule replaces the derivative on purpose: an identity for a rounding step, or a changed gradient.

What it finds
    A custom gradient, or an op of the framework such as fake quantisation, that returns another gradient than the
    derivative in a way that people choose deliberately: a gradient for a step that is constant between jumps, the
    incoming gradient reversed, scaled or clipped. Or `stop_gradient` that leads the gradient around such a step.

Why it spoils a gradient
    The number is not the derivative of the function that ran, so a gradient check fails and the loss need not go
    down along it. That can be what is wanted: the true derivative of a rounding step is zero and trains nothing.

Example
    @tf.custom_gradient
    def quantise(x):
        return tf.round(x), lambda upstream: upstream

Write instead
    keep it, and mark the line with `# gradproof: intended`

Stays silent when
    the forward has a derivative of its own that the rule misses: that is a mistake, custom-gradient; or
    `stop_gradient` holds something else than the difference between a step and its argument.
"""

from __future__ import annotations

from collections.abc import Iterator

from gradproof.causes._evidence import comparison_rows, subject
from gradproof.causes._places import op_words
from gradproof.causes._unheard_rules import is_deliberate, place_of, unheard_rule
from gradproof.causes.custom_gradient import rule_span
from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.cause import Cause
from gradproof.diagnosis.diagnostic import Annotation, Diagnostic, Fix, annotated
from gradproof.diagnosis.occasion import Occasion
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.span import Span
from gradproof.judge.mistake import Mistake
from gradproof.judge.verdict import Verdict


def find(case: Case) -> Iterator[Diagnostic]:
    seen: set[tuple[str, str]] = set()
    for fault in case.rules.mistakes:
        key = fault.scope.name, fault.mistake.kind
        if fault.mistake.is_intended and key not in seen:
            seen.add(key)
            yield _diagnose(case, fault.mistake, fault.scope.name, rule_span(case, fault))
    for library in case.rules.library_faults:
        if library.mistake is not None and library.is_intended:
            pullback = library.departure.pullback
            yield _diagnose(case, library.mistake, pullback.op, pullback.span)
    scope = unheard_rule(case)
    if scope is not None and is_deliberate(case, scope):
        yield _looks_intended(case, scope.name, place_of(case, scope), _UNHEARD)
    yield from _around_a_step(case)


def _around_a_step(case: Case) -> Iterator[Diagnostic]:
    """`x + stop_gradient(round(x) - x)`: the value of the step, with the gradient of what goes into it."""
    program, source = case.capture.program, case.source.node
    if case.verdict is not Verdict.CORRECT or program is None or source is None:
        return
    if not any(node.op == "stop_gradient" for node in program.nodes):
        return
    reached = descendants(program, [source])
    for node in program.nodes:
        held = _held(program, node) if node.op == "add" and node.id in reached else None
        step = None if held is None else _step_behind(program, held)
        if held is None or step is None or held.span is None:
            continue
        yield Diagnostic(
            kind="straight-through",
            severity="warning",
            certainty="proven",
            headline=f"`stop_gradient` leads the gradient around {op_words(step)}, which looks intended",
            primary=Annotation(held.span, "its true slope is 0"),
            secondary=()
            if step.span in (None, held.span)
            else (Annotation(step.span, "changes only in steps"),),
            subject=subject(case),
            evidence=comparison_rows(case),
            why=(
                "The value is that of the step, and the gradient that of what goes into it: what `stop_gradient` holds "
                "is a constant to the derivative. Of the step itself the derivative is zero wherever it has one."
            ),
            fix=Fix("if it is intended, end the line with `# gradproof: intended`"),
            op=step.op,
        )
        return


def _root(program: Program, id: int) -> Node:
    node = program[id]
    while node.op in ("identity", "cast") and not program[node.inputs[0]].is_discrete:
        node = program[node.inputs[0]]
    return node


def _held(program: Program, node: Node) -> Node | None:
    """The `stop_gradient` in x + stop_gradient(q - x)."""
    one, two = (_root(program, id) for id in node.inputs)
    for held, other in ((one, two), (two, one)):
        inner = _root(program, held.inputs[0]) if held.op == "stop_gradient" else None
        if inner is not None and inner.op == "sub" and _root(program, inner.inputs[1]).id == other.id:
            return held
    return None


def _step_behind(program: Program, held: Node) -> Node | None:
    """The decision that makes what is held a step of what it is added to."""
    inner = _root(program, held.inputs[0])
    before = _root(program, inner.inputs[1])
    made_of = ancestors(program, [inner.inputs[0]])
    moving = descendants(program, [before.id])
    steps = (node for node in program.nodes if node.id in made_of and node.op in _STEPS)
    return next((node for node in steps if any(id in moving for id in node.inputs)), None)


_STEPS = (
    "round",
    "floor",
    "ceil",
    "truncate",
    "sign",
    "argmax",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
)


_UNHEARD = (
    "returns another gradient than its derivative",
    "another gradient than the forward has",
    "The forward hands its argument on unchanged, or is constant between jumps, and its rule puts another gradient in "
    "the place of its derivative. The number returned is not the derivative of what ran, and so it is reported.",
)


def _diagnose(case: Case, mistake: Mistake, name: str, span: Span | None) -> Diagnostic:
    return _looks_intended(case, name, span, _said(mistake))


def _looks_intended(case: Case, name: str, span: Span | None, said: tuple[str, str, str]) -> Diagnostic:
    does, label, why = said
    return Diagnostic(
        kind="straight-through",
        severity="warning",
        certainty="measured",
        headline=f"`{name}` {does}, which looks intended",
        primary=annotated(span, label),
        subject=subject(case),
        evidence=comparison_rows(case),
        why=why,
        fix=Fix("if it is intended, end the line with `# gradproof: intended`"),
        op=name,
    )


def _said(mistake: Mistake) -> tuple[str, str, str]:
    end = "The number returned is not the derivative of what ran, and so it is reported."
    if mistake.kind == "straight-through":
        passes = "passes the gradient through" if mistake.detail != "surrogate" else "invents a gradient for"
        return (
            f"{passes} a step that is constant between jumps",
            "its true slope is 0",
            "The forward rounds, compares or counts, so its derivative is zero wherever it has one. The rule puts "
            f"another gradient in its place, so that training can go on. {end}",
        )
    if mistake.kind == "clipping":
        return (
            "clips the gradient that comes in",
            "clips",
            f"For a small incoming gradient the rule is the derivative; for a large one it returns less. {end}",
        )
    factor = words.significant(mistake.numbers["factor"], 6).removesuffix(".0")
    does = "reverses the gradient" if mistake.kind == "reversal" else "scales the gradient"
    return (
        does,
        f"times {factor}",
        f"The forward hands its argument on unchanged, and the rule multiplies the gradient by {factor}. {end}",
    )


CAUSE = Cause(name="straight-through", find=find, doc=__doc__ or "", on=(Occasion.CORRECT, Occasion.RULE))
