"""Where a program reads `.grad`: by the names in its source, since reading it leaves no trace."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeGuard

from gradproof.ir.syntax import tree_of

Loop = tuple[ast.expr, ast.expr, Sequence[ast.AST]]
"""What is gone through, the names it is given, and what is done with it."""
_PLACE = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True)
class GradReads:
    """Expressions whose `.grad` is read, modules whose parameters are gone through for it, and whether None is
    reckoned with there."""

    names: frozenset[str]
    modules: frozenset[str]
    expects_none: bool

    def has(self, path: str) -> bool:
        """Whether the gradient of what has this name, or this path from a module, is read."""
        path = plain_path(path)
        return path in self.names or any(path.startswith(f"{root}.") for root in self.modules)


def plain_path(expression: str) -> str:
    """`net.0.weight` for `net[0].weight`."""
    return _PLACE.sub(r".\1", expression)


@lru_cache(maxsize=256)
def grad_reads(file: str) -> GradReads:
    tree = tree_of(file)
    if tree is None:
        return GradReads(frozenset(), frozenset(), False)
    names = {plain_path(ast.unparse(node.value)) for node in ast.walk(tree) if _is_read(node)}
    names |= set(_listed(tree))
    compared = (node.left for node in ast.walk(tree) if isinstance(node, ast.Compare) and _is_none(node))
    return GradReads(frozenset(names), frozenset(_walked(tree)), any(_is_read(node) for node in compared))


@lru_cache(maxsize=256)
def reads_beside(file: str, line: int) -> frozenset[str]:
    """The names whose `.grad` is read after a line in the same function, or with it outside of all functions."""
    tree = tree_of(file)
    if tree is None:
        return frozenset()
    own = _function_at(tree, line)
    reads = [node for node in _names_read(tree) if _function_at(tree, node.lineno) is own]
    return frozenset(node.value.id for node in reads if _comes_after(own, node.lineno, line))


@lru_cache(maxsize=256)
def reads_over(file: str, line: int) -> frozenset[str]:
    """The names whose `.grad` is read only before a line of the same function: what they mean then, is over."""
    tree = tree_of(file)
    if tree is None:
        return frozenset()
    own = _function_at(tree, line)
    reads = list(_names_read(tree))
    later = {
        node.value.id
        for node in reads
        if _function_at(tree, node.lineno) is not own or _comes_after(own, node.lineno, line)
    }
    return frozenset(node.value.id for node in reads) - later


def _names_read(tree: ast.AST) -> Iterator[Any]:
    return (node for node in ast.walk(tree) if _is_read(node) and isinstance(node.value, ast.Name))


def _comes_after(own: ast.AST, read: int, line: int) -> bool:
    """Further down, or in a loop around both, which comes back to it."""
    around = (node for node in ast.walk(own) if isinstance(node, ast.For | ast.While))
    return read >= line or any(
        node.lineno <= read and max(read, line) <= (node.end_lineno or 0) for node in around
    )


def _function_at(tree: ast.Module, line: int) -> ast.AST:
    inside = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
    return max(inside, key=lambda node: node.lineno, default=tree)


def _is_read(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "grad" and isinstance(node.ctx, ast.Load)


def _is_none(node: ast.Compare) -> bool:
    return any(isinstance(one, ast.Constant) and one.value is None for one in node.comparators)


def _loops(tree: ast.AST) -> Iterator[Loop]:
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            yield node.iter, node.target, node.body
        elif isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            yield from ((one.iter, one.target, [node.elt]) for one in node.generators)
        elif isinstance(node, ast.DictComp):
            yield from ((one.iter, one.target, [node.value]) for one in node.generators)


def _reads_each(loop: Loop) -> bool:
    """Whether a loop reads `.grad` of what it goes through."""
    _, target, body = loop
    own = {node.id for node in ast.walk(target) if isinstance(node, ast.Name)}
    read = (node.value for part in body for node in ast.walk(part) if _is_read(node))
    return any(isinstance(value, ast.Name) and value.id in own for value in read)


def _walked(tree: ast.AST) -> Iterator[str]:
    """`model` in `for name, p in model.named_parameters(): print(p.grad)`."""
    for loop in filter(_reads_each, _loops(tree)):
        called = loop[0].func if isinstance(loop[0], ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in ("parameters", "named_parameters"):
            yield plain_path(ast.unparse(called.value))


def _listed(tree: ast.AST) -> Iterator[str]:
    """`w` and `b` in `for p in (w, b): print(p.grad)`, and with a name beside each."""
    for loop in filter(_reads_each, _loops(tree)):
        for one in loop[0].elts if isinstance(loop[0], ast.List | ast.Tuple) else ():
            parts = one.elts if isinstance(one, ast.Tuple) else [one]
            yield from (
                plain_path(ast.unparse(part))
                for part in parts
                if isinstance(part, ast.Name | ast.Attribute | ast.Subscript)
            )
