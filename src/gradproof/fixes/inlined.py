"""What a call of a user's function returns, as an expression at the place of the call.

A formula may be spread over a function and the place that calls it; to write it anew, both have to stand in one
expression. The parts keep the places in the source that they come from.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping

from gradproof.fixes.source import ParsedSource
from gradproof.ir.program import Node, Program

# The methods that run when an object is called: its own, and those that models of frameworks call in turn.
_CALLED = ("__call__", "forward", "call")
_OWN_NAMES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Await)


def inlined(source: ParsedSource, call: ast.Call) -> ast.expr | None:
    """None unless the function is the user's own, does nothing but name what it computes, and can be told for sure."""
    found = _function(source, call)
    given = None if found is None else _given(*found, call)
    if found is None or given is None:
        return None
    function, names = found[0], given
    if any(isinstance(one, _OWN_NAMES) for one in ast.walk(function)):
        return None
    for statement in function.body:
        match statement:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                names = {**names, name: _filled(value, names)}
            case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Name(id=whole)) if whole in names:
                if not all(isinstance(part, ast.Name) for part in parts):
                    return None
                names = {**names, **_entries(parts, names[whole])}
            case ast.Return(value=ast.expr() as value) if statement is function.body[-1]:
                return _filled(value, names) if _means_the_same(source, function, names, call) else None
            case _:
                return None
    return None


Place = tuple[ast.expr | None, Node]  # an expression, and the node that it computed


def callers(program: Program, source: ParsedSource, places: list[Place]) -> list[Place] | None:
    """The calls of the functions that expressions stand in, where there is but one; None where none has one."""
    found = [_caller(program, source, *place) or place for place in places]
    return None if found == places else found


def _caller(
    program: Program, source: ParsedSource, expression: ast.expr | None, node: Node
) -> tuple[ast.Call, Node] | None:
    function = None if expression is None else source.scope(expression)
    if not isinstance(function, ast.FunctionDef) or source.parents.get(function) is not source.tree:
        return None
    uses, last = source.names(source.tree, function.name), function.body[-1]
    call = source.parents.get(uses[0]) if len(uses) == 1 else None
    if not isinstance(call, ast.Call) or inlined(source, call) is None or not isinstance(last, ast.Return):
        return None
    computed = [one for one in program.nodes if source.at(one.span) is last.value and one.inputs]
    inner = {id for one in computed for id in one.inputs}
    values = [one for one in computed if one.id not in inner]
    return (call, values[0]) if len(values) == 1 and values[0].id >= node.id else None


def _function(source: ParsedSource, call: ast.Call) -> tuple[ast.FunctionDef, ast.expr | None] | None:
    """The function that a call runs, and the object whose method it is."""
    match call.func:
        case ast.Name(id=name) if (own := _defined(source.tree.body, name)) is not None:
            return None if _is_rebound(source, name) else (own, None)
        case ast.Name() as model:
            return _method(_class(source, model), _CALLED, model)
        case ast.Attribute(value=ast.Name() as model, attr=name):
            return _method(_class(source, model), (name,), model)
    return None


def _method(
    owner: ast.ClassDef | None, names: tuple[str, ...], model: ast.expr
) -> tuple[ast.FunctionDef, ast.expr] | None:
    found = [one for name in names if owner and (one := _defined(owner.body, name)) is not None]
    return (found[0], model) if len(found) == 1 else None


def _class(source: ParsedSource, model: ast.Name) -> ast.ClassDef | None:
    """The class in the file that a name stands for an object of: given once, or the first argument of a method."""
    scope = source.scope(model)
    around = source.parents.get(scope)
    if isinstance(scope, ast.FunctionDef) and isinstance(around, ast.ClassDef):
        first = scope.args.args[0].arg if scope.args.args else ""
        return around if first == model.id and not scope.decorator_list else None
    stores = [one for one in source.names(source.tree, model.id) if isinstance(one.ctx, ast.Store)]
    made = source.parents.get(stores[0]) if len(stores) == 1 else None
    match made:
        case ast.Assign(targets=[_], value=ast.Call(func=ast.Name(id=name))):
            found = [one for one in source.tree.body if isinstance(one, ast.ClassDef) and one.name == name]
            return found[0] if len(found) == 1 else None
    return None


def _defined(body: list[ast.stmt], name: str) -> ast.FunctionDef | None:
    found = [one for one in body if isinstance(one, ast.FunctionDef) and one.name == name]
    return found[0] if len(found) == 1 and not found[0].decorator_list else None


def _is_rebound(source: ParsedSource, name: str) -> bool:
    return any(not isinstance(one.ctx, ast.Load) for one in source.names(source.tree, name))


def _given(function: ast.FunctionDef, model: ast.expr | None, call: ast.Call) -> dict[str, ast.expr] | None:
    """The expressions that stand for the arguments of a function at one call."""
    own = function.args
    if own.vararg or own.kwarg or own.posonlyargs or own.kwonlyargs:
        return None
    passed = [*([] if model is None else [model]), *call.args]
    names = [one.arg for one in own.args]
    keywords = {one.arg: one.value for one in call.keywords if one.arg is not None}
    if len(passed) > len(names) or len(keywords) < len(call.keywords) or not keywords.keys() <= set(names):
        return None
    if any(isinstance(one, ast.Starred) for one in passed):
        return None
    defaults = dict(zip(reversed(names), reversed(own.defaults)))
    plain = {name: one for name, one in defaults.items() if isinstance(one, ast.Constant)}
    given = {**plain, **dict(zip(names, passed)), **keywords}
    return given if given.keys() == set(names) else None


def _means_the_same(
    source: ParsedSource, function: ast.FunctionDef, names: Mapping[str, ast.expr], call: ast.Call
) -> bool:
    """Whether what a function takes from its module has the same meaning where it is called."""
    free = {one.id for one in _names(function) if isinstance(one.ctx, ast.Load)} - set(names)
    around = source.scope(call)
    while not isinstance(around, ast.Module):
        own = {one.arg for one in ast.walk(around) if isinstance(one, ast.arg)}
        if free & (own | {one.id for one in _names(around) if not isinstance(one.ctx, ast.Load)}):
            return False
        around = source.scope(around)
    return True


def _names(part: ast.AST) -> Iterator[ast.Name]:
    return (one for one in ast.walk(part) if isinstance(one, ast.Name))


def _entries(parts: list[ast.expr], whole: ast.expr) -> dict[str, ast.expr]:
    """`w, b = params`: the names stand for `params[0]` and `params[1]`, which have no place in the source."""
    found: dict[str, ast.expr] = {}
    for k, part in enumerate(parts):
        nowhere = {"lineno": 0, "col_offset": k, "end_lineno": 0, "end_col_offset": k}
        entry = ast.Subscript(whole, ast.Name(f"{k}", ast.Load(), **nowhere), ast.Load(), **nowhere)
        found |= {part.id: entry} if isinstance(part, ast.Name) else {}
    return found


def _filled(value: ast.expr, names: Mapping[str, ast.expr]) -> ast.expr:
    return _Filling(names).visit(copy.deepcopy(value))  # type: ignore[no-any-return]


class _Filling(ast.NodeTransformer):
    """An expression with others in the places of names; those are not copied, so that their place stays known."""

    def __init__(self, names: Mapping[str, ast.expr]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.names.get(node.id, node)
