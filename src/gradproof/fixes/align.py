"""Which expression of the user's source computed which node, found by walking both from a node whose place is known."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from gradproof.fixes.inlined import inlined
from gradproof.fixes.source import ParsedSource, position
from gradproof.fixes.spelling import imported_names, root_name
from gradproof.frameworks import all_frameworks
from gradproof.ir.program import Node, Program
from gradproof.ir.span import Span

STEPS = frozenset({"identity", "cast", "reshape", "broadcast"})
_BINARY = frozenset({"add", "sub", "mul", "div", "power"})
_COMMUTE = frozenset({"add", "mul"})
_PLAIN = (ast.Name, ast.Attribute, ast.Constant, ast.Subscript)
MOST_DEFINITIONS = 8  # names that are followed to what gave them their value, one inside the other


@dataclass(eq=False)
class Alignment:
    """Expressions by the ids of the nodes they computed, the outermost first found, and the names looked behind."""

    program: Program
    source: ParsedSource
    expressions: dict[int, ast.expr] = field(default_factory=dict)
    behind: dict[int, tuple[str, ...]] = field(
        default_factory=dict
    )  # names between the root and an expression

    def add(self, expression: ast.expr, id: int, names: tuple[str, ...] = ()) -> None:
        """Note that an expression computed a node, and go on with its parts."""
        node = self._noted(expression, id, names)
        if isinstance(expression, ast.Name) and len(names) < MOST_DEFINITIONS:
            definition = self.source.definition(expression)
            value = None if definition is None else definition.value
            if value is not None and (isinstance(value, ast.Call) or self._covers(value, node)):
                self.add(value, id, (*names, expression.id))
            return
        if isinstance(expression, ast.Subscript) and node.op not in ("input", "constant") and node.inputs:
            self._noted(expression, node.id, names)
            if self._covers(expression, node):
                self.add(expression.value, self._inputs(node)[0], names)
            return
        if isinstance(expression, ast.Call) and not self._covers(expression, node):
            body = inlined(self.source, expression) if len(names) < MOST_DEFINITIONS else None
            if body is not None and self._covers(body, node):
                self.add(body, id, (*names, root_name(expression.func)))
            return
        if not isinstance(expression, _PLAIN) and self._covers(expression, node):
            for part, operand in self._parts(expression, node):
                self.add(part, operand, names)

    def _noted(self, expression: ast.expr, id: int, names: tuple[str, ...]) -> Node:
        """The node behind steps that no expression of its own stands for."""
        node = self.program[id]
        while True:
            if node.id not in self.expressions:
                self.expressions[node.id], self.behind[node.id] = expression, names
            if node.op not in STEPS or (node.span is not None and not self._same_place(node)):
                return node
            if node.op == "cast" and self.program[node.inputs[0]].is_discrete:
                return node  # the cast of a decision is a step that someone has asked for
            node = self.program[node.inputs[0]]

    def _same_place(self, node: Node) -> bool:
        """Whether a step was made on the way to the next op rather than asked for: both have one place."""
        behind = self.program[node.inputs[0]]
        return behind.span is None or behind.span == node.span or node.op in ("identity", "cast")

    def _covers(self, expression: ast.expr, node: Node) -> bool:
        return self.source.at(node.span) is not None and node.span is not None and position(expression) == (
            node.span.line, node.span.column, node.span.end_line, node.span.end_column,
        )  # fmt: skip

    def _parts(self, expression: ast.expr, node: Node) -> Iterator[tuple[ast.expr, int]]:
        match expression:
            case ast.BinOp(left=left, op=ast.Div(), right=right) if (below := self._below(node)) is not None:
                yield from ((left, id) for id in node.inputs if id != below and node.op == "mul")
                yield right, self.program[below].inputs[0]
            case ast.BinOp(left=left, right=right) if node.op in _BINARY:
                yield from self._operands((left, right), node)
            case ast.BinOp(left=left):
                yield left, node.inputs[0]
            case ast.UnaryOp(op=ast.USub(), operand=operand) if node.op == "neg":
                yield operand, node.inputs[0]
            case ast.Compare(left=left, comparators=[right]):
                yield from zip((left, right), node.inputs)
            case ast.Call(func=function, args=args):
                method = (
                    [function.value]
                    if is_method(self.source, function) and isinstance(function, ast.Attribute)
                    else []
                )
                yield from self._arguments([*method, *args], self._inputs(node))

    def _below(self, node: Node) -> int | None:
        """The reciprocal that a quotient was computed with: `2 / x` may be run as 2 times 1 / x."""
        for id in (node.id, *(node.inputs if node.op == "mul" else ())):
            if self.program[id].op == "reciprocal" and self.program[id].span == node.span:
                return id
        return None

    def _operands(self, sides: tuple[ast.expr, ast.expr], node: Node) -> Iterator[tuple[ast.expr, int]]:
        """`1 + x` may have been computed as `x + 1`, by the method of the array; nothing where that cannot be told."""
        orders = [list(zip(sides, node.inputs))]
        orders += [list(zip(sides, reversed(node.inputs)))] if node.op in _COMMUTE else []
        yield from next((pairs for pairs in orders if all(self._may_be(*pair) for pair in pairs)), ())

    def _arguments(self, given: list[ast.expr], inputs: list[int]) -> Iterator[tuple[ast.expr, int]]:
        """What was passed and what the nodes of the call took, as far as one is certainly the other."""
        if len(inputs) == 1 or len(inputs) == len(given):
            pairs = list(zip(given, inputs))
            if all(self._may_be(part, id) for part, id in pairs):
                yield from pairs
                return
        # Numbers may be an op's own, such as the 0 of a `relu`, and stand in another order than they were passed.
        arrays = [id for id in inputs if self.program[id].op != "constant"]
        passed = [part for part in given if not isinstance(part, ast.Constant)]
        if len(arrays) == len(passed) == 1:
            yield passed[0], arrays[0]

    def _may_be(self, part: ast.expr, id: int) -> bool:
        """A number in the source is a constant of that value; what an expression computes, it computes at its place."""
        node = self.program[id]
        while node.op in STEPS:
            node = self.program[node.inputs[0]]
        number = self._literal(part)
        if number is not None:
            value = np.asarray(node.value)
            return node.op == "constant" and bool((value == np.asarray(number, value.dtype)).all())
        return not node.inputs or isinstance(part, _PLAIN) or _may_be_inside(node.span, part)

    def _literal(self, part: ast.expr) -> float | None:
        """The number that an expression is, or a name was given."""
        definition = self.source.definition(part) if isinstance(part, ast.Name) else None
        value = part if definition is None else definition.value
        return (
            value.value if isinstance(value, ast.Constant) and isinstance(value.value, int | float) else None
        )

    def _inputs(self, node: Node) -> list[int]:
        """What the nodes of one call took from outside it, in order."""
        found: list[int] = []
        for id in node.inputs:
            operand = self.program[id]
            inside = operand.span is not None and operand.span == node.span and bool(operand.inputs)
            found += self._inputs(operand) if inside else [id]
        return list(dict.fromkeys(found))


def _may_be_inside(span: Span | None, part: ast.expr) -> bool:
    """Whether what a place in the source computed may belong to an expression: functions have places of their own."""
    if span is None or span.column is None or any(isinstance(one, ast.Call) for one in ast.walk(part)):
        return True
    begin, end = (span.line, span.column), (span.end_line or span.line, span.end_column or span.column)
    last = part.end_lineno or part.lineno, part.end_col_offset or part.col_offset
    return (part.lineno, part.col_offset) <= begin and end <= last


def is_method(source: ParsedSource, function: ast.expr) -> bool:
    """`x.sum`, as against `np.sum`, `tf.math.log` or `F.softmax`: what stands before the point is not a module."""
    if not isinstance(function, ast.Attribute):
        return False
    base = root_name(function)
    return base not in _modules() and base not in imported_names(source.tree)


@cache
def _modules() -> frozenset[str]:
    """The names that programs usually give to the modules of frameworks."""
    return frozenset(name for one in all_frameworks() for name in (one.alias, one.name))
