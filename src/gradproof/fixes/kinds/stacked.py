"""Numbers that a list is made of, stacked by the framework: an array made of the list copies them without history."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource, is_computed_list
from gradproof.fixes.users_file import file_at

_TEXT = "stack the numbers with `{function}`, which keeps what they were computed from"
_MAKERS = ("tensor", "array", "asarray", "constant", "as_tensor", "Tensor")


def offer(fault: Fault) -> Iterator[Fix]:
    """Every array of computed numbers in the file that is made so: one of them lies on the way."""
    case, call = fault.case, fault.case.capture.call
    file = file_at(case, call)
    if file is None or not file.language.stack:
        return
    source, function = file.source, file.worded(file.language.stack)
    made: list[ast.Call] = [
        one
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Call)
        and ast.unparse(one.func).rpartition(".")[2] in _MAKERS
        and len(one.args) == 1
        and (is_computed_list(one.args[0]) or _is_blamed(fault, source, one))
    ]
    edits: list[tuple[ast.expr, str]] = [
        (one, f"{function}({ast.get_source_segment(source.text, one.args[0])})") for one in made
    ]
    if edits:
        yield Fix(_TEXT.format(function=function), replaced(source, edits, call.file))


def _is_blamed(fault: Fault, source: ParsedSource, made: ast.Call) -> bool:
    """Whether the numbers left the framework at this call, for a list that was filled entry by entry.

    Such a list may hold plain numbers elsewhere, which are rightly made an array.
    """
    span, name = fault.found.span, made.args[0]
    return span is not None and span.line == made.lineno and isinstance(name, ast.Name) and any(
        isinstance(one, ast.Call) and ast.unparse(one.func) == f"{name.id}.append"
        for one in ast.walk(source.scope(made))
    )  # fmt: skip


FIX = FixKind("stacked", ("left-framework", "not-connected", "not-watched", "stop-gradient"), offer)
