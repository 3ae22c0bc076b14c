"""Where a rule that a user wrote says what it returns."""

from __future__ import annotations

import ast

from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of


def returned_by(file: str, name: str, line: int) -> Span:
    """What the function that begins at this line returns, if it does so in one place; else where it begins."""
    tree = tree_of(file)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            first = min((one.lineno for one in node.decorator_list), default=node.lineno)
            if line in (first, node.lineno):
                return _returned(file, node)
    return Span(file, line, function=name)


def _returned(file: str, function: ast.FunctionDef) -> Span:
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    if len(returns) != 1 or returns[0].value is None:
        return Span(file, function.lineno, function=function.name)
    value = returns[0].value
    return Span(file, value.lineno, value.col_offset, value.end_lineno, value.end_col_offset, function.name)
