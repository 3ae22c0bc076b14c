"""A rule that the user wrote: where it stands in the source, and the arguments that it gives no gradient."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorflow.python.framework import ops as tf_ops

from gradproof.frontends.record.model import GradientCall, RuleRun
from gradproof.frontends.record.rule_lines import returned_by
from gradproof.frontends.record.source import is_users
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


def gradient_type(operation: Any) -> str | None:
    """The name under which the gradient of one op of a graph is registered, if it is another than that of its kind."""
    key = operation.node_def.attr.get("_gradient_op_type")
    return None if key is None else str(key.s.decode())


def is_of_users(key: str) -> bool:
    """Whether the rule that `tf.custom_gradient` has registered under a name was written by the user."""
    try:
        wrapped = closed_over(tf_ops.gradient_registry.lookup(key), "tape_grad_fn")
    except LookupError:
        return False
    code = getattr(closed_over(wrapped, "grad_fn"), "__code__", None)
    return code is not None and is_users(code.co_filename)


def closed_over(function: Any, name: str) -> Any:
    """The value of a variable that a function closes over, None if there is none."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    if name not in names:
        return None
    return function.__closure__[names.index(name)].cell_contents


def line_of_rule(rule: Any) -> Span | None:
    """What a rule of the user's returns, if it does so in one place; else where it begins."""
    code = getattr(rule, "__code__", None)
    if code is None or not is_users(code.co_filename):
        return None
    return returned_by(code.co_filename, code.co_name, code.co_firstlineno)


def library_of(function: Any, rule: Any) -> str | None:
    """The package that a function and its rule come from; None where one of them is the user's, or has no code."""
    files = [getattr(getattr(one, "__code__", None), "co_filename", None) for one in (function, rule)]
    if any(file is None or is_users(file) for file in files):
        return None
    return str(getattr(function, "__module__", "")).partition(".")[0] or None


def refused(call: GradientCall, rule: RuleRun, facts: Mapping[str, str]) -> Break | None:
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
