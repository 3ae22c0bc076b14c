"""The largest or smallest entry of an array, as a smooth function of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gradproof.engine.trace import Tracer
from gradproof.fixes.rewrite import bound_array, finished, tracing
from gradproof.ir.program import Node, Program

_TEXT = "replace the {which} by log-sum-exp, a smooth {which}, with width {width}"
_MEANING = (
    "entries within about {width} of the {which} share its slope, and the value is {way}, by {width} times the "
    "logarithm of their number at most"
)

Made = dict[int, list[Node]]


def extremes(
    program: Program, nodes: Sequence[Node], width_of: Callable[[Sequence[int]], float]
) -> Iterator[tuple[Made, str, str]]:
    """New nodes for every extreme that one place of the source computed, with the words for the change."""
    found = [(node, *one) for node in nodes if (one := _extreme(program, node)) is not None]
    if not found:
        return
    width = width_of([argument for _, argument, _, _ in found])
    largest = found[0][2] == "argmax"
    made = {
        node.id: _smooth(program, node, argument, axes, width, largest)
        for node, argument, decision, axes in found
        if (decision == "argmax") == largest
    }
    which, way = ("largest", "larger") if largest else ("smallest", "smaller")
    shown = {"which": which, "width": f"{width:g}", "way": way}
    yield made, _TEXT.format(**shown), _MEANING.format(**shown)


def _extreme(program: Program, node: Node) -> tuple[int, str, tuple[int, ...]] | None:
    """The array, the decision and the axes of a node that one call computed as the entry that a decision names."""
    inside, argument, decision = [node.id], None, None
    while inside:
        one = program[inside.pop()]
        if one.op in ("argmax", "argmin"):
            decision = one.op
        for id in one.inputs:
            if program[id].span == node.span and program[id].inputs:
                inside.append(id)
            elif not program[id].is_discrete:
                if argument not in (None, id):
                    return None
                argument = id
    if argument is None or decision is None:
        return None
    axes = _axes(program[argument].shape, node.shape)
    return None if axes is None else (argument, decision, axes)


def _axes(full: tuple[int, ...], reduced: tuple[int, ...]) -> tuple[int, ...] | None:
    if reduced == ():
        return tuple(range(len(full)))
    single = [k for k in range(len(full)) if full[:k] + full[k + 1 :] == reduced]
    return (single[0],) if len(single) == 1 else None


def _smooth(
    program: Program, node: Node, argument: int, axes: tuple[int, ...], width: float, largest: bool
) -> list[Node]:
    tracer: Tracer = tracing(program, node)
    x: Any = bound_array(program, tracer, argument)
    w = tracer.constant(width if largest else -width, x.value.dtype)
    return finished(tracer, node, w * tracer.logsumexp(x / w, axes=axes))
