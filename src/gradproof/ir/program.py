"""A program: what ran, as a list of nodes free of any framework."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from gradproof.errors import InvalidInput, InvalidProgram
from gradproof.ir import types
from gradproof.ir.kernel import Kernel
from gradproof.ir.span import Span

Phase = Literal["forward", "backward"]
OPAQUE = "opaque:"  # ops without a meaning keep the framework's name behind this prefix


@dataclass(frozen=True, eq=False)
class Node:
    """One executed op. `value` is what it really produced, where that was recorded.

    Array data are `inputs`, metadata are `params`. A node of dtype `tuple` has several results;
    `item` nodes take them apart. Nodes of a discrete dtype are the program's decisions.
    """

    id: int
    op: str
    inputs: tuple[int, ...]
    dtype: str
    shape: tuple[int, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    span: Span | None = None
    value: Any = None
    phase: Phase = "forward"
    scope: int | None = None  # the custom gradient this node belongs to
    kernel: Kernel | None = None  # computes an opaque op again, where that is possible

    @property
    def is_opaque(self) -> bool:
        return self.op.startswith(OPAQUE)

    @property
    def is_discrete(self) -> bool:
        return types.is_discrete(self.dtype)


@dataclass(frozen=True, eq=False)
class Program:
    """Nodes in the order they ran; `inputs` are what may be differentiated, `outputs` what was asked for."""

    nodes: tuple[Node, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    names: Mapping[int, str] = field(default_factory=dict)

    def __getitem__(self, id: int) -> Node:
        try:
            return self._by_id[id]
        except KeyError:
            raise InvalidProgram(f"id {id} is not bound by any node") from None

    @property
    def _by_id(self) -> dict[int, Node]:
        table: dict[int, Node] | None = self.__dict__.get("_table")
        if table is None:
            table = {node.id: node for node in self.nodes}
            object.__setattr__(self, "_table", table)
        return table

    def with_outputs(self, outputs: Iterable[int]) -> Program:
        return replace(self, outputs=tuple(outputs))

    def __str__(self) -> str:
        from gradproof.ir.text import render

        return render(self)


class Builder:
    """Collects nodes and gives them ids. `build` verifies, so an invalid program never leaves it."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.next_id = 0
        self.inputs: list[int] = []
        self.names: dict[int, str] = {}

    def input(self, value: Any, name: str | None = None, span: Span | None = None) -> int:
        id = self._leaf("input", value, span)
        self.inputs.append(id)
        if name is not None:
            self.names[id] = name
        return id

    def constant(self, value: Any, span: Span | None = None, phase: Phase = "forward") -> int:
        return self._leaf("constant", value, span, phase)

    def add(
        self,
        op: str,
        *inputs: int,
        params: Mapping[str, Any] | None = None,
        value: Any = None,
        dtype: str | None = None,
        shape: tuple[int, ...] | None = None,
        span: Span | None = None,
        phase: Phase = "forward",
        scope: int | None = None,
        id: int | None = None,
        kernel: Kernel | None = None,
    ) -> int:
        """Append a node; dtype and shape are read off `value` unless given, and ids are counted up."""
        if isinstance(value, tuple):
            dtype, shape = types.TUPLE, ()
        elif value is not None:
            value = np.asarray(value)
            dtype = dtype or types.dtype_name(value)
            shape = value.shape if shape is None else shape
        if dtype is None or shape is None:
            raise ValueError(f"node {op!r} needs a value, or a dtype and a shape")
        id = self.next_id if id is None else id
        self.next_id = max(self.next_id, id + 1)
        self.nodes.append(
            Node(id, op, inputs, dtype, shape, dict(params or {}), span, value, phase, scope, kernel)
        )
        return id

    def _leaf(self, op: str, value: Any, span: Span | None, phase: Phase = "forward") -> int:
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise InvalidInput(f"what was given is not an array of numbers: {error}") from error
        return self.add(op, value=array, span=span, phase=phase)

    def build(self, outputs: Iterable[int]) -> Program:
        from gradproof.ir.verify import verify

        program = Program(tuple(self.nodes), tuple(self.inputs), tuple(outputs), dict(self.names))
        verify(program)
        return program


def prune(program: Program, outputs: Iterable[int], kept: Iterable[int] = ()) -> Program:
    """The part of a program that its new outputs and nodes to be kept need; ids stay, and so do all inputs."""
    outputs = tuple(outputs)
    needed = ancestors(program, (*outputs, *kept)) | set(program.inputs)
    nodes = tuple(node for node in program.nodes if node.id in needed)
    return replace(program, nodes=nodes, outputs=outputs)


def ancestors(program: Program, ids: Iterable[int], beyond: Container[int] = ()) -> set[int]:
    """All nodes from which one of `ids` was computed, themselves included; what leads to those `beyond` is left out."""
    reached = set(ids)
    for node in reversed(program.nodes):
        if node.id in reached and node.id not in beyond:
            reached.update(node.inputs)
    return reached


def descendants(program: Program, ids: Iterable[int], beyond: Container[int] = ()) -> set[int]:
    """All nodes computed from one of `ids` through real or complex numbers, themselves included; none `beyond` some.

    A discrete node ends the path: what a decision was made from does not reach the gradient through it, and
    nothing is differentiated by an integer.
    """
    reached = {id for id in ids if not program[id].is_discrete}
    for node in program.nodes:
        is_open = node.dtype not in types.DISCRETE and node.id not in beyond
        if is_open and not reached.isdisjoint(node.inputs):
            reached.add(node.id)
    return reached


def behind_copies(program: Program, id: int) -> int:
    """The node behind copies: frameworks hand on copies of a tensor, and every read of a variable is one."""
    while program[id].op == "identity":
        (id,) = program[id].inputs
    return id
