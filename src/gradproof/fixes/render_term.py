"""Writes nodes of a rewritten program as source: the user's words where nothing changed, else the framework's."""

from __future__ import annotations

import ast
import copy
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from gradproof.fixes.align import Alignment
from gradproof.fixes.graph import Graph
from gradproof.fixes.pattern import MOVES
from gradproof.fixes.source import Position, position
from gradproof.fixes.spelling import alias_of, imported_names, spell
from gradproof.fixes.tidy import without_double_signs
from gradproof.frameworks import framework
from gradproof.ir import syntax
from gradproof.ir.program import Node, Program, descendants
from gradproof.ops.reduce import kept

_EXPONENT = re.compile(r"(?<=\d)e([-+])0(?=\d\b)")  # Python writes 1e-06
_PLACE = "_literal_"  # stands for a number as the user wrote it
_PLAIN = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant)


class Unwritten(Exception):
    """A part of the change has no source, or the framework no function for it."""


class Renderer:
    """Expressions for nodes, at the place of one expression; `looked_behind` are names no longer needed there."""

    def __init__(
        self, new: Program, alignment: Alignment, changed: set[int], framework: str, alias: str | None
    ) -> None:
        self.new, self.alignment, self.changed = new, alignment, changed
        self.place = next(iter(alignment.expressions.values()))  # the expression that is replaced
        self.framework, self.alias = framework, alias
        self.ids = {id(expression): node for node, expression in alignment.expressions.items()}
        self.same = _computed_before(alignment.program, new, changed)
        self.looked_behind: set[str] = set()
        self.written: set[int] = set()  # nodes that the text has words of its own for
        self.needs_math = False  # Python's module, for functions of plain numbers
        self._literals: list[str] = []

    def text(self, root: int) -> str:
        """The expression for a changed node, with the numbers as the user wrote them."""
        return self._written(self._made(self.new[root]))

    def _written(self, part: ast.expr) -> str:
        tidy = ast.fix_missing_locations(without_double_signs(part))
        text = _EXPONENT.sub(r"e\1", ast.unparse(tidy))
        for place, literal in enumerate(self._literals):
            text = text.replace(_placeholder(place), literal)
        return text

    def _expression(self, id: int) -> ast.expr:
        before = self.same.get(id, id)
        self.written |= {id} - {before}
        named = self.alignment.expressions.get(before)
        id = id if named is None or not self._is_known(named, before) else before
        expression = self.alignment.expressions.get(id)
        if expression is not None and self._is_known(expression, id):
            changed = {} if isinstance(expression, _PLAIN) else self._changed(expression)
            if id not in changed.values():  # a name always may stand, as it will have the new value
                self.looked_behind.update(self.alignment.behind.get(id, ()))
                return self._as_written(expression, changed)
        if id in self.changed or expression is None:
            return self._made(self.new[id])
        raise Unwritten

    def _is_known(self, expression: ast.expr, id: int) -> bool:
        """Whether the names of an expression mean at the place of the change what they mean at its own."""
        source = self.alignment.source
        # What a function that is called takes from its module means the same here, and has no place of its own.
        used = [
            part for part in ast.walk(expression) if isinstance(part, ast.Name) and part in source.parents
        ]
        is_elsewhere = bool(self.alignment.behind.get(id, ()))
        return not is_elsewhere or all(source.means_the_same(name, self.place) for name in used)

    def _changed(self, expression: ast.expr) -> dict[Position, int]:
        """The nodes that change, by the places of those parts of an expression that compute them."""
        parts = (part for part in ast.walk(expression) if isinstance(part, ast.expr))
        found = ((part, self.ids.get(_key(part))) for part in parts)
        return {position(part): id for part, id in found if id in self.changed}

    def _as_written(self, expression: ast.expr, changed: Mapping[Position, int]) -> ast.expr:
        """In the user's words, but for the parts that change."""
        source = self.alignment.source.text
        written = copy.deepcopy(expression)
        originals = [part for part in ast.walk(expression) if isinstance(part, ast.Constant)]
        literals = {position(part): ast.get_source_segment(source, part) for part in originals}
        made = {place: self._made(self.new[id]) for place, id in changed.items()}
        return _Literal(literals, self._literals, made).visit(written)  # type: ignore[no-any-return]

    def _made(self, node: Node) -> ast.expr:
        self.written.add(node.id)
        if node.op == "constant":
            return number_expression(node)
        if node.op in ("identity", "broadcast"):
            return self._expression(node.inputs[0])
        if node.op == "reshape":
            return self._kept(node)
        if node.op in MOVES:
            return self._moved(node)
        args = [self._expression(id) for id in node.inputs]
        return self._spelt(node, args, dict(node.params))

    def _moved(self, node: Node) -> ast.expr:
        """The same subscript as in the source, of another array."""
        for id, expression in self.alignment.expressions.items():
            old = self.alignment.program[id]
            same = old.op == node.op and old.params == node.params and old.inputs[1:] == node.inputs[1:]
            if same and isinstance(expression, ast.Subscript):
                written = self._as_written(expression, {})
                assert isinstance(written, ast.Subscript)
                return ast.Subscript(self._expression(self._indexed(old, node)), written.slice, ast.Load())
        raise Unwritten

    def _indexed(self, old: Node, node: Node) -> int:
        """What a subscript is taken of: an index of several arrays is more than one op."""
        before, new = self.alignment.program[old.inputs[0]], self.new[node.inputs[0]]
        while before.span == old.span and before.op == new.op in MOVES and before.params == new.params:
            before, new = self.alignment.program[before.inputs[0]], self.new[new.inputs[0]]
        return new.id

    def _kept(self, node: Node) -> ast.expr:
        """A reduction whose axes stay with length one; or a subscript that drops an axis."""
        inner = self.new[node.inputs[0]]
        if inner.op in MOVES:
            return self._moved(inner)
        if len(inner.inputs) == 1 and self.new[inner.inputs[0]].op in MOVES:
            return self._made(inner)  # the subscript that drops the axis stands inside
        if "axes" not in inner.params or inner.op in ("softmax", "log_softmax"):
            raise Unwritten
        argument = self.new[inner.inputs[0]]
        if node.shape != kept(argument.shape, inner.params["axes"]):
            raise Unwritten
        return self._spelt(inner, [self._expression(inner.inputs[0])], {**inner.params, "keepdims": True})

    def _spelt(self, node: Node, args: list[ast.expr], params: dict[str, Any]) -> ast.expr:
        language, are_numbers = framework(self.framework), map(self._may_be_number, args, node.inputs)
        if language.as_array and node.op in language.spellings and all(are_numbers):
            if hasattr(math, node.op) and all(map(self._is_plain, args)):
                self.needs_math = True
                module = alias_of(self.alignment.source.tree, "math") or "math"
                return ast.Call(ast.Attribute(ast.Name(module), node.op), args, [])
            args = [self._as_array(arg, node) for arg in args]
        ndim = len(self.new[node.inputs[0]].shape) if node.inputs else 0
        made = spell(self.framework, self.alias, node.op, args, params, ndim)
        if made is None:
            raise Unwritten
        return made

    def _is_plain(self, part: ast.expr) -> bool:
        return self.alignment.source.is_plain(syntax.expression(self._written(part)))

    def _may_be_number(self, part: ast.expr, id: int) -> bool:
        """Whether an argument may be a plain number, as far as the file shows: an array is refused by nobody."""
        node, source = self.new[id], self.alignment.source
        while node.op in ("identity", "cast", "broadcast"):
            node = self.new[node.inputs[0]]
        if node.op != "constant" or node.shape or any(isinstance(one, ast.Call) for one in ast.walk(part)):
            return False
        names = {one.id for one in ast.walk(part) if isinstance(one, ast.Name)} - imported_names(source.tree)
        return all(name.startswith(_PLACE) or source.may_be_number(name) for name in names)

    def _as_array(self, part: ast.expr, node: Node) -> ast.expr:
        language = framework(self.framework)
        template = language.as_array.replace(f"{language.alias}.", f"{self.alias}.")
        return syntax.expression(template.format(x=ast.unparse(part), dtype=node.dtype))


def _computed_before(old: Program, new: Program, changed: set[int]) -> dict[int, int]:
    """New nodes by what the user's lines compute already, and go on computing: a name for it can be used."""
    anew = descendants(old, changed)
    kept = {node.id: node for node in old.nodes if node.id not in anew}
    others = [node for node in new.nodes if node.id not in kept]
    graph = Graph(replace(new, nodes=(*kept.values(), *others)))
    return {node.id: first for node in others if node.inputs and (first := graph.first(node.id)) in kept}


def _key(part: ast.expr) -> int:
    return id(part)


class _Literal(ast.NodeTransformer):
    """Numbers stand as they were written: 1e10 is not to become 10000000000.0; and parts that are made anew."""

    def __init__(
        self, texts: Mapping[Position, str | None], literals: list[str], made: Mapping[Position, ast.expr]
    ) -> None:
        self.texts, self.literals, self.made = texts, literals, made

    def visit(self, node: ast.AST) -> Any:
        found = self.made.get(position(node)) if isinstance(node, ast.expr) and self.made else None
        return super().visit(node) if found is None else found

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        text = self.texts.get(position(node))
        if text is None or not isinstance(node.value, int | float):
            return node
        self.literals.append(text)
        return ast.Name(_placeholder(len(self.literals) - 1))


def _placeholder(place: int) -> str:
    return f"{_PLACE}{place}_"


def number_expression(node: Node) -> ast.expr:
    array = np.asarray(node.value)
    # A mask is no number: a library takes no 1.0 for a condition.
    if array.size == 0 or array.dtype == bool or not bool((array == array.flat[0]).all()):
        raise Unwritten
    value = float(array.flat[0])
    if value.is_integer() and abs(value) < 1e6:
        return _signed(int(value))
    return _signed(float(str(array.flat[0])))


def _signed(value: float) -> ast.expr:
    constant = ast.Constant(abs(value))
    return ast.UnaryOp(ast.USub(), constant) if value < 0 else constant
