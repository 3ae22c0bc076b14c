"""What a step takes over from the one before, cut off from the history it was computed with."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.lines import inserted, loops_around
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.frameworks import framework
from gradproof.ir.syntax import statement_around

_TEXT = "cut the history where a step begins"
_MEANING = "the gradient of a step no longer counts how it depends on the steps before"


def offer(fault: Fault) -> Iterator[Fix]:
    case, call, span = fault.case, fault.case.capture.call, fault.found.span
    source = parsed(case.sources.get(call.file, ""))
    stop = framework(case.capture.framework).detached
    statement = None if source is None else statement_around(source.tree, call.line)
    if source is None or statement is None or span is None or not stop:
        return
    for loop in loops_around(source, statement):
        for name in _carried(source, loop, span.line):
            text = f"{name} = {stop.format(x=name)}"
            yield Fix(_TEXT, inserted(source, loop.body[0], text, call.file), "", _MEANING)
    method = source.function_at(span.line) if span.file == call.file else None
    if method is not None:
        for name in _kept(method):
            text = f"{name} = {stop.format(x=name)}"
            yield Fix(_TEXT, inserted(source, _first(method), text, call.file), "", _MEANING)


def _kept(method: ast.FunctionDef) -> list[str]:
    """Attributes that a call of a method both reads and sets: what one step leaves in them the next goes on from."""
    parts = [
        one for one in ast.walk(method) if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)
    ]
    read = dict.fromkeys(ast.unparse(one) for one in parts if isinstance(one.ctx, ast.Load))
    given = {ast.unparse(one) for one in parts if isinstance(one.ctx, ast.Store)}
    return [name for name in read if name in given]


def _first(method: ast.FunctionDef) -> ast.stmt:
    """The statement that a method begins with, behind what it says of itself."""
    body = method.body[1:] if ast.get_docstring(method, clean=False) is not None else []
    return [*body, method.body[0]][0]


def _carried(source: ParsedSource, loop: ast.For | ast.While, line: int) -> list[str]:
    """Names that a statement of the loop uses, that the loop gives values and that had one before it."""
    inside = {
        one.id for one in ast.walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }
    # A loop inside of the step, with all that it computes, or one line.
    at = statement_around(source.tree, line)
    inner = loop if at is None or at.lineno < loop.body[0].lineno else at
    uses = [one for one in ast.walk(inner) if isinstance(one, ast.Name) and one.lineno >= line]
    names = dict.fromkeys(one.id for one in uses if isinstance(one.ctx, ast.Load) and one.id in inside)
    before = {
        one.id
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store) and one.lineno < loop.lineno
    }
    return [name for name in names if name in before]


FIX = FixKind("cut-history", ("graph-grows",), offer)
