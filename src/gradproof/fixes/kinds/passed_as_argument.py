"""A value that a compiled function froze when it was traced, handed over as an argument: it is read anew in every call.

Silent where the function is used otherwise than called, or takes what an argument at its end would be mistaken for.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff, with_texts
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource, parsed

_TEXT = "pass `{name}` to `{function}` as an argument: it is read anew in every call, and compiled anew for a new value"


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span
    source = None if span is None else parsed(case.sources.get(span.file, ""))
    if source is None or span is None:
        return
    for baked in case.capture.around.baked:
        is_named = fault.found.subject == f"`{baked.name}`" and baked.name.isidentifier()
        patch = _patch(source, baked.name, baked.function, span.file) if is_named and baked.before else ""
        if patch:
            yield Fix(_TEXT.format(name=baked.name, function=baked.function), patch)
            return


def _patch(source: ParsedSource, name: str, function: str, file: str) -> str:
    found = [
        one for one in ast.walk(source.tree) if isinstance(one, ast.FunctionDef) and one.name == function
    ]
    calls = [source.parents.get(use) for use in source.names(source.tree, function)]
    if len(found) != 1 or not _is_plain(found[0]) or not calls:
        return ""
    last = found[0].args.args[-1]
    changes: list[tuple[ast.expr | ast.arg, str]] = [(last, f"{_text(source, last)}, {name}")]
    for call in calls:
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or _is_spread(call):
            return ""
        more = f"{name}={name}" if call.keywords else name
        changes.append((call, f"{_text(source, call)[:-1].rstrip().rstrip(',')}, {more})"))
    lines = with_texts(source, changes)
    return "" if lines is None else diff(source, lines, file)


def _text(source: ParsedSource, part: ast.expr | ast.arg) -> str:
    return ast.get_source_segment(source.text, part) or ""


def _is_plain(function: ast.FunctionDef) -> bool:
    """Whether the arguments end with one that has to be given, and what compiles it does not count them."""
    own = function.args
    is_counted = any(isinstance(one, ast.Call) and one.keywords for one in function.decorator_list)
    return bool(own.args) and not (own.defaults or own.vararg or own.kwonlyargs or own.kwarg or is_counted)


def _is_spread(call: ast.Call) -> bool:
    given = call.args
    return (
        not given
        or any(isinstance(one, ast.Starred) for one in given)
        or None in [k.arg for k in call.keywords]
    )


FIX = FixKind("passed-as-argument", ("baked-constant",), offer)
