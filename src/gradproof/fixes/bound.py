"""Whether a change of the user's lines uses only names that have a value there, and none of a module as a number."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from gradproof.fixes.source import ParsedSource, parsed
from gradproof.fixes.spelling import imported_names, root_name

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_KNOWN = frozenset(dir(builtins)) | {"__name__", "__file__", "__doc__", "__builtins__"}


def is_runnable(text: str, lines: range) -> bool:
    """Whether a file is Python, and on these lines no name is used before it has a value, and no module as a number."""
    source = parsed(text)
    if source is None:
        return False
    modules, imported = _modules(source), imported_names(source.tree)
    return all(
        _is_bound(source, use) and not (use.id in modules and _is_operand(source, use, imported))
        for use in _uses(source, lines)
    )


def _modules(source: ParsedSource) -> frozenset[str]:
    """Names that stand for modules for certain: what is imported from one may be a function."""
    nodes = list(ast.walk(source.tree))
    imports = (node for node in nodes if isinstance(node, ast.Import))
    given = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    given |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    return (
        frozenset(one.asname or one.name.partition(".")[0] for node in imports for one in node.names) - given
    )


def _is_operand(source: ParsedSource, use: ast.Name, imported: frozenset[str]) -> bool:
    """Whether something is computed of it: by an operator, or by a function of a library."""
    around = source.parents.get(use)
    if isinstance(around, ast.Call):
        return use in around.args and root_name(around.func) in imported
    return isinstance(around, ast.BinOp | ast.UnaryOp | ast.Compare)


def _uses(source: ParsedSource, lines: range) -> Iterator[ast.Name]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.lineno in lines:
            yield node


def _is_bound(source: ParsedSource, use: ast.Name) -> bool:
    if use.id in _KNOWN:
        return True
    around = [one for one in _around(source, use) if not isinstance(one, ast.ClassDef)]
    for depth, scope in enumerate(around):
        for binding in _bindings(source, scope, use.id):
            # What stands further out is bound by the time a function is called, as far as the text can tell.
            if depth > 0 or binding is None or _is_before(source, binding, use):
                return True
    return False


def _around(source: ParsedSource, node: ast.AST) -> Iterator[ast.AST]:
    found: ast.AST | None = source.parents.get(node)
    while found is not None:
        if isinstance(found, (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef, ast.Module)):
            yield found
        found = source.parents.get(found)


def _bindings(source: ParsedSource, scope: ast.AST, name: str) -> Iterator[ast.AST | None]:
    """Each place in a scope that gives a name a value; None for one that holds from the beginning."""
    if isinstance(scope, _FUNCTIONS):
        arguments = scope.args
        own = [
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            arguments.vararg,
            arguments.kwarg,
        ]
        yield from (None for one in own if one is not None and one.arg == name)
    for node in ast.walk(scope):
        if node is not scope and next(_around(source, node), None) is not scope:
            continue
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store):
            yield None if isinstance(scope, _COMPREHENSIONS) else node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            given = [alias.asname or alias.name.partition(".")[0] for alias in node.names]
            if name in given or "*" in given:
                yield node
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == name:
            yield node if node is not scope else None
        elif isinstance(node, ast.Global | ast.Nonlocal) and name in node.names:
            yield None
        elif isinstance(node, ast.ExceptHandler) and node.name == name:
            yield node


def _is_before(source: ParsedSource, binding: ast.AST, use: ast.Name) -> bool:
    """By the order of the lines; within one statement a value comes before the name it is given."""
    first, second = source.statement(binding), source.statement(use)
    if first is None or second is None:
        return False
    if first is second:
        return not isinstance(first, ast.Assign | ast.AugAssign | ast.AnnAssign)
    return first.lineno < second.lineno
