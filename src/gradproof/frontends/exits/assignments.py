"""What is assigned to a name, and what may have a part in its numbers, read off the source of its scope."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
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
        found = _bound_in(scope, kind is not None).get(name.id)
        if found:
            yield from found
            return


@lru_cache(maxsize=4096)
def feeding(file: str, node: ast.expr) -> Sequence[ast.expr]:
    """Whatever may have a part in the numbers of a name, or of an attribute, in its scope: what it is given, what it
    runs over, what is added to it or put into it. Good for saying what is possible, not for telling what happened."""
    tree = tree_of(file)
    if tree is None or not isinstance(node, ast.Name | ast.Attribute):
        return ()
    # An attribute is given its numbers in one method and read in another.
    is_name = isinstance(node, ast.Name)
    for scope in _scopes(tree, node.lineno) if is_name else [tree]:
        found = _fed_in(scope, not is_name).get(_held(node))
        if found:
            return found
    return ()


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


_Held = tuple[type[ast.expr], str]  # a name, or an attribute of whatever it is


def _held(node: ast.Name | ast.Attribute) -> _Held:
    return type(node), node.id if isinstance(node, ast.Name) else node.attr


@lru_cache(maxsize=256)
def _fed_in(scope: ast.AST, inner: bool) -> Mapping[_Held, Sequence[ast.expr]]:
    """All that a scope, or with what is `inner` to it, gives to each name or attribute, in the order of its text."""
    found: dict[_Held, list[ast.expr]] = {}
    for node in ast.walk(scope) if inner else _statements(scope):
        for target, value in _fed(node):
            for held in set(_holders(target)):
                found.setdefault(held, []).append(value)
    return found


def _fed(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is given a part in its numbers, and by what."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AugAssign() | ast.AnnAssign() | ast.NamedExpr():
            if node.value is not None:
                yield node.target, node.value
        case ast.For() | ast.comprehension():
            yield node.target, node.iter
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args) if attr in _FILLING:
            yield from ((value, one) for one in args)


def _holders(target: ast.expr) -> Iterator[_Held]:
    """The name, or the attribute, that is assigned to, or of which a part is; several where a tuple is unpacked."""
    if isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from _holders(one)
    elif isinstance(target, ast.Subscript | ast.Starred):
        yield from _holders(target.value)
    elif isinstance(target, ast.Name | ast.Attribute):
        yield _held(target)


_Bound = tuple[int, ast.expr, int | None]


@lru_cache(maxsize=256)
def _bound_in(scope: ast.AST, grown: bool) -> Mapping[str, Sequence[_Bound]]:
    """By name: what a scope assigns to it, or what it adds where it is `grown`, in the order of its text."""
    found: dict[str, list[_Bound]] = {}
    for node in _statements(scope):
        for name, one in (_grown if grown else _bound)(node):
            found.setdefault(name, []).append(one)
    return found


def _grown(node: ast.AST) -> Iterator[tuple[str, _Bound]]:
    if isinstance(node, ADDED) and isinstance(node.op, ast.Add) and isinstance(node.target, ast.Name):
        yield node.target.id, (node.lineno, node.value, None)


def _bound(node: ast.AST) -> Iterator[tuple[str, _Bound]]:
    if isinstance(node, ast.NamedExpr):
        yield node.target.id, (node.lineno, node.value, None)
    for target in node.targets if isinstance(node, ast.Assign) else ():
        assert isinstance(node, ast.Assign)
        if isinstance(target, ast.Name):
            yield target.id, (node.lineno, node.value, None)
        elif isinstance(target, ast.Tuple | ast.List):
            for k, item in enumerate(target.elts):
                if isinstance(item, ast.Name):
                    values = node.value.elts if isinstance(node.value, ast.Tuple | ast.List) else None
                    if values is not None and len(values) == len(target.elts):
                        yield item.id, (node.lineno, values[k], None)
                    elif values is None:
                        yield item.id, (node.lineno, node.value, k)
