"""A column and a row of the same length, brought to one shape before they meet."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradproof.diagnosis import words
from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.diagnosis.tables import Table, tables
from gradproof.fixes.align import Alignment
from gradproof.fixes.edit import replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.retrace import retraced
from gradproof.fixes.source import parsed
from gradproof.fixes.tried import Replay, checked_text, tried
from gradproof.ir.program import Program
from gradproof.judge.verdict import Verdict

_TEXT = "give both sides the same shape: take the one column out of `{name}`"


def offer(fault: Fault) -> Iterator[Fix]:
    """The gradient is right; the loss it belongs to is most likely not the one that was meant."""
    case, program = fault.case, fault.case.capture.program
    if program is None or case.source.node is None or case.verdict is not Verdict.CORRECT:
        return
    table = next(
        (one for one in tables(program, case.source.node) if one.node.span == fault.found.span), None
    )
    found = None if table is None else _flattened(case, table, fault.replay)
    if found is not None:
        yield found


def _flattened(case: Case, table: Table, replay: Replay | None) -> Fix | None:
    """The column as a row of numbers, `x[:, 0]`, so that each number meets its own partner only."""
    program, wrt = case.capture.program, case.source.node
    if program is None or wrt is None or table.node.span is None:
        return None
    position = table.node.inputs.index(table.column)
    changed = retraced(program, {table.node.id: _minus(position)})
    result = None if changed is None else tried(case, changed, wrt, replay)
    if changed is None or result is None or not result.is_correct:
        return None
    column, patch = _patch(case, program, table)
    before = np.asarray(program[program.outputs[0]].value)
    value = words.number(result.value, dtype=str(before.dtype))
    checked = checked_text(case, result, f"; `{case.capture.target}` is {value} then")
    meaning = (
        f"{table.n} differences instead of {table.n**2}: another loss, most likely the one that was meant"
    )
    return Fix(_TEXT.format(name=column or "the column"), patch, checked, meaning)


def _minus(position: int) -> Any:
    def made(tracer: Any, xs: list[Any]) -> Any:
        flat = [tracer.reshape(x, shape=(x.shape[0],)) if k == position else x for k, x in enumerate(xs)]
        return tracer.sub(*flat)

    return made


def _patch(case: Case, program: Program, table: Table) -> tuple[str, str]:
    """The source of the column, and the diff that takes its numbers out; both empty where it is not plain."""
    span = table.node.span
    source = None if span is None else parsed(case.sources.get(span.file, ""))
    expression = None if source is None else source.at(span)
    if span is None or source is None or expression is None:
        return "", ""
    alignment = Alignment(program, source)
    alignment.add(expression, table.node.id)
    part = alignment.expressions.get(table.column)
    if part is None or part is expression or alignment.behind.get(table.column):
        return "", ""
    text = ast.get_source_segment(source.text, part) or ""
    plain = isinstance(part, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return text, replaced(source, [(part, f"{text}[:, 0]" if plain else f"({text})[:, 0]")], span.file)


FIX = FixKind("one-shape", ("silent-broadcast",), offer)
