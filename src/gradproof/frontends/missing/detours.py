"""Gradients that are missing because their path led out of TensorFlow, or through a variable, and came back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from gradproof.frontends.assemble.program import Assembly
from gradproof.ir.capture import Break, Source
from gradproof.ir.program import Program, ancestors
from gradproof.ir.span import Span
from gradproof.ir.surroundings import Cut

_OPEN = (None, "not-connected", "left-framework")  # reasons that a cut which was found is better than


def placed(source: Source, made: Assembly, program: Program) -> Source:
    """The source with its place in the program of the target, none if it has none there.

    A path that was cut and could be joined again says why the gradient is missing. One that could not be joined has a
    derivative that nobody knows: zero would be a lie.
    """
    if source.node not in {node.id for node in program.nodes}:
        source = replace(source, node=None)
    if source.observed is not None or source.unseen:
        return source
    reaches = source.node is not None and source.node in ancestors(program, program.outputs)
    why = source.missing
    cut = _cut(source, made.comebacks.cuts, program)
    if reaches and cut is not None and (None if why is None else why.kind) in _OPEN:
        is_stored = why is not None and "stored" in why.facts
        return source if is_stored else replace(source, missing=_left(made, cut))
    is_lost = why is not None and (
        why.kind == "left-framework" or not {"stored", "text"}.isdisjoint(why.facts)
    )
    # Another way may reach the target; what goes by the lost one is unknown all the same.
    is_partial = why is not None and "part" in why.facts
    return replace(source, node=None) if is_lost and (is_partial or not reaches) else source


def _cut(source: Source, cuts: Sequence[Cut], program: Program) -> Cut | None:
    """The first one that what was computed from the source went through."""
    known = {node.id for node in program.nodes}
    own = (cut for cut in cuts if cut.node in known and source.node in ancestors(program, [cut.node]))
    return next(own, None)


def _left(made: Assembly, cut: Cut) -> Break:
    places = [(cut.back, "come back as a constant"), (made.call.span, made.call.ending)]
    seen = {cut.left and cut.left.line}
    contributing: list[tuple[Span, str]] = []
    for span, label in places:
        if span is not None and span.line not in seen:
            seen.add(span.line)
            contributing.append((span, label))
    label = f"{cut.how} turns the tensor into plain numbers"
    lines = {one.left.line for one in made.comebacks.cuts if one.left is not None}
    facts = {"how": cut.how, "cuts": str(len(lines))}
    return Break("left-framework", cut.left, label, tuple(contributing), facts)
