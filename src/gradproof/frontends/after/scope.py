"""The names of a piece of code: those it binds itself, and what the others mean."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from gradproof.frontends.after.harmless import is_plain

NOTHING = object()


@dataclass
class NameScope:
    """The names that a piece of code binds itself, and what all others mean."""

    outside: Callable[[str], Any]
    bound: set[str]
    assigned: dict[str, list[ast.expr]] = field(default_factory=dict)  # by `name = value`
    stores: Counter[str] = field(default_factory=Counter)  # in all ways
    tapes: set[str] = field(default_factory=set)
    functions: set[str] = field(default_factory=set)

    def holds_only(self, name: str, kinds: tuple[type[ast.AST], ...]) -> bool:
        """Whether a name is bound here only, and only to expressions of these kinds."""
        values = self.assigned.get(name, [])
        return 0 < len(values) == self.stores[name] and all(isinstance(value, kinds) for value in values)


def collect(statements: Iterable[ast.stmt], scope: NameScope, is_block: bool) -> None:
    """The names that statements bind, with what they are bound to; not those of functions inside."""
    for node in (each for statement in statements for each in _own_nodes(statement)):
        if isinstance(node, ast.FunctionDef):
            scope.functions.add(node.name)
            scope.bound.add(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    scope.assigned.setdefault(target.id, []).append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            scope.stores[node.target.id] -= 1  # it stays what it was: something made here, or not
        elif isinstance(node, ast.With):
            scope.tapes |= {i.optional_vars.id for i in node.items if isinstance(i.optional_vars, ast.Name)}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            scope.stores[node.id] += 1
            # In a block a name means what it meant before, until it is bound.
            before = scope.outside(node.id) if is_block else NOTHING
            if before is NOTHING or is_plain(before):
                scope.bound.add(node.id)


def _own_nodes(node: ast.AST) -> Iterable[ast.AST]:
    yield node
    if not isinstance(node, ast.FunctionDef | ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from _own_nodes(child)


def resolved(node: ast.expr, scope: NameScope) -> Any:
    """What a name from outside, or a path of names from a module or object, stands for; `NOTHING` for anything else."""
    if isinstance(node, ast.Name):
        return NOTHING if node.id in scope.bound else scope.outside(node.id)
    if isinstance(node, ast.Attribute):
        owner = resolved(node.value, scope)
        if inspect.ismodule(owner):
            return getattr(owner, node.attr, NOTHING)
        return _held(owner, node.attr)
    return NOTHING


def _held(owner: Any, name: str) -> Any:
    """What an object holds under a name, where no code runs to read it."""
    kind = type(owner)
    if inspect.isfunction(kind.__getattribute__) or hasattr(kind, name):
        return NOTHING
    return getattr(owner, "__dict__", {}).get(name, NOTHING)
