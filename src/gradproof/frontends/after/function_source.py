"""The source of a function, as a tree, where it is certain that this is what ran."""

from __future__ import annotations
import __future__

import ast
import functools
import operator
from types import CodeType
from typing import Any

from gradproof.ir.syntax import tree_of

_FUTURE = functools.reduce(
    operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names)
)
FunctionNode = ast.FunctionDef | ast.Lambda


def sources_of(code: CodeType) -> list[FunctionNode]:
    """The functions of a file that a code object may come from: on one line there may be several lambdas.

    None where the file is not what was run: one of them has to compile to that very code.
    """
    tree = tree_of(code.co_filename)
    if tree is None:
        return []
    flags = code.co_flags & _FUTURE
    if not _contains(compile(tree, code.co_filename, "exec", flags, dont_inherit=True), code):
        return []
    kinds: type[Any] = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    nodes = [node for node in ast.walk(tree) if isinstance(node, kinds)]
    return [node for node in nodes if _first_line(node) == code.co_firstlineno]


def _first_line(node: FunctionNode) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _contains(module: CodeType, wanted: CodeType) -> bool:
    inner = [const for const in module.co_consts if isinstance(const, CodeType)]
    return any(code == wanted or _contains(code, wanted) for code in inner)
