"""A value that is stored in a variable and read again, used itself: what a variable holds has no history."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff, unused_name, with_texts
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource, parsed

_TEXT = "use the value that is stored in `{name}` itself: what a variable holds has no history"


def offer(fault: Fault) -> Iterator[Fix]:
    case, call = fault.case, fault.case.capture.call
    source = parsed(case.sources.get(call.file, ""))
    if source is None:
        return
    for statement in (one for one in ast.walk(source.tree) if isinstance(one, ast.Expr)):
        stored = _stored(statement)
        block = getattr(source.parents.get(statement), "body", [])
        if stored is not None and statement in block:
            patch = _patch(source, statement, stored, block[block.index(statement) + 1 :], call.file)
            yield Fix(_TEXT.format(name=stored.func.value.id), patch)  # type: ignore[attr-defined]


def _stored(statement: ast.Expr) -> ast.Call | None:
    """`state.assign(value)`"""
    call = statement.value
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return None
    return call if call.func.attr == "assign" and isinstance(call.func.value, ast.Name) else None


def _patch(
    source: ParsedSource, statement: ast.Expr, call: ast.Call, after: list[ast.stmt], file: str
) -> str:
    name = call.func.value.id  # type: ignore[attr-defined]
    uses = [one for each in after for one in ast.walk(each) if isinstance(one, ast.Name) and one.id == name]
    if not uses or any(not isinstance(one.ctx, ast.Load) for one in uses):
        return ""
    new = unused_name(source, f"new_{name}")
    changed = with_texts(source, [(call.args[0], new), *((one, new) for one in uses)])
    indent = source.indent(statement)
    if changed is None or indent.strip():
        return ""
    value = ast.get_source_segment(source.text, call.args[0]) or ""
    changed.insert(statement.lineno - 1, f"{indent}{new} = {value}\n")
    return diff(source, changed, file)


FIX = FixKind("stored-value", ("left-framework", "not-connected", "outside-tape"), offer)
