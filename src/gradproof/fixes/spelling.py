"""How each framework writes the ops that a replacement may contain."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

OPERATORS: dict[str, type[ast.operator]] = {"add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "div": ast.Div}
COMPARISONS: dict[str, type[ast.cmpop]] = {
    "greater": ast.Gt, "greater_equal": ast.GtE, "less": ast.Lt, "less_equal": ast.LtE, "equal": ast.Eq,
    "not_equal": ast.NotEq,
}  # fmt: skip
MODULES = {"tensorflow": ("tensorflow", "tf"), "numpy": ("numpy", "np")}  # module, the name it is given here

_TENSORFLOW = {
    **{name: f"tf.{name}" for name in (
        "exp", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
        "atanh", "sigmoid", "square",
    )},
    **{name: f"tf.math.{name}" for name in ("expm1", "log", "log1p", "log_sigmoid", "erf", "erfc", "lgamma")},
    "softplus": "tf.nn.softplus", "select": "tf.where", "rsqrt": "tf.math.rsqrt", "sum": "tf.reduce_sum",
    "mean": "tf.reduce_mean", "prod": "tf.reduce_prod", "logsumexp": "tf.reduce_logsumexp",
    "softmax": "tf.nn.softmax", "log_softmax": "tf.nn.log_softmax",
}  # fmt: skip
_NUMPY = {
    **{name: f"np.{name}" for name in (
        "exp", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "square", "expm1", "log", "log1p", "hypot", "cbrt",
        "logaddexp", "sum", "mean", "prod",
    )},
    "asin": "np.arcsin", "acos": "np.arccos", "atan": "np.arctan", "atan2": "np.arctan2", "asinh": "np.arcsinh",
    "acosh": "np.arccosh", "atanh": "np.arctanh", "softplus": "np.logaddexp(0, A)", "select": "np.where",
    "logsumexp": "np.logaddexp.reduce", "rsqrt": "1 / np.sqrt(A)",
    "log_sigmoid": "-np.logaddexp(0, -A)", "sinc": "np.sinc(A / np.pi)",
}  # fmt: skip
SPELLINGS = {"tensorflow": _TENSORFLOW, "numpy": _NUMPY}
_ALONG = frozenset({"sum", "mean", "prod", "logsumexp"})
_ROWS = frozenset({"softmax", "log_softmax"})


def spell(
    framework: str, alias: str | None, op: str, args: Sequence[ast.expr], params: dict[str, Any], ndim: int
) -> ast.expr | None:
    """The call that computes an op; None where the framework has no function for it. `ndim` is of the argument.

    Without an `alias` the file has not imported the framework, and only operators can be written.
    """
    if op in OPERATORS and len(args) == 2:
        return ast.BinOp(args[0], OPERATORS[op](), args[1])
    if op in COMPARISONS:
        return ast.Compare(args[0], [COMPARISONS[op]()], [args[1]])
    if op == "power":
        return ast.BinOp(args[0], ast.Pow(), args[1])
    if op == "neg":
        return ast.UnaryOp(ast.USub(), args[0])
    if op == "integer_power":
        return ast.BinOp(args[0], ast.Pow(), ast.Constant(params["exponent"]))
    if op == "reciprocal":
        return ast.BinOp(ast.Constant(1), ast.Div(), args[0])
    text = SPELLINGS.get(framework, {}).get(op)
    if text is None or alias is None:
        return None
    template = ast.parse(text, mode="eval").body
    alias_names = {MODULES[framework][1]: alias}
    if "A" in text.split("(", 1)[-1] and "(" in text:
        return _Filled(alias_names, args[0]).visit(template)  # type: ignore[no-any-return]
    function = _Filled(alias_names, None).visit(template)
    keywords = _axis(framework, op, tuple(params.get("axes", ())), ndim, bool(params.get("keepdims")))
    return None if keywords is None else ast.Call(function, [_floating(arg) for arg in args], keywords)


def _axis(
    framework: str, op: str, axes: tuple[int, ...], ndim: int, keepdims: bool
) -> list[ast.keyword] | None:
    """The keywords that say along which axes; none where the framework's own choice is meant."""
    if op in _ROWS:
        return (
            []
            if axes == (ndim - 1,)
            else [ast.keyword("axis", ast.Constant(axes[0]))]
            if len(axes) == 1
            else None
        )
    if op == "logsumexp" and framework == "numpy" and len(axes) == ndim:
        # Reductions of NumPy's binary functions go along the first axis unless they are told otherwise.
        return [] if ndim == 1 else [ast.keyword("axis", ast.Constant(None))]
    if op not in _ALONG or (len(axes) == ndim and not keepdims):
        return []
    keywords = []
    if len(axes) < ndim:
        several = ast.Tuple([ast.Constant(axis) for axis in axes], ast.Load())
        keywords.append(ast.keyword("axis", ast.Constant(axes[0]) if len(axes) == 1 else several))
    return [*keywords, ast.keyword("keepdims", ast.Constant(True))] if keepdims else keywords


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


def alias_of(tree: ast.AST, framework: str) -> str | None:
    """The name under which a file has imported a framework."""
    if framework not in MODULES:
        return None
    module = MODULES[framework][0]
    for node in ast.walk(tree):
        for alias in node.names if isinstance(node, ast.Import) else ():
            if alias.name == module:
                return alias.asname or module
    return None
