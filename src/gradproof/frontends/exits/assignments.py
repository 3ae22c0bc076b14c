"""What is assigned to a name, and what may have a part in its numbers, read off the source of its scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from gradproof.ir.syntax import tree_of

MOST_ASSIGNMENTS = 4  # of one name: with more of them, which one was the last to run is anybody's guess
ADDED = ast.AugAssign
_FILLING = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "appendleft"})


def assignments(
    file: str, name: ast.Name, kind: type[ast.AST] | None = None
) -> Iterator[tuple[int, ast.expr, int | None]]:
    """Line, value and, where a tuple is unpacked, the place in it, of what is assigned, or added, to a name."""
    tree = tree_of(file)
    for scope in () if tree is None else _scopes(tree, name.lineno):
        bound = _bound if kind is None else _grown
        found = [one for node in _statements(scope) for one in bound(node, name.id)]
        if found:
            yield from found
            return


def feeding(file: str, node: ast.expr) -> Iterator[ast.expr]:
    """Whatever may have a part in the numbers of a name, or of an attribute, in its scope: what it is given, what it
    runs over, what is added to it or put into it. Good for saying what is possible, not for telling what happened."""
    tree = tree_of(file)
    if tree is None or not isinstance(node, ast.Name | ast.Attribute):
        return
    # An attribute is given its numbers in one method and read in another.
    scopes = _scopes(tree, node.lineno) if isinstance(node, ast.Name) else [tree]
    for scope in scopes:
        nodes = _statements(scope) if isinstance(node, ast.Name) else _all(tree)
        found = [value for one in nodes for value in _fed(one, node)]
        if found:
            yield from found
            return


def _scopes(tree: ast.Module, line: int) -> list[ast.AST]:
    """The functions around a line, innermost first, then the module."""
    around = [node for node in _functions(tree) if node.lineno <= line <= (node.end_lineno or 0)]
    return [*sorted(around, key=lambda node: -node.lineno), tree]


# A check asks for every constant of a program, and the text of a program stays the same: its trees are walked once.
@lru_cache(maxsize=64)
def _functions(tree: ast.Module) -> tuple[ast.FunctionDef, ...]:
    return tuple(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@lru_cache(maxsize=256)
def _statements(scope: ast.AST) -> tuple[ast.AST, ...]:
    return tuple(_own(scope))


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The statements of a scope without those of the functions in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            yield child
            yield from _own(child)


@lru_cache(maxsize=64)
def _all(tree: ast.Module) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree))


def _fed(node: ast.AST, to: ast.expr) -> Iterator[ast.expr]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from (value for target in targets if _holds(target, to))
        case ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr():
            if node.value is not None and _holds(node.target, to):
                yield node.value
        case ast.For() | ast.comprehension():
            if _holds(node.target, to):
                yield node.iter
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args) if attr in _FILLING:
            if _holds(value, to):
                yield from args


def _holds(target: ast.expr, to: ast.expr) -> bool:
    """Whether a name, or an attribute, is what is assigned to, a part of it, or has a part that is."""
    if isinstance(target, ast.Tuple | ast.List):
        return any(_holds(one, to) for one in target.elts)
    if isinstance(target, ast.Subscript | ast.Starred):
        return _holds(target.value, to)
    if isinstance(to, ast.Name):
        return isinstance(target, ast.Name) and target.id == to.id
    return isinstance(target, ast.Attribute) and isinstance(to, ast.Attribute) and target.attr == to.attr


def _grown(node: ast.AST, name: str) -> Iterator[tuple[int, ast.expr, int | None]]:
    is_sum = isinstance(node, ADDED) and isinstance(node.op, ast.Add)
    if is_sum and isinstance(node.target, ast.Name) and node.target.id == name:  # type: ignore[attr-defined]
        yield node.lineno, node.value, None  # type: ignore[attr-defined]


def _bound(node: ast.AST, name: str) -> Iterator[tuple[int, ast.expr, int | None]]:
    if isinstance(node, ast.NamedExpr) and node.target.id == name:
        yield node.lineno, node.value, None
    for target in node.targets if isinstance(node, ast.Assign) else ():
        assert isinstance(node, ast.Assign)
        if isinstance(target, ast.Name) and target.id == name:
            yield node.lineno, node.value, None
        elif isinstance(target, ast.Tuple | ast.List):
            for k, item in enumerate(target.elts):
                if isinstance(item, ast.Name) and item.id == name:
                    values = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else None
                    if values is not None and len(values) == len(target.elts):
                        yield node.lineno, values[k], None
                    elif values is None:
                        yield node.lineno, node.value, k
