"""Whole numbers, made floating-point numbers where the array is made: only those have gradients."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.users_file import file_at
from gradproof.ir import syntax

FLOAT = "float32"


def offer(fault: Fault) -> Iterator[Fix]:
    """With decimal points, or with another dtype; else cast behind what makes it."""
    case, call = fault.case, fault.case.capture.call
    file = file_at(case, call)
    if file is None:
        return
    source = file.source
    value = _made(source, syntax.expression(case.source.name), call.line)
    if value is None:
        return
    text = f"give `{case.source.name}` floating-point numbers"
    numbers = [one for one in ast.walk(value) if isinstance(one, ast.expr) and _is_whole(one)]
    types = [one for one in ast.walk(value) if isinstance(one, ast.expr) and _is_integer_type(one)]
    if types:
        edits = [(one, _float_type(one)) for one in types]
        yield Fix(text, replaced(source, edits, call.file))
    elif numbers and (isinstance(value, ast.Constant) or _makes(value)):
        yield Fix(text, replaced(source, _pointed(source, numbers), call.file))
        others = [one for name in _met(source, case.source.name) for one in _numbers(source, name, call.line)]
        if others:  # a framework may refuse to compute with both
            yield Fix(
                f"{text}, and what they meet",
                replaced(source, _pointed(source, [*numbers, *others]), call.file),
            )
    if file.language.cast:
        own = ast.get_source_segment(source.text, value) or ""
        plain = isinstance(value, ast.Call | ast.Name | ast.Attribute | ast.Subscript)
        cast = file.worded(file.language.cast)
        shown = own if plain or not cast.startswith("{x}") else f"({own})"
        yield Fix(text, replaced(source, [(value, cast.format(x=shown, dtype=FLOAT))], call.file))


def _made(source: ParsedSource, name: ast.expr, line: int) -> ast.expr | None:
    """What a name was last given before a line, or an entry of a dictionary or list that is written out."""
    given = [
        one
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Assign)
        and one.lineno < line
        and ast.unparse(one.targets[0]) == ast.unparse(name)
    ]
    if given or not isinstance(name, ast.Subscript):
        return max(given, key=lambda one: one.lineno).value if given else None
    key = name.slice.value if isinstance(name.slice, ast.Constant) else None
    match _made(source, name.value, line):
        case ast.Dict(keys=keys, values=values):
            found = [
                one for each, one in zip(keys, values) if isinstance(each, ast.Constant) and each.value == key
            ]
            return found[0] if found else None
        case ast.List(elts=entries) | ast.Tuple(elts=entries) if isinstance(key, int) and key < len(entries):
            return entries[key]
    return None


def _pointed(source: ParsedSource, numbers: list[ast.expr]) -> list[tuple[ast.expr, str]]:
    return [(one, f"{ast.get_source_segment(source.text, one)}.0") for one in numbers]


def _met(source: ParsedSource, name: str) -> list[str]:
    """The names that stand in sums, products and the like together with a name."""
    parts = [one for one in ast.walk(source.tree) if isinstance(one, ast.BinOp)]
    used = [{each.id for each in ast.walk(one) if isinstance(each, ast.Name)} for one in parts]
    return sorted(set().union(*(names for names in used if name in names)) - {name})


def _numbers(source: ParsedSource, name: str, line: int) -> list[ast.expr]:
    """The whole numbers that an array is made of."""
    value = _made(source, ast.Name(name), line)
    if value is None or not _makes(value):
        return []
    return [one for one in ast.walk(value) if isinstance(one, ast.expr) and _is_whole(one)]


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
