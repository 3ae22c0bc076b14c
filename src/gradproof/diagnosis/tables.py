"""Differences between a column and a row of the same length: n * n numbers where n were meant."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gradproof.ir.program import Node, Program, descendants

_REDUCTIONS = ("sum", "mean")


@dataclass(frozen=True, eq=False)
class Table:
    """The subtraction, and which of its inputs is the column."""

    node: Node
    column: int

    @property
    def n(self) -> int:
        return self.node.shape[0]


def tables(program: Program, source: int) -> Iterator[Table]:
    """Those that depend on a source, of which one side only moves, and that all end in one number."""
    square = [node for node in program.nodes if _is_square(node)]
    if not square:
        return
    moving = descendants(program, program.inputs)
    own = descendants(program, [source])
    for node in square:
        if node.id in own and _is_table(program, node, moving) and _is_reduced(program, node):
            column = next(id for id in node.inputs if len(shape_before(program, id)) == 2)
            yield Table(node, column)


def shape_before(program: Program, id: int) -> tuple[int, ...]:
    """The shape before broadcasting; JAX writes a row as (1, n) first."""
    while program[id].op == "broadcast" or _is_made_a_row(program, id):
        id = program[id].inputs[0]
    return _repeated(program[id]) or program[id].shape


def _repeated(node: Node) -> tuple[int, ...] | None:
    """The shape of labels that a library's loss has spread out over a table before it subtracts them."""
    value = node.value
    if node.op != "constant" or value is None or len(node.shape) != 2 or node.shape[0] != node.shape[1]:
        return None
    same_rows, same_columns = bool((value == value[:1]).all()), bool((value == value[:, :1]).all())
    if same_rows == same_columns:  # one number everywhere, or a table indeed
        return None
    return node.shape[1:] if same_rows else (node.shape[0], 1)


def _is_made_a_row(program: Program, id: int) -> bool:
    node = program[id]
    return node.op == "reshape" and node.shape == (1, *program[node.inputs[0]].shape)


def _is_square(node: Node) -> bool:
    return node.op == "sub" and len(node.shape) == 2 and node.shape[0] == node.shape[1] >= 2


def _is_table(program: Program, node: Node, moving: set[int]) -> bool:
    n = node.shape[0]
    shapes = {shape_before(program, id) for id in node.inputs}
    return shapes == {(n, 1), (n,)} and sum(id in moving for id in node.inputs) == 1


def _is_reduced(program: Program, table: Node) -> bool:
    """Whether all pairs end in one number."""
    after = descendants(program, [table.id])
    return any(
        node.op in _REDUCTIONS and node.shape == () and program[node.inputs[0]].shape == table.shape
        for node in program.nodes
        if node.id in after
    )
