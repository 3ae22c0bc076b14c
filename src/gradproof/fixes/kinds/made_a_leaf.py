"""An array that nothing is collected in, made one that gradients are collected in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import is_computed_list, parsed
from gradproof.frameworks import framework

_MAKERS = frozenset(
    {"tensor", "zeros", "ones", "full", "randn", "rand", "arange", "linspace", "eye", "empty"}
)


def offer(fault: Fault) -> Iterator[Fix]:
    """Where it is made by a call that can be told so; else behind what makes it."""
    case, call = fault.case, fault.case.capture.call
    source, language = parsed(case.sources.get(call.file, "")), framework(case.capture.framework)
    if source is None or not language.leaf_keyword:
        return
    given = [
        one
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Assign)
        and one.lineno < call.line
        and ast.unparse(one.targets[0]) == case.source.name
    ]
    if not given:
        return
    value = given[-1].value
    if isinstance(value, ast.Call) and any(map(is_computed_list, value.args)):
        return  # it has a history, which making an array of it has lost
    text = ast.get_source_segment(source.text, value) or ""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _MAKERS:
        new = f"{text[:-1].rstrip().removesuffix(',')}, {language.leaf_keyword}=True)"
    else:
        plain = isinstance(value, ast.Call | ast.Name | ast.Attribute | ast.Subscript)
        new = language.leaf_made.format(x=text if plain else f"({text})")
    yield Fix(
        f"let gradients be collected in `{case.source.name}`", replaced(source, [(value, new)], call.file)
    )


FIX = FixKind("made-a-leaf", ("not-watched",), offer)
