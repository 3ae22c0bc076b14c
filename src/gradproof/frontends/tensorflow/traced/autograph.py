"""From the code that AutoGraph generated back to the user's own expression.

AutoGraph keeps a map of lines. The columns are found by undoing its rewriting of the expression that was
running and looking for the result among the expressions of the user's line.
"""

from __future__ import annotations

import ast
import linecache
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import FrameType
from typing import Any

from tensorflow.python.autograph.impl import api

from gradproof.frontends.record.patches import Patch, wrap
from gradproof.frontends.record.source import (
    AUTOGRAPH_MARK,
    Place,
    is_users,
    span_of,
    user_places,
)
from gradproof.ir import syntax
from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of


def spans_at(frame: FrameType | None) -> tuple[Span, ...]:
    """The user's frames above a point where a graph is being built, innermost first."""
    return own_spans(user_places(frame))


def own_spans(places: Iterable[Place]) -> tuple[Span, ...]:
    """The places in the code that was written by hand."""
    spans: list[Span] = []
    for place in places:
        span = _own_span(span_of(place))
        if span is None or not is_users(span.file):
            continue
        if not spans or (spans[-1].line, spans[-1].function) != (span.line, span.function):
            spans.append(span)
    return tuple(spans)


def span_of_frame(frame: FrameType) -> Span | None:
    """Where one frame stands, whoever owns it."""
    return _own_span(span_of((frame.f_code, frame.f_lasti)))


_TRAMPOLINES = ("/tensorflow/python/autograph/", "/tensorflow/python/util/")


def calling_frame(frame: FrameType) -> FrameType:
    """The code that made a call, past the helpers by which AutoGraph makes every call."""
    at: FrameType | None = frame
    while at is not None:
        if not _is_trampoline(at.f_code.co_filename):
            return at
        at = at.f_back
    return frame


@lru_cache(maxsize=4096)
def _is_trampoline(filename: str) -> bool:
    return any(folder in filename.replace(os.sep, "/") for folder in _TRAMPOLINES)


def _own_span(span: Span) -> Span | None:
    """The same place in the code that was written by hand; None if AutoGraph made it up."""
    if AUTOGRAPH_MARK not in span.file:
        return span
    mapped = _LINES.get((span.file, span.line))
    return None if mapped is None else _original(span, *mapped)


_LINES: dict[tuple[str, int], tuple[str, int, str]] = {}
"""From the lines that AutoGraph generated to the user's; a file of generated code never changes."""


def line_patches() -> list[Patch]:
    """Remember AutoGraph's map of the lines of a function when it is called: TensorFlow forgets it after the call."""
    return [wrap(api.StackTraceMapper, "__init__", _remember)]


def _remember(original: Any, mapper: Any, function: Any) -> None:
    original(mapper, function)
    for generated, origin in function.ag_source_map.items():
        key = (generated.filename, generated.lineno)
        if key in _LINES:
            return  # the rest of the function is known too
        _LINES[key] = (origin.loc.filename, origin.loc.lineno, origin.function_name or "")


def spans_of_traceback(operation: Any) -> tuple[Span, ...]:
    """As `spans_at` from what a graph op itself remembers: lines only."""
    frames = [frame for frame in reversed(list(operation.traceback or ())) if is_users(frame.filename)]
    return tuple(
        Span(frame.filename, frame.lineno, function=frame.name)
        for frame in frames
        if AUTOGRAPH_MARK not in frame.filename
    )


@lru_cache(
    maxsize=4096
)  # the ops of a loop all stand at one place: it is looked for once, however many they are
def _original(generated: Span, file: str, line: int, function: str) -> Span:
    tree = tree_of(file)
    expression = _expression_at(generated)
    if tree is None or expression is None:
        return Span(file, line, function=function)
    wanted = ast.dump(_Undo().visit(expression))
    for node in _expressions_at(tree, line):
        if ast.dump(node) == wanted:
            return Span(file, node.lineno, node.col_offset, node.end_lineno, node.end_col_offset, function)
    return Span(file, line, function=function)


def _expressions_at(node: ast.AST, line: int) -> Iterator[ast.expr]:
    """The expressions that a line is part of, the outer ones first."""
    for part in ast.iter_child_nodes(node):
        start = getattr(part, "lineno", line)
        if start <= line <= (getattr(part, "end_lineno", None) or start):
            if isinstance(part, ast.expr):
                yield part
            yield from _expressions_at(part, line)


def _expression_at(span: Span) -> ast.expr | None:
    """The generated expression that was running; a fresh tree, since it will be changed."""
    source = "".join(linecache.getlines(span.file))
    if not source or span.column is None:
        return None
    wanted = (span.line, span.column, span.end_line, span.end_column)
    for node in ast.walk(syntax.module(source)):
        if isinstance(node, ast.expr):
            place = (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
            if place == wanted:
                return node
    return None


class _Undo(ast.NodeTransformer):
    """Takes AutoGraph's helpers out: `ag__.ld(x)` is x, `ag__.converted_call(f, (x,), ...)` is f(x)."""

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        helper = _helper(node.func)
        if helper == "ld" and len(node.args) == 1:
            return node.args[0]
        if helper == "converted_call" and len(node.args) >= 2 and isinstance(node.args[1], ast.Tuple):
            return ast.Call(node.args[0], list(node.args[1].elts), _keywords(node.args[2:3]))
        return node


def _helper(function: ast.expr) -> str | None:
    if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name):
        return function.attr if function.value.id == "ag__" else None
    return None


def _keywords(given: list[ast.expr]) -> list[ast.keyword]:
    """AutoGraph passes keywords as `dict(axis=0)`, and None where there are none."""
    if given and isinstance(given[0], ast.Call):
        return given[0].keywords
    return []
