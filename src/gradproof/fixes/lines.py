"""Changes of whole lines in a source: inserted, moved into a block, left out."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from gradproof.fixes.edit import diff, with_texts
from gradproof.fixes.source import ParsedSource


def inserted(source: ParsedSource, before: ast.stmt, text: str, file: str) -> str:
    """A line ahead of a statement that has its own."""
    lines = source.text.splitlines(keepends=True)
    indent = source.indent(before)
    if indent.strip():
        return ""
    lines.insert(before.lineno - 1, f"{indent}{text}\n")
    return diff(source, lines, file)


def put_off(source: ParsedSource, statement: ast.stmt, last: ast.stmt | None, file: str) -> str:
    """A statement behind a later one of the same block."""
    if last is None or source.parents.get(statement) is not source.parents.get(last):
        return ""
    lines, end = source.text.splitlines(keepends=True), last.end_lineno or last.lineno
    first, behind = lines_of(statement)
    if not behind < last.lineno or source.indent(statement).strip():
        return ""
    own = [line if line.endswith("\n") else f"{line}\n" for line in lines[first - 1 : behind]]
    between = [line if line.endswith("\n") else f"{line}\n" for line in lines[behind:end]]
    return diff(source, [*lines[: first - 1], *between, *own, *lines[end:]], file)


def loops_around(source: ParsedSource, node: ast.AST) -> list[ast.For | ast.While]:
    """The loops that a node stands in, the innermost first, up to the function around it."""
    found: list[ast.For | ast.While] = []
    around = source.parents.get(node)
    while around is not None and not isinstance(around, ast.FunctionDef | ast.Lambda):
        if isinstance(around, ast.For | ast.While):
            found.append(around)
        around = source.parents.get(around)
    return found


def moved_into(
    source: ParsedSource, block: ast.With, statements: Sequence[ast.stmt], file: str, at_top: bool
) -> str:
    """Statements taken from where they stand and put into a block, at its top or at its end."""
    lines = source.text.splitlines(keepends=True)
    indent = source.indent(block.body[0])
    if indent.strip() or block.body[0].lineno == block.lineno:
        return ""
    new: list[str] = []
    gone: set[int] = set()
    for one in statements:
        own = lines[one.lineno - 1 : one.end_lineno]
        if source.indent(one).strip():
            return ""
        new += [indent + line[one.col_offset :] if line.strip() else line for line in own]
        gone |= set(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    place = block.body[0].lineno if at_top else (block.end_lineno or block.lineno) + 1
    after: list[str] = []
    for number, line in enumerate([*lines, ""], 1):
        if number == place:
            after += new
        if number not in gone:
            after.append(line)
    return diff(source, [line for line in after if line], file)


def unindented(source: ParsedSource, block: ast.With, file: str) -> str:
    """What a block holds, without the block."""
    lines = source.text.splitlines(keepends=True)
    first, shift = block.body[0].lineno, block.body[0].col_offset - block.col_offset
    if first == block.lineno:
        return ""
    body = [line[shift:] if line[:shift].isspace() else line for line in lines[first - 1 : block.end_lineno]]
    return diff(source, [*lines[: block.lineno - 1], *body, *lines[block.end_lineno :]], file)


def lines_of(node: ast.stmt) -> tuple[int, int]:
    """The first and the last line of a statement, with what decorates it."""
    decorators = getattr(node, "decorator_list", ())
    return min(one.lineno for one in (node, *decorators)), node.end_lineno or node.lineno


def left_out(
    source: ParsedSource, statements: Sequence[ast.stmt], file: str, kept: dict[int, str] | None = None
) -> str:
    """A file without statements; `kept` has the new texts of lines, which are never left out."""
    gone = lines_without(source, statements)
    lines = source.text.splitlines(keepends=True)
    after = [(kept or {}).get(k, "" if k in gone else line) for k, line in enumerate(lines, 1)]
    return diff(source, [line for line in after if line], file)


def replaced_alone(source: ParsedSource, edits: Sequence[tuple[ast.expr, str]], file: str) -> str:
    """Expressions with other texts, and without the lines that only gave names to what stood in them."""
    lines = with_texts(source, edits)
    if lines is None:
        return ""
    inside = {one for place, _ in edits for one in ast.walk(place) if isinstance(one, ast.Name)}
    said = " ".join(text for _, text in edits)
    names = {one.id: one for one in inside if re.search(rf"\b{one.id}\b", said) is None}
    given = [
        source.definition(use)
        for name, use in names.items()
        if all(one in inside for one in source.names(source.tree, name) if isinstance(one.ctx, ast.Load))
    ]
    gone = lines_without(source, [one for one in given if one is not None])
    is_known = len(lines) == len(source.text.splitlines())
    kept = [line for k, line in enumerate(lines, 1) if not is_known or k not in gone]
    return diff(source, kept, file)


def lines_without(source: ParsedSource, statements: Sequence[ast.stmt]) -> set[int]:
    """The numbers of the lines that go with statements: the gap before one too, unless the next needs it."""
    lines = ["", *source.text.splitlines(), ""]
    gone: set[int] = set()
    for one in statements:
        first, last = lines_of(one)
        gone |= set(range(first, last + 1))
        if isinstance(one, ast.FunctionDef | ast.ClassDef) or not lines[last + 1].strip():
            while first > 1 and not lines[first - 1].strip():
                first -= 1
                gone.add(first)
    return gone


def unused(function: ast.FunctionDef, gone: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The assignments of a function whose names nothing reads once some of its statements are gone."""
    found: list[ast.stmt] = []
    while True:
        left = [one for one in function.body if one not in gone and one not in found]
        read = {
            one.id
            for each in left
            for one in ast.walk(each)
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)
        }
        dead = [
            one
            for one in left
            if isinstance(one, ast.Assign)
            and all(isinstance(target, ast.Name) and target.id not in read for target in one.targets)
        ]
        if not dead:
            return found
        found += dead
