"""How a program is handed to a framework: what is an argument, what a literal, what is to be computed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors, descendants
from gradproof.ir.types import Array

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Feed:
    """A program cut into what a compiler sees as arguments and literals, and the ops in between.

    Numbers of the program's own become literals, since a compiler may fold them as it would in the user's program;
    arrays and everything that does not depend on the inputs are arguments. Decisions are arguments too: every mode
    takes the branches that were taken.
    """

    program: Program
    given: Mapping[int, Array]
    literals: Mapping[int, Array]
    computed: tuple[Node, ...]
    _made: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What a mode makes of it, found again when the mode runs again: a compiler is asked once."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_made": {}}  # another process compiles for itself


def feed(program: Program, outputs: Sequence[int]) -> Feed:
    """The program as far as `outputs` need it."""
    moving = descendants(program, program.inputs)
    given: dict[int, Array] = {}
    literals: dict[int, Array] = {}
    computed: list[Node] = []
    needed = _needed(program, outputs, moving)
    for node in program.nodes:
        if node.id not in needed:
            continue
        if not _is_recorded(node, moving):
            # What was recorded of it is not asked for, and a compiler that looks at all it meets may refuse the array.
            computed.append(node if isinstance(node.value, tuple) else replace(node, value=None))
        elif _is_literal(program, node):
            literals[node.id] = np.asarray(node.value)
        else:
            given[node.id] = np.asarray(node.value)
    return Feed(program, given, literals, tuple(computed))


def _is_literal(program: Program, node: Node) -> bool:
    """A number that stands in the program, in whatever dtype it is taken."""
    while node.op == "cast":
        node = program[node.inputs[0]]
    return node.op == "constant" and node.shape == () and not node.is_discrete


def _is_recorded(node: Node, moving: set[int]) -> bool:
    """Whether a node is as it was recorded: a leaf, a decision, or what the forward program computed from neither."""
    if node.value is None or isinstance(node.value, tuple):
        return False
    return not node.inputs or node.is_discrete or (node.phase == "forward" and node.id not in moving)


def _needed(program: Program, outputs: Sequence[int], moving: set[int]) -> set[int]:
    needed = set(outputs)
    for node in reversed(program.nodes):
        if node.id in needed and not _is_recorded(node, moving):
            needed.update(node.inputs)
    return needed


def in_precision(program: Program, dtype: str) -> Program:
    """The same program with every real number in one dtype.

    What was computed in another one is forgotten, also where it does not depend on the inputs: `cast(1e-5)` is
    another number in each.
    """
    return replace(program, nodes=tuple(_cast(node, dtype) for node in program.nodes))


def _cast(node: Node, dtype: str) -> Node:
    if not types.is_real(node.dtype):
        return node
    params: dict[str, Any] = dict(node.params)
    if node.op == "cast":
        params["dtype"] = dtype
    is_kept = node.value is not None and (not node.inputs or node.is_opaque)
    with np.errstate(all="ignore"):
        value = np.asarray(node.value).astype(types.numpy_dtype(dtype)) if is_kept else None
    return replace(node, dtype=dtype, params=params, value=value)


def is_all_real(program: Program) -> bool:
    """Whether a program can be run in another precision: complex numbers have only two."""
    return not any(types.is_complex(node.dtype) for node in program.nodes)


def opaque_on_the_way(program: Program, outputs: Sequence[int]) -> str | None:
    """The name of an op without a meaning that the outputs need."""
    needed = ancestors(program, outputs) & descendants(program, program.inputs)
    return next((node.op for node in program.nodes if node.id in needed and node.is_opaque), None)
