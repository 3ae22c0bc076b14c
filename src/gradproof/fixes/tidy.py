"""What was written by a machine, as a person would have it: no sign that undoes another, no name said in each term."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from gradproof.fixes.source import ParsedSource
from gradproof.ir import syntax

_PRODUCT = (ast.Mult, ast.Div, ast.MatMult)


def without_double_signs(tree: ast.expr) -> ast.expr:
    """`--x` as `x`, and `-(-x @ w)` as `x @ w`: the sign of a number is exact, so that this is no other number."""
    return _Signs().visit(tree)  # type: ignore[no-any-return]


class _Signs(ast.NodeTransformer):
    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        return _opposite(node.operand) or node if isinstance(node.op, ast.USub) else node


def _opposite(part: ast.expr) -> ast.expr | None:
    """Without the sign that it begins with; None where it begins with none."""
    match part:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return inner
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _PRODUCT):
            first = _opposite(left)
            return None if first is None else ast.BinOp(first, op, right)
    return None


def with_factor_ahead(tree: ast.expr) -> ast.expr:
    """`g * a + g * b` as `g * (a + b)`, where the terms of a sum begin with the same name."""
    if not isinstance(tree, ast.BinOp) or not isinstance(tree.op, ast.Add | ast.Sub):
        return tree
    left, right = with_factor_ahead(tree.left), _split(tree.right)
    first = _split(left)
    if first[0] is None or right[0] != first[0]:
        return ast.BinOp(left, tree.op, tree.right)
    return ast.BinOp(ast.Name(first[0]), ast.Mult(), ast.BinOp(first[1], tree.op, right[1]))


def _split(term: ast.expr) -> tuple[str | None, ast.expr]:
    """The name that a product begins with, and what is left of it."""
    match term:
        case ast.Name(id=name):
            return name, ast.Constant(1)
        case ast.BinOp(left=ast.Name(id=name), op=ast.Mult(), right=right):
            return name, right
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, ast.Mult | ast.Div):
            first, rest = _split(left)
            is_one = isinstance(rest, ast.Constant) and rest.value == 1 and isinstance(op, ast.Mult)
            return first, right if is_one else ast.BinOp(rest, op, right)
    return None, term


def with_plain_choices(tree: ast.expr) -> ast.expr:
    """No selection asks again what the one around it knows, and two that drop the same are one."""
    return _Choices({}).visit(tree)  # type: ignore[no-any-return]


class _Choices(ast.NodeTransformer):
    """`known` are the conditions around, by their text, and which side of them this is."""

    def __init__(self, known: Mapping[str, bool]) -> None:
        self.known = known

    def visit_Call(self, node: ast.Call) -> Any:
        if not ast.unparse(node.func).endswith("where") or len(node.args) != 3 or node.keywords:
            return self.generic_visit(node)
        condition = self.visit(node.args[0])
        said = ast.unparse(condition)
        if said in self.known:
            return self.visit(node.args[1 if self.known[said] else 2])
        kept, other = (
            _Choices({**self.known, said: side}).visit(part)
            for side, part in zip((True, False), node.args[1:])
        )
        match kept:
            case ast.Call(func=function, args=[inner, deeper, dropped]) if ast.unparse(
                function
            ) == ast.unparse(node.func) and ast.unparse(dropped) == ast.unparse(other):
                condition, kept = ast.BinOp(condition, ast.BitAnd(), inner), deeper
        return ast.Call(node.func, [condition, kept, other], [])


def with_local_names(source: ParsedSource, place: ast.expr, text: str) -> str:
    """A text with the names that the function around its place has given to parts of it by then."""
    statement, scope = source.statement(place), source.scope(place)
    if statement is None or not isinstance(scope, ast.FunctionDef):
        return text
    known: dict[str, str] = {}
    for one in scope.body:
        match one:
            case ast.Assign(targets=[ast.Name() as target], value=value) if one.lineno < statement.lineno:
                used = [part for part in ast.walk(value) if isinstance(part, ast.Name)]
                is_plain = isinstance(value, ast.Name | ast.Constant)
                if not is_plain and all(_has_one_value(source, scope, name) for name in (target, *used)):
                    known[ast.dump(value)] = target.id
    named = _Named(known).visit(syntax.expression(text))
    return ast.unparse(ast.fix_missing_locations(named)) if known else text


def _has_one_value(source: ParsedSource, scope: ast.FunctionDef, name: ast.Name) -> bool:
    """Whether it is given a value once, and nothing is written into that: an entry, or all of it by `x.mul_(2)`."""
    is_argument = any(one.arg == name.id for one in ast.walk(scope.args) if isinstance(one, ast.arg))
    around = [source.parents.get(one) for one in source.names(scope, name.id)]
    is_written = any(
        (isinstance(one, ast.Subscript) and not isinstance(one.ctx, ast.Load))
        or (isinstance(one, ast.Attribute) and (one.attr.endswith("_") or not isinstance(one.ctx, ast.Load)))
        for one in around
    )
    return len(source.stores(name)) + is_argument <= 1 and not is_written


class _Named(ast.NodeTransformer):
    def __init__(self, known: dict[str, str]) -> None:
        self.known = known

    def visit(self, node: ast.AST) -> Any:
        name = self.known.get(ast.dump(node)) if isinstance(node, ast.expr) else None
        return super().visit(node) if name is None else ast.Name(name, ast.Load())
