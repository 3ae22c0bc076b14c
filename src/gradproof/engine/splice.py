"""A program in which the derivative of a piece takes the place of nodes that claim to be it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradproof.domains.ieee import Ieee
from gradproof.engine.linearise import pull_back
from gradproof.engine.run import Run, run
from gradproof.engine.trace import Traced, Tracer
from gradproof.ir.program import Builder, Node, Program


@dataclass(frozen=True, eq=False)
class Replacement:
    """The pullback of a piece of a program, exactly as its nodes define it, for some of the piece's inputs.

    `upstream` pairs the piece's outputs with the nodes of their gradients; `results` leads from a node to the input
    of the piece whose gradient takes its place.
    """

    forward: Program
    upstream: tuple[tuple[int, int], ...]
    results: Mapping[int, int]


def spliced(program: Program, replacements: Sequence[Replacement]) -> Program:
    """The program with what its nodes use replaced; those that nothing fits in before their first use are left out.

    The replaced nodes stay, with their ids; what came after them uses the derivative instead.
    """
    places = {node.id: place for place, node in enumerate(program.nodes)}
    due: dict[int, list[Replacement]] = {}
    for one in replacements:
        known = {id for pair in one.upstream for id in pair} | {node.id for node in one.forward.nodes}
        place = max(places[id] for id in known | set(one.results))
        if place < _first_use(program, places, set(one.results)):
            due.setdefault(place, []).append(one)
    writer = _Splicer(program)
    for place, node in enumerate(program.nodes):
        writer.copy(node)
        for one in due.get(place, ()):
            writer.insert(one)
    return writer.built()


def _first_use(program: Program, places: Mapping[int, int], ids: set[int]) -> int:
    uses = (places[node.id] for node in program.nodes if ids & set(node.inputs))
    return min(uses, default=len(program.nodes))


class _Splicer:
    """Writes the nodes anew, keeping what stands for which of the old ones."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.builder = Builder()
        self.builder.next_id = max((node.id for node in program.nodes), default=-1) + 1
        self.tracer = Tracer(self.builder, phase="forward")
        self.traced: dict[int, Any] = {}
        self.moved: dict[int, int] = {}
        self.values: Mapping[int, Any] = {node.id: node.value for node in program.nodes}
        if any(value is None for value in self.values.values()):
            self.values = run(Ieee(), program).values

    def copy(self, node: Node) -> None:
        value = self.values[node.id]
        self.builder.nodes.append(replace(node, inputs=tuple(self._now(node.inputs)), value=value))
        if isinstance(value, tuple):
            self.traced[node.id] = tuple(Traced(self.tracer, node.id, part) for part in value)
        else:
            self.traced[node.id] = Traced(self.tracer, node.id, np.asarray(value))
        if node.op == "item":  # the parts of a tuple are the nodes that take it apart
            whole = list(self.traced[node.inputs[0]])
            whole[node.params["index"]] = self.traced[node.id]
            self.traced[node.inputs[0]] = tuple(whole)

    def insert(self, one: Replacement) -> None:
        seeds: dict[int, Any] = {}
        for output, upstream in one.upstream:
            seed = self.traced[upstream]
            seeds[output] = seed if output not in seeds else self.tracer.add(seeds[output], seed)
        gradients = pull_back(Run(one.forward, self.tracer, self.traced), seeds, set(one.results.values()))
        for result, input in one.results.items():
            found = gradients.get(input)
            if found is None:
                found = self.tracer.constant(np.zeros_like(self.traced[input].value))
            self.traced[result], self.moved[result] = found, found.id

    def _now(self, ids: Iterable[int]) -> list[int]:
        return [self.moved.get(id, id) for id in ids]

    def built(self) -> Program:
        self.builder.inputs.extend(self.program.inputs)
        self.builder.names.update(self.program.names)
        return self.builder.build(self._now(self.program.outputs))
