"""A tensor that is computed from a leaf in the line that makes it, made a leaf itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff, with_texts
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import parsed
from gradproof.frameworks import framework


def offer(fault: Fault) -> Iterator[Fix]:
    case, span, language = fault.case, fault.found.span, framework(fault.case.capture.framework)
    source = None if span is None else parsed(case.sources.get(span.file, ""))
    expression = None if source is None else source.at(span)
    statement = None if source is None or expression is None else source.statement(expression)
    if source is None or span is None or not isinstance(statement, ast.Assign) or not language.leaf_keyword:
        return
    made = [
        one
        for one in ast.walk(statement.value)
        if isinstance(one, ast.Call)
        and any(word.arg == language.leaf_keyword for word in one.keywords)
        and one.args
    ]
    if len(made) != 1 or made[0] is statement.value:
        return
    call = made[0]
    parts = [ast.get_source_segment(source.text, one) or "" for one in call.args]
    parts += [
        ast.get_source_segment(source.text, one) or ""
        for one in call.keywords
        if one.arg != language.leaf_keyword
    ]
    inner = f"{ast.get_source_segment(source.text, call.func)}({', '.join(parts)})"
    first = with_texts(source, [(call, inner)])
    again = None if first is None else parsed("".join(first))
    assigned = [] if again is None else [one for one in ast.walk(again.tree) if isinstance(one, ast.Assign)]
    value = next((one.value for one in assigned if one.lineno == statement.lineno), None)
    if again is None or value is None:
        return
    text = language.leaf_made.format(x=f"({ast.get_source_segment(again.text, value)})")
    after = with_texts(again, [(value, text)])
    if after is not None:
        yield Fix(f"compute `{case.source.name}` first, then make it a leaf", diff(source, after, span.file))


FIX = FixKind("own-leaf", ("reassigned-variable",), offer)
