"""Probabilities by softmax in the place of the one that is marked as the largest: `one_hot` of an `argmax`.

Silent where the marks are of something else than an `argmax` that stands in the same call, or of one along another
axis than the last.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.users_file import file_at
from gradproof.ir.program import Program

_TEXT = "use the probabilities of softmax instead of marking the largest"
_MEANING = "every class counts with its probability, so the value is no longer that of one choice"


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span
    file = file_at(case, span)
    if span is None or file is None:
        return
    source, language = file.source, file.language
    for marked in ast.walk(source.tree):
        chosen = _chosen(marked)
        if chosen is None or not isinstance(marked, ast.expr) or marked.lineno != span.line:
            continue
        scores, axis = chosen
        if not _is_last(case.capture.program, marked.lineno, axis):
            continue
        written = [
            ast.get_source_segment(source.text, one) or "" for one in (scores, axis) if one is not None
        ]
        text = f"{file.worded(language.spellings['softmax'])}({written[0]}, {language.axis}={[*written, '-1'][1]})"
        yield Fix(_TEXT, replaced(source, [(marked, text)], span.file), "", _MEANING)


def _chosen(call: ast.AST) -> tuple[ast.expr, ast.expr | None] | None:
    """The scores of `one_hot(argmax(scores, axis), n)`, and the axis."""
    if not _is_call(call, "one_hot") or not isinstance(call, ast.Call) or not call.args:
        return None
    inner = call.args[0]
    if not _is_call(inner, "argmax") or not isinstance(inner, ast.Call) or not inner.args:
        return None
    named = [one.value for one in inner.keywords if one.arg in ("axis", "dim")]
    return inner.args[0], next(iter([*inner.args[1:2], *named]), None)


def _is_last(program: Program | None, line: int, axis: ast.expr | None) -> bool:
    """Whether the largest is sought along the last axis, which is where `one_hot` puts its marks."""
    nodes = () if program is None else program.nodes
    chosen = [one for one in nodes if one.op == "argmax" and one.span is not None and one.span.line == line]
    ndims = {len(program[one.inputs[0]].shape) for one in chosen} if program is not None else set()
    number = None if axis is None else _whole(axis)
    if len(ndims) != 1:
        return number == -1
    (ndim,) = ndims
    return ndim == 1 if axis is None else number is not None and number % ndim == ndim - 1


def _whole(part: ast.expr) -> int | None:
    match part:
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _is_call(part: ast.AST, name: str) -> bool:
    return isinstance(part, ast.Call) and ast.unparse(part.func).rpartition(".")[2] == name


FIX = FixKind("soft-one-hot", ("discrete-op",), offer)
