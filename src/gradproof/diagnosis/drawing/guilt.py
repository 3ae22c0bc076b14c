"""The guilty path: the nodes that lead from where a fault was made to the gradient it spoilt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Diagnostic
from gradproof.ir.program import Node, Program, ancestors
from gradproof.ir.span import Span

LARGE_SHARE = 0.25  # of the error: whoever made so much of it is to blame for it
MOST_ORIGINS = 20  # a line in a loop has many nodes; the last of them show the way


def guilty_nodes(case: Case, diagnostics: Sequence[Diagnostic]) -> frozenset[int]:
    """Empty where nothing is wrong, or where it is not known which nodes are to blame."""
    program, end = case.program, _end(case)
    if program is None or end is None or not (diagnostics or case.rounding.budget):
        return frozenset()
    if case.irregular.nonfinite is not None:
        return frozenset(place.id for place in case.irregular.nonfinite.trail) & {
            node.id for node in program.nodes
        }
    return ways(program, _origins(case, program, end, diagnostics), end)


def _end(case: Case) -> int | None:
    """The node that holds the gradient, or the target where there is none."""
    recorded = case.source.recorded
    if recorded is not None and case.capture.gradient_program is not None:
        return recorded
    program = case.program
    return None if program is None else program.outputs[0]


def _origins(case: Case, program: Program, end: int, diagnostics: Sequence[Diagnostic]) -> list[int]:
    """Where the gravest diagnostic points, as closely as it does, and the nodes that rounded most of the error."""
    reaching = ancestors(program, [end])
    nodes = [node for node in program.nodes if node.id in reaching and node.op not in ("input", "constant")]
    rounding = [node.id for node in nodes if abs(case.rounding.budget.get(node.id, 0.0)) >= LARGE_SHARE]
    gravest = max(diagnostics, key=lambda diagnostic: diagnostic.rank, default=None)
    if gravest is None or gravest.span is None:
        return rounding
    found = _at(nodes, gravest.span)
    named = [node for node in found if node.op == gravest.op]
    return [*rounding, *(node.id for node in (named or found)[-MOST_ORIGINS:])]


def _at(nodes: Iterable[Node], span: Span) -> list[Node]:
    """The nodes at exactly this place; else those of its line."""
    nodes = [node for node in nodes if node.span is not None and node.span.file == span.file]
    exact = [node for node in nodes if node.span == span]
    return exact or [node for node in nodes if node.span is not None and node.span.line == span.line]


def ways(program: Program, origins: Iterable[int], end: int) -> frozenset[int]:
    """For each origin the nodes of a shortest way from it to the end."""
    onwards: dict[int, tuple[int, int | None]] = {end: (0, None)}  # steps to the end, and the next of them
    for node in reversed(program.nodes):
        if node.id in onwards:
            steps = onwards[node.id][0] + 1
            for id in node.inputs:
                if id not in onwards or onwards[id][0] > steps:
                    onwards[id] = (steps, node.id)
    found: set[int] = set()
    for origin in origins:
        here = origin if origin in onwards else None
        while here is not None and here not in found:
            found.add(here)
            here = onwards[here][1]
    return frozenset(found)
