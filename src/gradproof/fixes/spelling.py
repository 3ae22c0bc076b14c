"""Writing the ops of a replacement in the words of a framework."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from gradproof.frameworks import Framework, framework
from gradproof.ir import syntax

OPERATORS: dict[str, type[ast.operator]] = {"add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "div": ast.Div}
_FLIPPED: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}
COMPARISONS: dict[str, type[ast.cmpop]] = {
    "greater": ast.Gt, "greater_equal": ast.GtE, "less": ast.Lt, "less_equal": ast.LtE, "equal": ast.Eq,
    "not_equal": ast.NotEq,
}  # fmt: skip
_ALONG = frozenset({"sum", "mean", "prod", "logsumexp"})
_ROWS = frozenset({"softmax", "log_softmax"})


def spell(
    name: str, alias: str | None, op: str, args: Sequence[ast.expr], params: dict[str, Any], ndim: int
) -> ast.expr | None:
    """The call that computes an op; None where the framework has no function for it. `ndim` is of the argument.

    Without an `alias` the file has not imported the framework, and only operators can be written.
    """
    if op in OPERATORS and len(args) == 2:
        return operation(args[0], OPERATORS[op], args[1])
    if op in COMPARISONS:
        return ast.Compare(args[0], [COMPARISONS[op]()], [args[1]])
    if op == "power":
        return ast.BinOp(args[0], ast.Pow(), args[1])
    if op == "neg":
        return negative(args[0])
    if op == "integer_power":
        return ast.BinOp(args[0], ast.Pow(), ast.Constant(params["exponent"]))
    if op == "reciprocal":
        return ast.BinOp(ast.Constant(1), ast.Div(), args[0])
    language = framework(name)
    text = language.spellings.get(op)
    if text is None or alias is None:
        return None
    if "AXIS" in text:  # a single row needs no axis
        axes = tuple(params["axes"])
        if len(axes) != 1:
            return None
        text = (
            text.replace(", axis=AXIS, keepdims=True", "")
            if ndim == 1
            else text.replace("AXIS", f"{axes[0]}")
        )
    template = syntax.expression(text)
    alias_names = {language.alias: alias}
    if "A" in text.split("(", 1)[-1] and "(" in text:
        return _Filled(alias_names, args[0]).visit(template)  # type: ignore[no-any-return]
    function = _Filled(alias_names, None).visit(template)
    keywords = _axis(language, op, tuple(params.get("axes", ())), ndim, bool(params.get("keepdims")))
    return None if keywords is None else ast.Call(function, [_floating(arg) for arg in args], keywords)


def operation(left: ast.expr, op: type[ast.operator], right: ast.expr) -> ast.expr:
    """A sum or a product of two expressions; the sign of the second goes where a person would write it."""
    if not is_negative(right):
        return ast.BinOp(left, op(), right)
    if op in _FLIPPED:
        return ast.BinOp(left, _FLIPPED[op](), negative(right))
    return ast.BinOp(negative(left), op(), negative(right))


def negative(part: ast.expr) -> ast.expr:
    """An expression with the other sign, which a product has at its first factor."""
    match part:
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return operand
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as op, right=right):
            return ast.BinOp(negative(left), op, right)
    return ast.UnaryOp(ast.USub(), part)


def is_negative(part: ast.AST | None) -> bool:
    return isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.USub)


def _axis(
    language: Framework, op: str, axes: tuple[int, ...], ndim: int, keepdims: bool
) -> list[ast.keyword] | None:
    """The keywords that say along which axes; none where the framework's own choice is meant."""
    needed = op in language.axis_needed
    if op in _ROWS:
        if len(axes) != 1:
            return None
        return [ast.keyword(language.axis, ast.Constant(axes[0]))] if needed or axes != (ndim - 1,) else []
    if op not in _ALONG:
        return []
    keywords = []
    if len(axes) < ndim or (needed and ndim > 1):
        every = ast.Tuple([ast.Constant(axis) for axis in axes], ast.Load())
        keywords.append(ast.keyword(language.axis, ast.Constant(axes[0]) if len(axes) == 1 else every))
    elif needed and language.name != "numpy":
        keywords.append(ast.keyword(language.axis, ast.Constant(0)))
    return [*keywords, ast.keyword(language.keepdims, ast.Constant(True))] if keepdims else keywords


def _floating(argument: ast.expr) -> ast.expr:
    """A whole number as an argument is written as a float: functions of frameworks refuse integers."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, int):
        return ast.Constant(float(argument.value))
    return argument


class _Filled(ast.NodeTransformer):
    """A template with its names replaced: the module by the user's name for it, `A` by the argument."""

    def __init__(self, names: dict[str, str], argument: ast.expr | None) -> None:
        self.names, self.argument = names, argument

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == "A" and self.argument is not None:
            return self.argument
        return ast.Name(self.names.get(node.id, node.id))


def alias_of(tree: ast.AST, name: str) -> str | None:
    """The name under which a file has imported a framework."""
    module = framework(name).module
    package, _, last = module.rpartition(".")
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.Import) else ():
            if alias.name == module:
                return alias.asname or module
        for alias in node.names if isinstance(node, ast.ImportFrom) and node.module == package else ():
            if alias.name == last:  # `from jax import numpy as jnp`
                return alias.asname or last
    return None


def imported_names(tree: ast.AST) -> frozenset[str]:
    """The names that the imports of a file bind: modules, and what is taken out of them."""
    return frozenset(
        one.asname or one.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for one in node.names
    )


def root_name(part: ast.expr) -> str:
    """`tf` of `tf.math.log`; empty where what stands first is no name."""
    while isinstance(part, ast.Attribute):
        part = part.value
    return part.id if isinstance(part, ast.Name) else ""
