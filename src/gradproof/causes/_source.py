"""The user's source as the causes read it: lines, the function around them, patches made of both."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.case import Case
from gradproof.fixes.edit import replaced
from gradproof.fixes.source import parsed
from gradproof.frameworks import framework
from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of_text

_PICKING = frozenset({"take", "take_along_axis", "one_hot", "gather", "embedding", "embedding_lookup"})
Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def line_of(case: Case, span: Span | None) -> str:
    """The text of a span's first line; empty where it is not known."""
    if span is None:
        return ""
    lines = case.sources.get(span.file, "").split("\n")
    return lines[span.line - 1] if 0 < span.line <= len(lines) else ""


def text_of(case: Case, span: Span | None) -> str:
    """What a span on one line covers; empty where it is not known."""
    if span is None or span.column is None or span.end_column is None or span.last_line != span.line:
        return ""
    # Columns count bytes, as Python counts them.
    return line_of(case, span).encode()[span.column : span.end_column].decode(errors="replace")


def function_around(case: Case, span: Span | None) -> Function | None:
    """The innermost function that a span lies in."""
    tree = None if span is None else tree_of_text(case.sources.get(span.file, ""))
    if tree is None or span is None:
        return None
    around = [node for node in ast.walk(tree) if isinstance(node, Function) and _covers(node, span.line)]
    return max(around, key=lambda node: (node.lineno, node.col_offset), default=None)


def returned(case: Case, span: Span | None) -> tuple[ast.expr, str] | None:
    """What the function around a span returns if it does so in one place, with its text."""
    function = function_around(case, span)
    if function is None or isinstance(function, ast.Lambda) or span is None:
        return None
    returns = [node for node in _own(function) if isinstance(node, ast.Return) and node.value is not None]
    if len(returns) != 1 or returns[0].lineno != returns[0].end_lineno:
        return None
    value = returns[0].value
    assert value is not None
    return value, ast.get_source_segment(case.sources[span.file], value) or ""


def none_returned(case: Case, span: Span | None, place: int) -> Span | None:
    """The `None` that the function around a span returns in a place, or else the only one that it returns."""
    found = returned(case, span)
    if found is None or span is None or not isinstance(found[0], ast.Tuple):
        return None
    parts = found[0].elts
    nothing = [one for one in parts if isinstance(one, ast.Constant) and one.value is None]
    here = [one for one in nothing if parts.index(one) == place] or (nothing if len(nothing) == 1 else [])
    return _span_of(span.file, here[0]) if here else None


def assigned(case: Case, name: str, before: Span) -> Span | None:
    """The expression that a name was last given before a place, in the same function and by a call."""
    tree = tree_of_text(case.sources.get(before.file, ""))
    around = function_around(case, before)
    body = tree if around is None or isinstance(around, ast.Lambda) else around
    if body is None or not name.isidentifier():
        return None
    found = [node for node in _own(body) if isinstance(node, ast.Assign) and node.lineno < before.line]
    named = [
        n
        for n in found
        if isinstance(n.targets[0], ast.Name) and n.targets[0].id == name and len(n.targets) == 1
    ]
    last = max(named, key=lambda node: node.lineno, default=None)
    if last is None or not isinstance(last.value, ast.Call):
        return None
    return _span_of(before.file, last.value)


def is_index(case: Case, name: str, near: Span | None) -> bool:
    """Whether a file picks entries by what goes by a name, in brackets or by a function that is made for it."""
    tree = None if near is None else tree_of_text(case.sources.get(near.file, ""))
    for node in () if tree is None else ast.walk(tree):
        parts: list[ast.AST] = [node.slice] if isinstance(node, ast.Subscript) else []
        if isinstance(node, ast.Call):
            function = (
                node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            )
            parts = [*node.args, *node.keywords] if function in _PICKING else []
        if any(isinstance(one, ast.Name) and one.id == name for part in parts for one in ast.walk(part)):
            return True
    return False


def upstream_parameter(case: Case, span: Span | None) -> str | None:
    """The name of the gradient that comes into a rule; some frameworks pass what was kept for it before that."""
    function = function_around(case, span)
    names = [] if function is None else [one.arg for one in function.args.args]
    place = int(framework(case.capture.framework).rule_is_passed_kept)
    return names[place] if len(names) > place else None


def replaced_text(case: Case, file: str, part: ast.expr, new: str) -> str:
    """A diff in which an expression on one line becomes another text; empty where that is not possible."""
    source = parsed(case.sources.get(file, ""))
    return "" if source is None else replaced(source, [(part, new)], file)


def replaced_span(case: Case, span: Span, new: str) -> str:
    """The same for the expression that a span covers."""
    source = parsed(case.sources.get(span.file, ""))
    part = None if source is None else source.at(span)
    return "" if part is None or text_of(case, span) == new else replaced_text(case, span.file, part, new)


def _span_of(file: str, part: ast.expr) -> Span:
    return Span(file, part.lineno, part.col_offset, part.end_lineno, part.end_col_offset)


def _covers(node: Function, line: int) -> bool:
    """Python counts the decorators of a function in; so does whoever names its first line."""
    first = min((one.lineno for one in getattr(node, "decorator_list", ())), default=node.lineno)
    return first <= line <= (node.end_lineno or node.lineno)


def _own(function: ast.Module | ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function, or of a file, without those of functions inside it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, Function | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(node))
