"""The gradient that a program did not get to, because an exception ended it before: found in its source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType, TracebackType
from typing import Any

import torch

from gradproof.diagnosis.diagnostic import CRASH, Diagnostic
from gradproof.frontends.record.source import argument, is_users
from gradproof.frontends.torch.record.asked import MOST_GUESSED
from gradproof.frontends.torch.record.memory import is_leaf
from gradproof.frontends.torch.record.names import named_in
from gradproof.ir.capture import Break, CallRun, Capture, Source
from gradproof.ir.span import Span
from gradproof.ir.syntax import statement_around, tree_of

_ASKING = ("backward", "grad")


def prevented(error: BaseException, why: Diagnostic) -> Capture | None:
    """The call that would have come next, or the line that failed; None where the gradient was there already."""
    place = _innermost(error.__traceback__)
    if place is None or why.kind == CRASH or why.primary is None or why.fix is None:
        return None
    frame, line = place
    text = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    call, target = _next_call(frame, line) or (why.primary.span, "target")
    called = () if call == why.primary.span else ((call, "is not reached"),)
    facts = {"headline": why.headline, "why": why.why, "remedy": why.fix.text, "exception": text}
    missing = Break(why.kind, why.primary.span, why.primary.label or "", called, facts)
    sources = tuple(replace(one, missing=missing) for one in _sources(frame, line, why.kind))
    if not sources:
        return None
    return Capture("torch", call, target, sources, None, run=CallRun(1, exception=text), failure=text)


def _innermost(trace: TracebackType | None) -> tuple[FrameType, int] | None:
    found = None
    while trace is not None:
        if is_users(trace.tb_frame.f_code.co_filename):
            found = trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
    return found


def _next_call(frame: FrameType, line: int) -> tuple[Span, str] | None:
    """The first call further down, in the same function, that would have computed a gradient, and of what."""
    file = frame.f_code.co_filename
    calls = (node for node in _statements_below(file, line) if isinstance(node, ast.Call))
    for node in sorted(calls, key=lambda one: (one.lineno, one.col_offset)):
        if node.lineno > line and isinstance(node.func, ast.Attribute) and node.func.attr in _ASKING:
            target = node.func.value if node.func.attr == "backward" else argument(node, 0, "outputs")
            place = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
            return Span(file, *place), "target" if target is None else ast.unparse(target)
    return None


def _statements_below(file: str, line: int) -> Iterator[ast.AST]:
    """All nodes of the innermost function around a line, or of the module without its functions."""
    tree = tree_of(file)
    if tree is None:
        return
    around = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) and _covers(node, line)]
    waiting: list[ast.AST] = [max(around, key=lambda node: node.lineno, default=tree)]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if not isinstance(node, _FUNCTIONS):
                yield node
                waiting.append(node)


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def _covers(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _sources(frame: FrameType, line: int, kind: str) -> Iterator[Source]:
    """What a gradient was wanted for: leaves that the failing line names, or others of its frame, without one yet."""
    statement = statement_around(tree_of(frame.f_code.co_filename), line)
    if statement is None:
        return
    if kind == "integer-dtype":
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield Source(statement.targets[0].id, (), "int64", None, None)
        return
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    known = [one for one in named_in(frame).values() if one.tensor.requires_grad]
    near = [one for one in known if one.path.partition(".")[0].partition("[")[0] in names]
    leaves = [[one for one in found if is_leaf(one.tensor)] for found in (near, known)]
    wanted = next((found for found in (*leaves, near) if found), [])
    for one in wanted[:MOST_GUESSED]:
        if not is_leaf(one.tensor) or one.tensor.grad is None:
            yield Source(one.name, tuple(one.tensor.shape), _dtype(one.tensor), None, None)


def _dtype(tensor: Any) -> str:
    assert isinstance(tensor, torch.Tensor)
    return str(tensor.dtype).removeprefix("torch.")
