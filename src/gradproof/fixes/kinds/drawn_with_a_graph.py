"""Random numbers drawn by the method of a distribution that keeps the graph to its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import parsed
from gradproof.ir.syntax import statement_around


def offer(fault: Fault) -> Iterator[Fix]:
    span, missing = fault.found.span, fault.case.source.missing
    method = "" if missing is None else missing.facts.get("with a graph", "")
    source = None if span is None else parsed(fault.case.sources.get(span.file, ""))
    statement = None if source is None or span is None else statement_around(source.tree, span.line)
    if span is None or source is None or statement is None or not method:
        return
    drawn = [
        one.func
        for one in ast.walk(statement)
        if isinstance(one, ast.Call)
        and isinstance(one.func, ast.Attribute)
        and method.endswith(one.func.attr)
    ]
    changes: list[tuple[ast.expr, str]] = [
        (one, f"{ast.get_source_segment(source.text, one.value)}.{method}")
        for one in drawn
        if one.attr != method
    ]
    if changes:
        yield Fix(f"draw with `{method}()`", replaced(source, changes, span.file))


FIX = FixKind("drawn-with-a-graph", ("outside-tape",), offer)
