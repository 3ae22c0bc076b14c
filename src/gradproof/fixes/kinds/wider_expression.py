"""The guilty expression in float64, and back: the last resort for digits that rounding costs.

First the expression alone, then its statement, then all statements from the first that loses digits to the result,
then those of the function that calls it: what a narrow number in between would round away again is kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.users_file import file_at
from gradproof.fixes.wide_region import WideRegion
from gradproof.frameworks import Framework
from gradproof.ir import types
from gradproof.ir.span import Span
from gradproof.judge.verdict import Verdict

WIDE = "float64"
_ALONE = (
    "compute this expression in float64, and cast the result back: it takes twice the memory and more time"
)
_LINE = "compute line {first} in float64, and cast back: it takes twice the memory and more time"
_REGION = (
    "compute lines {first} to {last} in float64, and cast back: they take twice the memory and more time"
)
_SWITCHED_ON = (
    "; {name} has float64 switched on for that: arrays without a dtype are float64 in the whole program"
)


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span
    if span is None or not _may_be_rounding(fault):
        return
    file = file_at(case, span)
    if file is None or not file.language.cast or not types.is_real(case.source.dtype):
        return
    found = case.irregular.nonfinite
    is_given = found is not None and found.origin.op in ("input", "constant")
    if case.source.dtype == WIDE or is_given:  # what was infinite from the start is so in every dtype
        return
    source, language, alias = file.source, file.language, file.alias
    places = _places(fault, span)
    for place in (*places, *(call for one in places for call in _calls(source, one))):
        expression = source.at(place)
        if expression is not None and expression.lineno == expression.end_lineno:
            region = WideRegion(source, (), language, alias)
            yield _said(_ALONE, region.expression(expression, case.source.dtype, place.file), language)
        for statements in _regions(fault, source, place):
            patch = WideRegion(source, statements, language, alias).patch(case.source.dtype, place.file)
            first, last = statements[0].lineno, statements[-1].end_lineno or 0
            text = _LINE if first == last else _REGION
            yield _said(text.format(first=first, last=last), patch, language)


def _may_be_rounding(fault: Fault) -> bool:
    """Where a rounded number stands at the end of a domain, or beyond, there is no derivative at that number."""
    lost = (Verdict.INACCURATE, Verdict.NONFINITE, Verdict.WRONG, Verdict.UNVERIFIED)
    is_beyond = fault.found.kind == "invalid-domain" and fault.case.verdict is Verdict.UNDEFINED
    return fault.case.verdict in lost or is_beyond


def _said(text: str, patch: str, language: Framework) -> Fix:
    """A setting that the patch adds reaches beyond the lines that the text names."""
    is_added = any(line[0] == "+" and language.wide_setting in line for line in patch.splitlines() if line)
    more = _SWITCHED_ON.format(name=language.title) if language.wide_setting and is_added else ""
    return Fix(text + more, patch)


def _places(fault: Fault, span: Span) -> list[Span]:
    """Where digits are lost; what is lost in the backward pass is lost behind the lines that contribute to it."""
    if span.line != fault.case.capture.call.line:
        return [span]
    return [one.span for one in fault.found.secondary if one.span.file == span.file and one.span != span]


def _calls(source: ParsedSource, span: Span) -> Iterator[Span]:
    """Where the function is called that a line stands in: its result may have to stay wide."""
    within = [one for one in source.tree.body if isinstance(one, ast.FunctionDef) and _covers(one, span.line)]
    names = {one.name for one in within}
    for one in ast.walk(source.tree):
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in names:
            yield Span(span.file, one.lineno, one.col_offset, one.end_lineno, one.end_col_offset)


def _regions(fault: Fault, source: ParsedSource, span: Span) -> Iterator[Sequence[ast.stmt]]:
    """The statement itself; from the first that has to do with it to the result; the whole block; blocks around it."""
    lines = [one.span.line for one in fault.found.secondary if one.span.file == span.file]
    seen: list[Sequence[ast.stmt]] = []
    for block in _blocks(source, span):
        here = next((one for one in block if _covers(one, span.line)), None)
        if here is None:
            continue
        end = _result(fault, block, here)
        first = next((one for one in block if _covers(one, min([*lines, span.line]))), here)
        uses = next((one for one in block if _mentions(one, fault.case.source.name)), first)
        for start in (here, first, uses, block[0]):
            for stop in (here, end):
                part = block[block.index(start) : block.index(stop) + 1]
                if part and part not in seen and here in part:
                    seen.append(part)
    yield from sorted(seen, key=lambda part: (part[-1].end_lineno or 0) - part[0].lineno)


def _blocks(source: ParsedSource, span: Span) -> Iterator[list[ast.stmt]]:
    """Lists of statements around a line, up to the function, the innermost first; only what computes or repeats."""
    kinds = (ast.Assign, ast.Return, ast.AugAssign, ast.For, ast.While)
    around: list[list[ast.stmt]] = []
    found: list[ast.stmt] = source.tree.body
    while True:
        around.append([one for one in found if isinstance(one, kinds)])
        outer = next((one for one in found if _covers(one, span.line)), None)
        inner = getattr(outer, "body", None)
        if not isinstance(inner, list) or not any(_covers(one, span.line) for one in inner):
            break
        if isinstance(outer, ast.FunctionDef):
            around.clear()
        found = inner
    yield from (block for block in reversed(around) if block)


def _covers(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _result(fault: Fault, block: list[ast.stmt], here: ast.stmt) -> ast.stmt:
    """Where the block hands its result over: what it returns, or what gives the target its value."""
    named = [one for one in block if isinstance(one, ast.Assign) and _gives(one, fault.case.capture.target)]
    ends = [one for one in (*block, *named) if isinstance(one, ast.Return) or one in named]
    return ends[-1] if ends and ends[-1].lineno >= here.lineno else here


def _gives(statement: ast.Assign, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in statement.targets)


def _mentions(statement: ast.stmt, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(statement))


FIX = FixKind(
    "wider-expression",
    (
        "absorption", "accumulation", "cancellation", "framework-rule", "ill-conditioned", "invalid-domain",
        "low-precision", "overflow", "underflow",
    ),
    offer,
)  # fmt: skip
