"""Statements that are smooth together, given slopes by differences as a whole: no op among them has right ones.

The root of a matrix is smooth where its eigenvalues are equal, and its eigenvectors are not.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff, unused_name
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.kinds.slopes_by_differences import MOST_ENTRIES, NAME, has_slopes, with_helper
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.users_file import file_at
from gradproof.ir.span import Span
from gradproof.ir.syntax import statement_around

_TEXT = (
    "give lines {first} to {last} slopes by differences of their result: four evaluations for each number that "
    "goes in, and no second derivatives"
)


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span
    file = file_at(case, span)
    if span is None or file is None or not has_slopes(case):
        return
    source = file.source
    if math.prod(case.source.shape) > MOST_ENTRIES or NAME in source.text or case.capture.run.order > 1:
        return
    for part in _parts(source, span):
        given = _given(source, part, case.source.name, file.alias)
        changed = _changed(source, part, given) if given else None
        first, last = part[0].lineno, part[-1].end_lineno
        text = _TEXT.format(first=first, last=last).replace(f"lines {first} to {first} ", f"line {first} ")
        for lines in with_helper(file, changed):
            yield Fix(text, diff(source, lines, span.file))


def _parts(source: ParsedSource, span: Span) -> Iterator[list[ast.stmt]]:
    """From the guilty statement on, as long as more than one of the names is still used behind; the shortest first."""
    start = statement_around(source.tree, span.line)
    block = [] if start is None else getattr(source.parents.get(start), "body", [])
    if start is None or start not in block:
        return
    place = block.index(start)
    for end in range(place, len(block)):
        part = block[place : end + 1]
        last = part[-1]
        if not all(isinstance(one, ast.Assign) for one in part[:-1]):
            return
        made = set().union(*(_stored(one) for one in part))
        after = {one for each in _behind(source, last) for one in _read([each])}
        if isinstance(last, ast.Return) or (
            isinstance(last, ast.Assign) and made & after == _stored(last) and _is_one_name(last)
        ):
            yield part
            return


def _behind(source: ParsedSource, last: ast.stmt) -> list[ast.stmt]:
    """The statements of the function, or the file, that come after."""
    return [
        one
        for one in ast.walk(source.scope(last))
        if isinstance(one, ast.stmt) and one.lineno > (last.end_lineno or last.lineno)
    ]


def _is_one_name(statement: ast.Assign) -> bool:
    return len(statement.targets) == 1 and isinstance(statement.targets[0], ast.Name)


def _given(source: ParsedSource, part: Sequence[ast.stmt], name: str, alias: str) -> list[str]:
    """The arrays that the part takes from outside: what the framework makes, what a function is given, what follows."""
    scope = source.scope(part[0])
    depends = {name}
    if isinstance(scope, ast.FunctionDef):
        depends |= {one.arg for one in scope.args.args}
    before = [one for one in ast.walk(scope) if isinstance(one, ast.Assign) and one.lineno < part[0].lineno]
    for one in sorted(before, key=lambda each: each.lineno):
        depends |= _stored(one) if _read([one.value]) & {*depends, alias} else set()
    inner, found = set[str](), dict[str, None]()
    for statement in part:
        found |= dict.fromkeys(sorted((_read([statement]) - inner) & depends))
        inner |= _stored(statement)
    return list(found)


def _changed(source: ParsedSource, part: Sequence[ast.stmt], given: list[str]) -> list[str] | None:
    """The statements in a function of their own, and its call with slopes in their place."""
    lines, last = source.text.splitlines(keepends=True), part[-1]
    indent = source.indent(part[0])
    value = last.value if isinstance(last, ast.Assign | ast.Return) else None
    if indent.strip() or value is None:
        return None
    target = f"{ast.unparse(last.targets[0])} = " if isinstance(last, ast.Assign) else "return "
    function = unused_name(source, "smooth")
    inner = "".join(lines[part[0].lineno - 1 : last.lineno - 1])
    body = "".join(f"    {line}" if line.strip() else line for line in inner.splitlines(keepends=True))
    arguments = ", ".join(given)
    new = (
        f"{indent}def {function}({arguments}):\n{body}"
        f"{indent}    return {ast.get_source_segment(source.text, value)}\n\n"
        f"{indent}{target}{NAME}({function})({arguments})\n"
    )
    return [*lines[: part[0].lineno - 1], new, *lines[last.end_lineno or last.lineno :]]


def _stored(part: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(part) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _read(parts: Sequence[ast.AST]) -> set[str]:
    return {
        one.id
        for part in parts
        for one in ast.walk(part)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
    }


FIX = FixKind("smooth-part", ("framework-rule", "ill-conditioned", "singular-point"), offer)
