"""Statements that ran beside the block of a tape, moved into it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.lines import moved_into
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.fixes.spelling import imported_names, root_name
from gradproof.ir.syntax import statement_around

_CALLED_AS_OBJECT = ("__call__", "call")
_TEXT = "move the whole computation into the `with` block of the tape"


def offer(fault: Fault) -> Iterator[Fix]:
    """What stands between the block and the call first, then what stands before the block and leads to the target."""
    case, call = fault.case, fault.case.capture.call
    source = parsed(case.sources.get(call.file, ""))
    asked = None if source is None else statement_around(source.tree, call.line)
    if source is None or asked is None:
        return
    block = _block(source, asked, call.line)
    beside = [] if block is None else getattr(source.parents.get(block), "body", [])
    missing = case.source.missing
    # The tape has seen all, and was asked before.
    is_used_up = missing is not None and "used up" in missing.facts
    if block is None or asked not in beside or is_used_up:
        return
    place = beside.index(block)
    between = [
        one for one in beside[place + 1 : beside.index(asked)] if isinstance(one, ast.Assign | ast.AugAssign)
    ]
    if between:
        yield Fix(_TEXT, moved_into(source, block, between, call.file, at_top=False))
    runs = set[ast.stmt]()
    if missing is not None and missing.span is not None and missing.span.file == call.file:
        runs = {one for one in beside[:place] if _runs(source, one, missing.span.line)}
    before = _needed(beside[:place], block, {case.capture.target} | _used(asked), case.source.name, runs)
    if before:
        yield Fix(_TEXT, moved_into(source, block, before, call.file, at_top=True))
        if between:
            both = moved_into(source, block, [*before, *between], call.file, at_top=False)
            yield Fix(_TEXT, both)


def _block(source: ParsedSource, asked: ast.stmt, line: int) -> ast.With | None:
    """The last tape that was opened before a line: of the name that is asked there, if one has it."""
    found = [
        one
        for one in ast.walk(source.tree)
        if isinstance(one, ast.With)
        and "Tape" in ast.unparse(one.items[0].context_expr)
        and one.lineno < line
    ]
    names = _used(asked)
    own = [one for one in found if (name := one.items[0].optional_vars) and ast.unparse(name) in names]
    return max(own or found, key=lambda one: one.lineno, default=None)


def _runs(source: ParsedSource, statement: ast.stmt, line: int) -> bool:
    """Whether a line runs when a statement does: it is its own, or that of a function or a method which it calls."""
    if statement.lineno <= line <= (statement.end_lineno or statement.lineno):
        return True
    around = source.function_at(line)
    functions = [one for one in ast.walk(source.tree) if isinstance(one, ast.FunctionDef)]
    classes = {one.name for one in ast.walk(source.tree) if isinstance(one, ast.ClassDef)}
    known = {*classes, *(one.name for one in functions), *imported_names(source.tree)}
    reached = [] if around is None else [around]
    for function in reached:
        reached += [one for one in functions if one not in reached and _calls(one, function, known)]
    return any(_calls(statement, one, known) for one in reached)


def _calls(part: ast.AST, function: ast.FunctionDef, known: set[str]) -> bool:
    """By its name, as a method of that name, or as an object that is called itself."""
    called = [one.func for one in ast.walk(part) if isinstance(one, ast.Call)]
    if function.name in _CALLED_AS_OBJECT:
        return any(_is_object(one, known) for one in called)
    return any(ast.unparse(one).rpartition(".")[2] == function.name for one in called)


def _is_object(function: ast.expr, known: set[str]) -> bool:
    """`layer(x)`, `self.layer(x)`, `layers[0](x)`: no function, no class, and nothing of a module."""
    if isinstance(function, ast.Subscript):
        return True
    root = root_name(function)
    return bool(root) and root not in known and (isinstance(function, ast.Name) or root == "self")


def _needed(
    before: list[ast.stmt], block: ast.With, wanted: set[str], source_name: str, runs: set[ast.stmt]
) -> list[ast.stmt]:
    """Assignments ahead of the block that lead from the source to what it uses, also by `runs` where it has no name."""
    wanted = wanted | {name for one in block.body for name in _used(one)}
    found: list[ast.stmt] = []
    for one in reversed(before):
        if not isinstance(one, ast.Assign):
            continue
        given = _given(one)
        if given & wanted and source_name not in given:
            wanted |= _used(one.value)
            found.append(one)
    made = set[str]()
    moved = []
    for one in reversed(found):
        if source_name in _used(one) or one in runs or made & _used(one):
            made |= {
                each.id
                for each in ast.walk(one)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            }
            moved.append(one)
    return moved


def _given(part: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(part) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}


def _used(part: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(part) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Load)}


FIX = FixKind("inside-the-tape", ("outside-tape",), offer)
