"""A way that was cut, opened again: `stop_gradient` left out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import enclosed, replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.lines import left_out, unindented
from gradproof.fixes.retrace import retraced
from gradproof.fixes.source import parsed
from gradproof.fixes.tried import Replay, checked_text, tried
from gradproof.judge.verdict import Verdict

_BLOCKS = ("no_grad", "inference_mode", "stop_recording")  # in which nothing is recorded
_TEXT = "leave out `stop_gradient`, or ask for the gradient of what comes after it"


def offer(fault: Fault) -> Iterator[Fix]:
    if fault.case.verdict is not Verdict.MISSING:
        return
    found = _unstopped(fault.case, fault.replay)
    if found is not None:
        yield found
    for patch in _written(fault.case):
        meaning = f"the way through it counts again in the gradient for `{fault.case.source.name}`"
        text = _TEXT if fault.found.fix is None else fault.found.fix.text  # in the words of the framework
        yield Fix(text, patch, "", meaning)


def _written(case: Case) -> Iterator[str]:
    """The lines without what stops: a call, a method, an attribute, a block, or what decorates a function."""
    missing = case.source.missing
    span = None if missing is None else missing.span
    source = None if span is None else parsed(case.sources.get(span.file, ""))
    if source is None or span is None:
        return
    here = [one for one in ast.walk(source.tree) if isinstance(one, ast.expr) and one.lineno == span.line]
    for expression in sorted(here, key=lambda one: one is not source.at(span)):
        inner = _stopped(expression)
        text = "" if inner is None else ast.get_source_segment(source.text, inner) or ""
        if text:
            yield replaced(source, [(expression, enclosed(source, expression, text))], span.file)
    for block in (one for one in ast.walk(source.tree) if isinstance(one, ast.With)):
        inside = block.lineno <= span.line <= (block.end_lineno or block.lineno)
        if inside and ast.unparse(block.items[0].context_expr).rstrip("()").endswith(_BLOCKS):
            yield unindented(source, block, span.file)
    for function in (one for one in ast.walk(source.tree) if isinstance(one, ast.FunctionDef)):
        marks = [one for one in function.decorator_list if ast.unparse(one).rstrip("()").endswith(_BLOCKS)]
        if marks and function.lineno <= span.line <= (function.end_lineno or 0):
            yield left_out(source, [], span.file, {one.lineno: "" for one in marks})


def _stopped(expression: ast.expr) -> ast.expr | None:
    """What is stopped by a call, by a method without arguments, or by an attribute."""
    if isinstance(expression, ast.Attribute) and expression.attr == "data":
        return expression.value
    if not isinstance(expression, ast.Call):
        return None
    function = expression.func
    if not ast.unparse(function).rpartition(".")[2].startswith(("stop_gradient", "detach")):
        return None
    if expression.args:
        return expression.args[0] if len(expression.args) == 1 else None
    return function.value if isinstance(function, ast.Attribute) else None


def _unstopped(case: Case, replay: Replay | None) -> Fix | None:
    """The program in which the stopped value is an ordinary one."""
    program, wrt, missing = case.capture.program, case.source.node, case.source.missing
    span = None if missing is None else missing.span
    if program is None or wrt is None or span is None:
        return None
    stops = [node.id for node in program.nodes if node.op == "stop_gradient" and node.span == span]
    changed = retraced(program, {id: lambda tracer, xs: xs[0] for id in stops}) if stops else None
    result = None if changed is None else tried(case, changed, wrt, replay)
    if result is None or not result.is_correct:
        return None
    source = parsed(case.sources.get(span.file, ""))
    expression = None if source is None else source.at(span)
    patch = ""
    if source is not None and isinstance(expression, ast.Call) and len(expression.args) == 1:
        inner = ast.get_source_segment(source.text, expression.args[0]) or ""
        patch = replaced(source, [(expression, enclosed(source, expression, inner))], span.file)
    return Fix(
        _TEXT,
        patch,
        checked_text(case, result),
        f"the way through it counts again in the gradient for `{case.source.name}`",
    )


FIX = FixKind("without-stop", ("outside-tape", "stop-gradient"), offer)
