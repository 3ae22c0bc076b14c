"""Of several places where numbers left, the one from which they went into a target, read off the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradproof.frontends.exits.assignments import MOST_ASSIGNMENTS, assignments
from gradproof.frontends.record.model import Exit, GradientCall
from gradproof.ir.span import Span

DEEPEST = 6  # names followed back from the target


def nearest_exit(call: GradientCall, exits: Sequence[Exit]) -> Exit:
    """The one that the fewest names lead to from a target: a number drawn on the way there is not what is missed."""
    if call.span is None:
        return exits[0]
    reached: list[ast.expr] = list(_targets(call, call.span))
    followed: set[str] = set()
    for _ in range(DEEPEST):
        for expression in reached:
            for one in exits:
                if one.span is not None and one.span.file == call.span.file and _holds(expression, one.span):
                    return one
        names = [node for each in reached for node in ast.walk(each) if isinstance(node, ast.Name)]
        fresh = [name for name in names if name.id not in followed]
        followed.update(name.id for name in fresh)
        reached = [
            value
            for name in fresh
            for _, value, _ in list(assignments(call.span.file, name))[:MOST_ASSIGNMENTS]
        ]
    return exits[0]


def _targets(call: GradientCall, span: Span) -> Iterator[ast.expr]:
    for target in call.targets:
        if target.name.isidentifier():
            yield ast.Name(target.name, lineno=span.line, col_offset=-1, end_lineno=0, end_col_offset=0)


def _holds(expression: ast.expr, span: Span) -> bool:
    if span.column is None:
        return expression.lineno <= span.line <= (expression.end_lineno or 0)
    begin, end = (span.line, span.column), (span.end_line or span.line, span.end_column or span.column)
    whole = (expression.lineno, expression.col_offset), (expression.end_lineno, expression.end_col_offset)
    return whole[0] <= begin and end <= (whole[1][0] or 0, whole[1][1] or 0)
