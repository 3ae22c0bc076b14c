"""Gradients of which the program itself asserts that there is none: a test of what is not connected."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of_text


def expects_none(call: Span, text: str) -> bool:
    """Whether what the call returned is asserted to be None: where it stands, or by the name it was given."""
    tree = tree_of_text(text)
    if tree is None or call.column is None:
        return False
    for body in _bodies(tree):
        given: str | None = None  # the name of what the call returned, until it is another's
        for statement in body:
            asserted = _asserted(statement)
            if asserted is not None and (_is_at(asserted, call) or _is_named(asserted, given)):
                return True
            if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
                given = _name_given(statement, call, given)
    return False


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Statements in the order they are written, a function at a time; those inside a block follow its head."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    for scope in (tree, *(node for node in ast.walk(tree) if isinstance(node, functions))):
        yield list(_flat(scope.body))


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody"):
                yield from _flat(getattr(statement, field, []))


def _asserted(statement: ast.stmt) -> ast.expr | None:
    """What `assert x is None` or `self.assertIsNone(x)` speaks of."""
    if isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare):
        test = statement.test
        is_none = isinstance(test.ops[0], ast.Is) and ast.unparse(test.comparators[0]) == "None"
        return test.left if is_none and len(test.ops) == 1 else None
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value
        is_method = isinstance(called.func, ast.Attribute) and called.func.attr == "assertIsNone"
        return called.args[0] if is_method and called.args else None
    return None


def _is_at(node: ast.expr, call: Span) -> bool:
    return (node.lineno, node.col_offset) == (call.line, call.column) and (
        call.end_line is None or (node.end_lineno, node.end_col_offset) == (call.end_line, call.end_column)
    )


def _is_named(node: ast.expr, name: str | None) -> bool:
    return name is not None and isinstance(node, ast.Name) and node.id == name


def _name_given(statement: ast.Assign, call: Span, given: str | None) -> str | None:
    target = statement.targets[0]
    name = target.id if isinstance(target, ast.Name) else None
    if _is_at(statement.value, call):
        return name
    return None if name == given else given
