"""The ops around those at which modes part, as a small graph to be drawn."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from gradproof.ir.program import Node, Program

MOST_OPS = 18  # a picture that is taken in at a glance


@dataclass(frozen=True)
class GraphOp:
    """One op of the picture: in which row from the top it stands, what it reads, whether modes part here."""

    id: int
    op: str
    phase: str
    line: int | None
    row: int
    inputs: tuple[int, ...]
    is_marked: bool


def graph_around(program: Program | None, marked: Iterable[int]) -> tuple[GraphOp, ...]:
    """The nearest neighbours of the marked nodes, with the ways between them; rows go with the flow of numbers."""
    if program is None:
        return ()
    known = _drawn(program)
    centre = [id for id in dict.fromkeys(marked) if id in known]
    chosen = _near(known, centre)
    rows: dict[int, int] = {}
    found = []
    for node in known.values():
        if node.id not in chosen:
            continue
        inputs = tuple(dict.fromkeys(id for id in node.inputs if id in chosen))
        rows[node.id] = 1 + max((rows[id] for id in inputs), default=-1)
        line = None if node.span is None else node.span.line
        found.append(GraphOp(node.id, node.op, node.phase, line, rows[node.id], inputs, node.id in centre))
    return tuple(found)


def _drawn(program: Program) -> dict[int, Node]:
    """All ops but numbers and those that only hand on what they are given, which are left out of the ways."""
    behind: dict[int, int] = {}
    known: dict[int, Node] = {}
    for node in program.nodes:
        inputs = tuple(behind.get(id, id) for id in node.inputs)
        if node.op == "identity":
            behind[node.id] = inputs[0]
        elif node.op != "constant":
            known[node.id] = replace(node, inputs=inputs)
    return known


def _near(known: dict[int, Node], centre: list[int]) -> set[int]:
    readers: dict[int, list[int]] = {}
    for node in known.values():
        for id in node.inputs:
            readers.setdefault(id, []).append(node.id)
    chosen, frontier = dict.fromkeys(centre), list(centre)
    while frontier and len(chosen) < MOST_OPS:
        step = [
            other
            for id in frontier
            for other in (*known[id].inputs, *readers.get(id, ()))
            if other in known and other not in chosen
        ]
        for id in dict.fromkeys(step):
            if len(chosen) < MOST_OPS:
                chosen[id] = None
        frontier = list(dict.fromkeys(step))
    return set(chosen)
