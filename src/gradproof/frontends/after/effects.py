"""Whether a piece of the user's program can be shown to have no effects, so that it may run a second time.

Shown means: it calls nothing but functions of libraries that are known to change nothing, and functions of the user's
that are shown so in turn; computes with numbers, arrays and tensors; writes no name, attribute or item from outside.
Everything else is refused, and the refusal says the line and the reason.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from gradproof.frontends.after.function_source import FunctionNode, sources_of
from gradproof.frontends.after.harmless import (
    CONTAINER_METHODS,
    METHODS,
    TAPE_METHODS,
    is_foreign_class,
    is_harmless,
    is_plain,
    is_tape,
)
from gradproof.frontends.after.scope import NOTHING, NameScope, collect, resolved
from gradproof.frontends.record.source import is_users

# Statements and expressions that do nothing beyond what their parts do.
_TRANSPARENT = (
    ast.Expr, ast.If, ast.For, ast.While, ast.Return, ast.Pass, ast.Break, ast.Continue, ast.Assert, ast.Raise, ast.Try,
    ast.ExceptHandler, ast.Constant, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List,
    ast.Dict, ast.Set, ast.Subscript, ast.Slice, ast.JoinedStr, ast.FormattedValue, ast.Starred, ast.ListComp,
    ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.NamedExpr, ast.keyword, ast.operator,
    ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_FRESH = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.Compare)  # what these give was not there before
_CONTAINERS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


class _Refused(Exception):
    """What cannot be shown to have no effect."""


def effect_of(function: Any, ours: Sequence[str] = ()) -> str | None:
    """Why a function cannot be shown to have no effects; None if it can.

    `ours` are arguments that it is given a thing of ours for, which it may write into.
    """
    return _reason(lambda checker: checker.callable(function, "the function"), ours)


def effect_of_block(statements: Sequence[ast.stmt], names: Mapping[str, Any]) -> str | None:
    """The same for statements that are to run with a copy of some names."""

    def outside(name: str) -> Any:
        return names.get(name, getattr(builtins, name, NOTHING))

    return _reason(lambda checker: checker.body(statements, NameScope(outside, set()), is_block=True))


def _reason(check: Callable[[_Checker], None], ours: Sequence[str] = ()) -> str | None:
    try:
        check(_Checker(ours))
    except _Refused as refused:
        return str(refused)
    except RecursionError:
        return "it is nested too deeply to be followed"
    return None


class _Checker:
    """Walks through code; raises `_Refused` where an effect is possible."""

    def __init__(self, ours: Sequence[str]) -> None:
        self._ours = frozenset(ours)
        self._seen: set[int] = set()  # functions that are shown, or are being looked at further out

    def callable(self, function: Any, what: str) -> None:
        """Something that is going to be called."""
        if isinstance(function, functools.partial):
            return self.callable(function.func, what)
        inner = getattr(function, "python_function", None) or getattr(function, "__wrapped__", None)
        if (
            isinstance(inner, FunctionType)
            and inner is not function
            and _is_users_function(inspect.unwrap(inner))
        ):
            return self.callable(inner, what)
        if isinstance(function, np.vectorize):
            return self.callable(function.pyfunc, what)
        if isinstance(function, FunctionType) and _is_users_function(function):
            return self._function(function)
        if not is_harmless(function):
            raise _Refused(f"{what} is not known to have no effects")
        return None

    def _function(self, function: FunctionType) -> None:
        if id(function.__code__) in self._seen:
            return
        self._seen.add(id(function.__code__))
        cells = inspect.getclosurevars(function).nonlocals

        def outside(name: str) -> Any:
            for names in (cells, function.__globals__):
                if name in names:
                    return names[name]
            return getattr(builtins, name, NOTHING)

        nodes = sources_of(function.__code__)
        if not nodes:
            raise _Refused(f"the source of `{function.__name__}` is not at hand")
        for node in nodes:
            self._nested(node, NameScope(outside, set()))

    def _nested(self, node: FunctionNode, around: NameScope) -> None:
        """The body of a function, with the names of what is around it."""
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self.visit(default, around)
        arguments = [a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)]
        inner = NameScope(around.outside, around.bound | set(arguments), tapes=set(around.tapes))
        inner.functions |= around.functions - set(arguments)
        self.body([ast.Expr(node.body)] if isinstance(node, ast.Lambda) else node.body, inner)

    def body(self, statements: Sequence[ast.stmt], scope: NameScope, is_block: bool = False) -> None:
        collect(statements, scope, is_block)
        for statement in statements:
            self.visit(statement, scope)

    def visit(self, node: ast.AST, scope: NameScope) -> None:
        special = getattr(self, f"_{type(node).__name__.lower()}", None)
        if special is not None:
            special(node, scope)
        elif isinstance(node, _TRANSPARENT):
            for child in ast.iter_child_nodes(node):
                self.visit(child, scope)
        elif not isinstance(node, ast.arguments):
            raise _refusal(node, f"`{type(node).__name__.lower()}` is not followed")

    def _name(self, node: ast.Name, scope: NameScope) -> None:
        if node.id in scope.bound or not isinstance(node.ctx, ast.Load):
            return
        self._mentioned(scope.outside(node.id), node)

    def _attribute(self, node: ast.Attribute, scope: NameScope) -> None:
        value = resolved(node, scope)
        if value is NOTHING:
            self.visit(node.value, scope)
        else:
            self._mentioned(value, node)

    def _mentioned(self, value: Any, node: ast.expr) -> None:
        """Something from outside. A function counts as called: where it is handed on to is not followed."""
        if value is NOTHING:
            return
        if is_foreign_class(value) or not (is_plain(value) or callable(value)):
            kind = value if isinstance(value, type) else type(value)
            raise _refusal(node, f"`{ast.unparse(node)}` is of class {kind.__name__}, which is not followed")
        if callable(value) and not isinstance(value, type) and not hasattr(value, "dtype"):
            self._try(value, node)

    def _assign(self, node: ast.Assign, scope: NameScope) -> None:
        for target in node.targets:
            self._target(target, scope)
        self.visit(node.value, scope)

    def _annassign(self, node: ast.AnnAssign, scope: NameScope) -> None:
        self._target(node.target, scope)
        if node.value is not None:
            self.visit(node.value, scope)

    def _augassign(self, node: ast.AugAssign, scope: NameScope) -> None:
        """`a += b` may write into what `a` was: only where that was made here."""
        if isinstance(node.target, ast.Name) and not scope.holds_only(
            node.target.id, (*_FRESH, *_CONTAINERS)
        ):
            raise _refusal(node, f"`{node.target.id}` is changed in place")
        self._target(node.target, scope)
        self.visit(node.value, scope)

    def _target(self, target: ast.expr, scope: NameScope) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            for part in target.elts:
                self._target(part, scope)
        elif isinstance(target, ast.Starred):
            self._target(target.value, scope)
        elif isinstance(target, ast.Subscript):
            owner = target.value
            if not (isinstance(owner, ast.Name) and scope.holds_only(owner.id, _CONTAINERS)):
                raise _refusal(target, f"`{ast.unparse(target)}` is written")
            self.visit(target.slice, scope)
        elif not (isinstance(target, ast.Name) or self._is_of_ours(target)):
            raise _refusal(target, f"`{ast.unparse(target)}` is written")

    def _functiondef(self, node: ast.FunctionDef, scope: NameScope) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator, scope)
            self._called(decorator.func if isinstance(decorator, ast.Call) else decorator, scope)
        self._nested(node, scope)

    def _lambda(self, node: ast.Lambda, scope: NameScope) -> None:
        self._nested(node, scope)

    def _with(self, node: ast.With, scope: NameScope) -> None:
        for item in node.items:
            call = item.context_expr
            made = resolved(call.func, scope) if isinstance(call, ast.Call) else NOTHING
            pauses = (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and self._is_tape(call.func, scope)
            )
            if not pauses and not (isinstance(made, type) and is_harmless(made)):
                raise _refusal(node, f"`with {ast.unparse(call)}` is not known to have no effects")
            self.visit(call, scope)
        for statement in node.body:
            self.visit(statement, scope)

    def _call(self, node: ast.Call, scope: NameScope) -> None:
        self._called(node.func, scope)
        if any(_is_written_into(keyword.arg or "") for keyword in node.keywords):
            raise _refusal(node, f"`{ast.unparse(node.func)}` writes into an argument")
        for part in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(part, scope)

    def _called(self, function: ast.expr, scope: NameScope) -> None:
        """The function of a call: a name or a path, a method, or what another call returned."""
        value = resolved(function, scope)
        if value is not NOTHING:
            return self._try(value, function)
        if isinstance(function, ast.Name) and function.id in scope.functions:
            return None  # defined here, and looked at where it is defined
        if isinstance(function, ast.Lambda):
            return self.visit(function, scope)
        if isinstance(function, ast.Call) and _makes_function(resolved(function.func, scope)):
            return self.visit(function, scope)
        if isinstance(function, ast.Attribute):
            self.visit(function.value, scope)
            owner = function.value
            made_here = isinstance(owner, ast.Name) and scope.holds_only(owner.id, _CONTAINERS)
            if function.attr in METHODS or self._is_tape(function, scope) or self._is_of_ours(function):
                return None
            if made_here and function.attr in CONTAINER_METHODS:
                return None
        raise _refusal(function, f"`{ast.unparse(function)}` is not known to have no effects")

    def _is_of_ours(self, node: ast.expr) -> bool:
        """`ctx.scale` and `ctx.save_for_backward`."""
        return isinstance(node, ast.Attribute) and getattr(node.value, "id", None) in self._ours

    def _is_tape(self, function: ast.Attribute, scope: NameScope) -> bool:
        owner = function.value
        if function.attr not in TAPE_METHODS or not isinstance(owner, ast.Name):
            return False
        return owner.id in scope.tapes or is_tape(resolved(owner, scope))

    def _try(self, value: Any, node: ast.AST) -> None:
        try:
            self.callable(value, f"`{ast.unparse(node)}`")
        except _Refused as refused:
            raise refused if str(refused).startswith("line ") else _refusal(node, str(refused)) from None


def _is_written_into(keyword: str) -> bool:
    """Whether an argument of this name is what a library writes into, or lets it write into another."""
    return keyword in ("out", "output", "file") or keyword.startswith("overwrite")


def _refusal(node: ast.AST, reason: str) -> _Refused:
    return _Refused(f"line {getattr(node, 'lineno', 0)}: {reason}")


def _makes_function(value: Any) -> bool:
    """Whether what it returns does no more than call the function it was given."""
    return is_harmless(value) and getattr(value, "__name__", "") in (
        "function",
        "custom_gradient",
        "recompute_grad",
    )


def _is_users_function(function: Any) -> bool:
    return isinstance(function, FunctionType) and is_users(function.__code__.co_filename)
