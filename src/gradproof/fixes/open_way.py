"""A way that was cut, opened again: `stop_gradient` left out, a step made smooth."""

from __future__ import annotations

import ast

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import enclosed, replaced
from gradproof.fixes.retrace import retraced
from gradproof.fixes.source import parsed
from gradproof.fixes.tried import Replay, returned_text, tried


def unstopped(case: Case, replay: Replay | None) -> Fix | None:
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
        "leave out `stop_gradient`, or ask for the gradient of what comes after it",
        patch,
        f"{returned_text(case, result)}.",
        f"the way through it counts again in the gradient for `{case.source.name}`",
    )
