"""A rule that maps tangents forward: it returns the value and one tangent, a sum with a term for every input."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.causes._source import Function
from gradproof.fixes.source import ParsedSource


def is_forward_rule(source: ParsedSource, function: Function) -> bool:
    """`@wave.defjvp` above the function, or `wave.defjvp(rule)` somewhere in the file."""
    marks = [ast.unparse(one) for one in getattr(function, "decorator_list", ())]
    name = getattr(function, "name", None)
    registered = (
        isinstance(one, ast.Call)
        and ast.unparse(one.func).endswith(".defjvp")
        and any(isinstance(each, ast.Name) and each.id == name for each in one.args)
        for one in ast.walk(source.tree)
    )
    return any(".defjvp" in one for one in marks) or any(registered)


def tangent_terms(value: ast.expr, function: Function, n_inputs: int) -> list[ast.expr]:
    """The term of each input in the tangent that is returned; nothing where one of them cannot be told."""
    names = _tangents(function)
    if not isinstance(value, ast.Tuple) or len(value.elts) != 2 or len(names) != n_inputs:
        return []
    found: dict[str, ast.expr] = {}
    for term in _terms(value.elts[1]):
        named = {one.id for one in ast.walk(term) if isinstance(one, ast.Name)} & set(names)
        if len(named) != 1 or (name := named.pop()) in found:
            return []
        found[name] = term
    return [found[name] for name in names] if len(found) == len(names) else []


def _tangents(function: Function) -> list[str]:
    """The names that the second argument is taken apart into: `dx, dy = tangents`, or `(dx,) = tangents`."""
    last = function.args.args[-1].arg if function.args.args else ""
    for one in ast.walk(function):
        if not isinstance(one, ast.Assign) or not isinstance(one.value, ast.Name) or one.value.id != last:
            continue
        if isinstance(one.targets[0], ast.Tuple | ast.List):
            return [each.id for each in one.targets[0].elts if isinstance(each, ast.Name)]
    return []


def _terms(part: ast.expr) -> Iterator[ast.expr]:
    if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Add | ast.Sub):
        yield from (*_terms(part.left), *_terms(part.right))
    else:
        yield part
