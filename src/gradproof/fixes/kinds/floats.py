"""Whole numbers, made floating-point numbers where the array is made: only those have gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.fixes.spelling import alias_of
from gradproof.frameworks import framework

FLOAT = "float32"


def offer(fault: Fault) -> Iterator[Fix]:
    """With decimal points, or with another dtype; else cast behind what makes it."""
    case, call = fault.case, fault.case.capture.call
    source, language = parsed(case.sources.get(call.file, "")), framework(case.capture.framework)
    alias = None if source is None else alias_of(source.tree, language.name)
    if source is None or alias is None:
        return
    value = _made(source, case.source.name, call.line)
    if value is None:
        return
    text = f"give `{case.source.name}` floating-point numbers"
    numbers = [one for one in ast.walk(value) if isinstance(one, ast.expr) and _is_whole(one)]
    types = [one for one in ast.walk(value) if isinstance(one, ast.expr) and _is_integer_type(one)]
    if types:
        edits = [(one, _float_type(one)) for one in types]
        yield Fix(text, replaced(source, edits, call.file))
    elif numbers and (isinstance(value, ast.Constant) or _makes(value)):
        edits = [(one, f"{ast.get_source_segment(source.text, one)}.0") for one in numbers]
        yield Fix(text, replaced(source, edits, call.file))
    if language.cast:
        own = ast.get_source_segment(source.text, value) or ""
        plain = isinstance(value, ast.Call | ast.Name | ast.Attribute | ast.Subscript)
        cast = language.cast.replace(f"{language.alias}.", f"{alias}.")
        shown = own if plain or not cast.startswith("{x}") else f"({own})"
        yield Fix(text, replaced(source, [(value, cast.format(x=shown, dtype=FLOAT))], call.file))


def _made(source: ParsedSource, name: str, line: int) -> ast.expr | None:
    """What a name was last given before a line."""
    given = [
        one
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Assign) and one.lineno < line and ast.unparse(one.targets[0]) == name
    ]
    return max(given, key=lambda one: one.lineno).value if given else None


def _is_whole(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int


def _makes(value: ast.expr) -> bool:
    """A call whose numbers are all entries of the array: in `zeros(3)` they are its shape."""
    names = ("tensor", "constant", "array", "asarray", "Variable", "arange", "convert_to_tensor", "range")
    return isinstance(value, ast.Call) and ast.unparse(value.func).endswith(names)


def _is_integer_type(part: ast.expr) -> bool:
    named = (
        part.attr if isinstance(part, ast.Attribute) else part.value if isinstance(part, ast.Constant) else ""
    )
    return isinstance(named, str) and named in ("int", "long", "int8", "int16", "int32", "int64", "uint8")


def _float_type(part: ast.expr) -> str:
    return f"{ast.unparse(part.value)}.{FLOAT}" if isinstance(part, ast.Attribute) else repr(FLOAT)


FIX = FixKind("floats", ("integer-dtype",), offer)
