"""Guards a branch that is not taken: its op gets a harmless input wherever its result is dropped."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gradproof.diagnosis.case import Case
from gradproof.fixes.source import Source, parsed
from gradproof.fixes.spelling import alias_of
from gradproof.ir import types
from gradproof.ir.program import Node, Program, ancestors
from gradproof.ops import TABLE

HARMLESS = 1.0  # inside the domain of every function with an edge at 0, and no root of a common denominator
_WHERE = {"tensorflow": "where", "numpy": "where"}


@dataclass(frozen=True, eq=False)
class Guard:
    """The op of the branch, which of its inputs is guarded, and the selection that drops its result."""

    op: Node
    index: int
    selection: Node
    is_kept_where_true: bool


def guards(case: Case) -> Iterator[tuple[Guard, Program]]:
    """The program with each input of the op in the dropped branch guarded in turn."""
    program, found = case.capture.program, case.nonfinite
    if program is None or found is None or found.zero is None:
        return
    place = found.zero.node.span
    selections = [node for node in program.nodes if node.op == "select" and node.span == place]
    ops = [node for node in program.nodes if node.span == found.origin.span and _has_edge(node)]
    for selection in selections:
        behind = [ancestors(program, [id]) for id in selection.inputs[1:]]
        for op in ops:
            sides = [op.id in side for side in behind]
            if sides.count(True) == 1:
                for index in range(len(op.inputs)):
                    guard = Guard(op, index, selection, is_kept_where_true=sides[0])
                    if (guarded := _apply(program, guard)) is not None:
                        yield guard, guarded


def _has_edge(node: Node) -> bool:
    return bool(node.inputs) and node.op in TABLE and bool(TABLE[node.op].edges)


def _apply(program: Program, guard: Guard) -> Program | None:
    argument, condition = program[guard.op.inputs[guard.index]], program[guard.selection.inputs[0]]
    if np.broadcast_shapes(argument.shape, condition.shape) != argument.shape or argument.op == "constant":
        return None
    if condition.id > guard.op.id and condition.id in ancestors(program, [guard.op.id]):
        return None
    next_id = max(node.id for node in program.nodes) + 1
    harmless = np.asarray(HARMLESS, types.numpy_dtype(argument.dtype))
    constant = Node(next_id, "constant", (), argument.dtype, (), value=harmless)
    sides = (argument.id, constant.id) if guard.is_kept_where_true else (constant.id, argument.id)
    safe = Node(next_id + 1, "select", (condition.id, *sides), argument.dtype, argument.shape)
    inputs = (*guard.op.inputs[: guard.index], safe.id, *guard.op.inputs[guard.index + 1 :])
    return _in_order(program, guard.op, [constant, safe, replace(guard.op, inputs=inputs)])


def _in_order(program: Program, op: Node, new: list[Node]) -> Program | None:
    """The op and what uses it come after the condition, which may have been computed later than the op."""
    nodes = [node for node in program.nodes if node.id != op.id] + new
    ordered: list[Node] = []
    known: set[int] = set()
    while nodes:
        ready = [node for node in nodes if all(id in known for id in node.inputs)]
        if not ready:
            return None  # the condition depends on the op itself
        ordered += ready
        known.update(node.id for node in ready)
        nodes = [node for node in nodes if node.id not in known]
    return replace(program, nodes=tuple(ordered))


def guard_patch(guard: Guard, sources: Mapping[str, str], framework: str) -> str:
    """The argument of the op inside a selection of its own; empty where the source does not show it."""
    span = guard.op.span
    source = None if span is None else parsed(sources.get(span.file, ""))
    if span is None or source is None or framework not in _WHERE:
        return ""
    condition = _condition(source, guard)
    argument = _argument(source.at(span), guard.index)
    alias = alias_of(source.tree, framework)
    # The condition is written a second time, so its names must mean the same where the op stands.
    if condition is None or argument is None or alias is None or not _in_reach(source, condition, argument):
        return ""
    written = [ast.get_source_segment(source.text, part) or "" for part in (condition, argument)]
    sides = [written[1], str(HARMLESS)] if guard.is_kept_where_true else [str(HARMLESS), written[1]]
    text = f"{alias}.{_WHERE[framework]}({', '.join([written[0], *sides])})"
    return _diff(source, argument, text, span.file)


def _condition(source: Source, guard: Guard) -> ast.expr | None:
    call = source.at(guard.selection.span)
    return call.args[0] if isinstance(call, ast.Call) and len(call.args) == 3 else None


def _argument(expression: ast.expr | None, index: int) -> ast.expr | None:
    if isinstance(expression, ast.BinOp):
        return (expression.left, expression.right)[index]
    if isinstance(expression, ast.Call) and index < len(expression.args):
        return expression.args[index]
    return None


def _in_reach(source: Source, condition: ast.expr, argument: ast.expr) -> bool:
    first, second = source.statement(argument), source.statement(condition)
    if first is second:
        return True
    if first is None or second is None or source.parents.get(first) is not source.parents.get(second):
        return False
    names = [part for part in ast.walk(condition) if isinstance(part, ast.Name)]
    stores = [store for name in names for store in source.stores(name)]
    return not any(first.lineno <= store.lineno < second.lineno for store in stores)


def _diff(source: Source, argument: ast.expr, text: str, file: str) -> str:
    before = source.text.splitlines(keepends=True)
    if argument.end_lineno != argument.lineno:
        return ""
    after = list(before)
    line = before[argument.lineno - 1].encode()
    changed = line[: argument.col_offset] + text.encode() + line[argument.end_col_offset :]
    after[argument.lineno - 1] = changed.decode()
    return "".join(difflib.unified_diff(before, after, file, file, n=0))
