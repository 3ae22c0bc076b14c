"""A rule that the user wrote: where it stands in the source, and the arguments that it gives no gradient."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from tensorflow.python.framework import ops as tf_ops

from gradproof.frontends.tensorflow.recording import GradientCall, Pullback
from gradproof.frontends.tensorflow.source import is_users, tree_of
from gradproof.ir import types
from gradproof.ir.capture import Break
from gradproof.ir.span import Span


def definition_of(function: Any) -> Span | None:
    """Where a function of the user's begins; None for one of a library."""
    code = getattr(function, "__code__", None)
    if code is None or not is_users(code.co_filename):
        return None
    return Span(code.co_filename, code.co_firstlineno, function=code.co_name)


def registered_rule(key: str) -> Any:
    """The function that the user's program has registered under a name for gradients; None for anybody else's."""
    try:
        function = tf_ops.gradient_registry.lookup(key)
    except LookupError:
        return None
    code = getattr(function, "__code__", None)
    return function if code is not None and is_users(code.co_filename) else None


def line_of_rule(rule: Any) -> Span | None:
    """What a rule of the user's returns, if it does so in one place; else where it begins."""
    code = getattr(rule, "__code__", None)
    if code is None or not is_users(code.co_filename):
        return None
    tree = tree_of(code.co_filename)
    for node in () if tree is None else ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min((one.lineno for one in node.decorator_list), default=node.lineno)
            if first == code.co_firstlineno:
                return _returned(code.co_filename, node)
    return Span(code.co_filename, code.co_firstlineno, function=code.co_name)


def _returned(file: str, function: ast.FunctionDef) -> Span:
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return) and node.value is not None]
    if len(returns) != 1 or returns[0].value is None:
        return Span(file, function.lineno, function=function.name)
    value = returns[0].value
    return Span(file, value.lineno, value.col_offset, value.end_lineno, value.end_col_offset, function.name)


def library_of(function: Any, rule: Any) -> str | None:
    """The package that a function and its rule come from; None where one of them is the user's, or has no code."""
    files = [getattr(getattr(one, "__code__", None), "co_filename", None) for one in (function, rule)]
    if any(file is None or is_users(file) for file in files):
        return None
    return str(getattr(function, "__module__", "")).partition(".")[0] or None


def returned_none(call: GradientCall, reached: set[int]) -> Break | None:
    """A rule of the user's ran and returned None for an argument that was computed from the source."""
    scopes = {scope.id: scope for scope in call.scopes}
    for rule in call.pullbacks:
        scope = None if rule.scope is None else scopes.get(rule.scope)
        if scope is None:
            continue
        for k, (value, result) in enumerate(zip(scope.inputs, rule.results)):
            if result is None and value.id in reached and not types.is_discrete(value.dtype):
                at = scope.rule or scope.definition or scope.span
                called = () if call.span is None else ((call.span, "and so does this call"),)
                facts = {"op": scope.name, "argument": str(k + 1)}
                return Break("custom-gradient", at, "returns None for an argument", called, facts)
    return None


def refused(call: GradientCall, rule: Pullback, facts: Mapping[str, str]) -> Break | None:
    """TensorFlow itself complains about what a rule of the user's returned."""
    scope = next((one for one in call.scopes if one.id == rule.scope), None)
    at = None if scope is None else scope.rule or scope.definition or scope.span
    if at is None:
        return None
    if (
        scope is not None and scope.kind != "custom_gradient"
    ):  # a rule that TensorFlow made of the user's function
        facts = {**facts, "op": f"tf.{scope.kind}"}
        return Break("framework-rule", scope.span or at, "has no further derivative", (), facts)
    said = str(rule.exception).split(": ", 1)[-1].split("\n", 1)[0]
    called = () if call.span is None else ((call.span, "and ends this call"),)
    return Break("custom-gradient", at, "TensorFlow refuses this", called, {**facts, "refused": said})
