"""The parts of an expression that may hold numbers of tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

# What tells of a tensor's form and not of its numbers.
_FORM = frozenset(
    {"shape", "dtype", "ndim", "size", "name", "len", "get_shape", "range", "zeros_like", "ones_like"}
)


def is_written(node: ast.expr) -> bool:
    """Whether an expression is a number of the program's text."""
    return not any(isinstance(one, ast.Name | ast.Attribute | ast.Call) for one in ast.walk(node))


@lru_cache(maxsize=4096)  # every check asks for the same expressions
def numbers_in(node: ast.expr) -> tuple[ast.expr, ...]:
    return tuple(_walk_numbers(node))


def _walk_numbers(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions inside of one, but for those that only ask for the form of a tensor."""
    if isinstance(node, ast.Attribute) and node.attr in _FORM:
        return
    if isinstance(node, ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called in _FORM:
            return
    yield node
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.expr):
            yield from _walk_numbers(child)
        elif isinstance(child, ast.keyword):
            yield from _walk_numbers(child.value)
        elif isinstance(child, ast.comprehension):
            yield from _walk_numbers(child.iter)
