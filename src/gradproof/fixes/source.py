"""The user's source as a tree: which expression stands at a span, and where a name in it was given its value."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from functools import lru_cache

from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of_text

Position = tuple[int, int, int | None, int | None]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)


@dataclass(frozen=True, eq=False)
class ParsedSource:
    """One parsed file. `parents` leads from a node of the tree to the one it is part of."""

    text: str
    tree: ast.Module
    expressions: dict[Position, ast.expr] = field(default_factory=dict)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)

    def at(self, span: Span | None) -> ast.expr | None:
        """The expression that a span covers exactly."""
        if span is None or span.column is None:
            return None
        return self.expressions.get((span.line, span.column, span.end_line, span.end_column))

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The innermost statement that an expression is part of."""
        found: ast.AST | None = node
        while found is not None and not isinstance(found, ast.stmt):
            found = self.parents.get(found)
        return found

    def indent(self, statement: ast.stmt) -> str:
        """What stands before a statement on its line: more than blanks where it shares the line with another."""
        return self.text.splitlines()[statement.lineno - 1].encode()[: statement.col_offset].decode()

    def scope(self, node: ast.AST) -> ast.AST:
        found = self.parents.get(node, self.tree)
        while not isinstance(found, _SCOPES):
            found = self.parents.get(found, self.tree)
        return found

    def owner(self, use: ast.Name) -> ast.AST:
        """The function, or module, whose variable a name is."""
        scope = self.scope(use)
        while scope is not self.tree and not self._has_variable(scope, use.id):
            scope = self.scope(scope)
        return scope

    def _has_variable(self, scope: ast.AST, name: str) -> bool:
        own = [node for node in ast.walk(scope) if self.scope(node) is scope]
        if any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in own):
            return False
        is_argument = any(isinstance(node, ast.arg) and node.arg == name for node in own)
        return is_argument or any(
            isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
            for node in own
        )

    def function_at(self, line: int) -> ast.FunctionDef | None:
        """The innermost function around a line."""
        around = [
            one
            for one in ast.walk(self.tree)
            if isinstance(one, ast.FunctionDef) and one.lineno <= line <= (one.end_lineno or one.lineno)
        ]
        return max(around, key=lambda one: one.lineno, default=None)

    def names(self, scope: ast.AST, name: str) -> list[ast.Name]:
        """Every use of a name inside a function, or a module with all its functions."""
        return [node for node in ast.walk(scope) if isinstance(node, ast.Name) and node.id == name]

    def definition(self, use: ast.Name) -> ast.Assign | None:
        """The last statement `name = ...` before the use of a name, if both stand in the same block."""
        statement = self.statement(use)
        if statement is None:
            return None
        before = [name for name in self.stores(use) if name.lineno < statement.lineno]
        last = max(before, key=lambda name: name.lineno, default=None)
        found = None if last is None else self.parents.get(last)
        if not isinstance(found, ast.Assign) or found.targets != [last]:
            return None
        return found if self.parents.get(found) is self.parents.get(statement) else None

    def means_the_same(self, use: ast.Name, place: ast.AST) -> bool:
        """Whether a name that is used in one statement has the same value in a later one."""
        first, last = self.statement(use), self.statement(place)
        if first is None or last is None or self.scope(use) is not self.scope(place):
            return False
        return not any(first.lineno <= store.lineno < last.lineno for store in self.stores(use))

    def stores(self, use: ast.Name) -> list[ast.Name]:
        """Every place in the same function, or module, that gives a name a value."""
        return [name for name in self.names(self.scope(use), use.id) if not isinstance(name.ctx, ast.Load)]

    def is_list(self, part: ast.expr) -> bool:
        """Whether an expression is a list, or a name that is given lists only: an array has to be made of it."""
        if not isinstance(part, ast.Name):
            return isinstance(part, ast.List | ast.Tuple | ast.ListComp)
        given = [self.parents.get(one) for one in self.stores(part)]
        return bool(given) and all(isinstance(one, ast.Assign) and self.is_list(one.value) for one in given)

    def may_be_number(self, name: str) -> bool:
        """Whether a name is that of a number, or of an argument, which may be given anything."""
        stored = [one for one in self.names(self.tree, name) if isinstance(one.ctx, ast.Store)]
        return not stored or self.is_number(stored[0])

    def is_plain(self, part: ast.expr) -> bool:
        """Whether an expression is arithmetic with such numbers, and with names for them."""
        match part:
            case ast.Name():
                return self.is_number(part)
            case ast.UnaryOp(operand=inner):
                return self.is_plain(inner)
            case ast.BinOp(left=left, right=right):
                return self.is_plain(left) and self.is_plain(right)
        return _is_number(part)

    def is_number(self, use: ast.Name) -> bool:
        """Whether a name stands for a number that is written in the file, or is an argument with one as its default."""
        scope = self.scope(use)
        if use.id in (defaults := _defaults(scope)):
            return _is_number(defaults[use.id])
        uses = self.stores(use) or [
            one for one in self.names(self.tree, use.id) if isinstance(one.ctx, ast.Store)
        ]
        given = [self.parents.get(one) for one in uses]
        return bool(given) and all(isinstance(one, ast.Assign) and _is_number(one.value) for one in given)


def _defaults(scope: ast.AST) -> dict[str, ast.expr | None]:
    """The arguments of a function with their defaults; nothing for a module."""
    if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return {}
    own = [one.arg for one in (*scope.args.posonlyargs, *scope.args.args)]
    given = [None] * (len(own) - len(scope.args.defaults)) + [*scope.args.defaults]
    named = zip((one.arg for one in scope.args.kwonlyargs), scope.args.kw_defaults)
    return {**dict(zip(own, given)), **dict(named)}


def _is_number(value: ast.expr | None) -> bool:
    """Arithmetic with numbers that are written out, and with those that modules have names for."""
    match value:
        case ast.Constant(value=int() | float()) | ast.Attribute(value=ast.Name(), attr="pi" | "e" | "tau"):
            return True
        case ast.UnaryOp(operand=inner):
            return _is_number(inner)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math")), args=args):
            return all(map(_is_number, args))
    return False


@lru_cache(maxsize=64)
def parsed(text: str) -> ParsedSource | None:
    """None for what is not Python, such as a cell of a notebook with commands of its own."""
    tree = tree_of_text(text)
    if tree is None:
        return None
    source = ParsedSource(text, tree)
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            source.parents[child] = node
        if isinstance(node, ast.expr):
            source.expressions.setdefault(position(node), node)
    return source


def position(node: ast.expr) -> Position:
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def is_computed_list(part: ast.expr) -> bool:
    """A list, written out or by a comprehension, whose entries are all computed."""
    if isinstance(part, ast.ListComp):
        return not isinstance(part.elt, ast.Constant)
    return (
        isinstance(part, ast.List | ast.Tuple)
        and all(
            isinstance(one, ast.Name | ast.Attribute | ast.BinOp | ast.Call | ast.UnaryOp | ast.Subscript)
            and any(isinstance(each, ast.Name) for each in ast.walk(one))
            for one in part.elts
        )
        and bool(part.elts)
    )
