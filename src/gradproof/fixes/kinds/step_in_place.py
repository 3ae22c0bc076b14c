"""A training step written by hand that changes the leaf itself, where it gave the leaf's name to a new tensor.

Where the script keeps the leaves of earlier steps, in a list or under another name, the new tensor is made a leaf.
Silent where the new value is not that of the leaf with something added or taken away, and for frameworks whose
variables have methods for it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import diff, replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.users_file import UsersFile, file_at
from gradproof.ir.syntax import statement_around

_TEXT = "change {names} in place, where no graph is recorded{zeroed}"
_MADE = "make a leaf of what each step gives to {names}"
_KEEPERS = ("append", "add", "insert", "extend", "put")
_ZEROED = ", and set the gradient back"
_SIGNS = {ast.Sub: "-=", ast.Add: "+="}


def offer(fault: Fault) -> Iterator[Fix]:
    span = fault.found.span
    file = file_at(fault.case, span)
    if span is None or file is None or not file.language.without_graph:
        return
    source, here = file.source, statement_around(file.source.tree, span.line)
    around = None if here is None else source.parents.get(here)
    steps = _steps(source, here, getattr(around, "body", []))
    if not steps:
        return
    if any(_is_kept(source, name) for name, _ in steps.values()):
        yield from _as_leaves(file, steps, span.file)
        return
    header = file.worded(file.language.without_graph)
    is_within = isinstance(around, ast.With) and ast.unparse(around).startswith(header)
    reset = [name for name, _ in steps.values() if not _is_reset(source, name)]
    text = _TEXT.format(
        names=", ".join(f"`{name}`" for name, _ in steps.values()), zeroed=_ZEROED if reset else ""
    )
    yield Fix(text, _patch(source, steps, "" if is_within else header, reset, span.file))


def _steps(
    source: ParsedSource, here: ast.stmt | None, block: list[ast.stmt]
) -> dict[ast.stmt, tuple[str, str]]:
    """The steps that follow one another around a statement, each with its name and how it is written in place."""
    if here not in block or here is None:
        return {}
    place = block.index(here)
    first = last = place
    while first > 0 and _in_place(source, block[first - 1]):
        first -= 1
    while last + 1 < len(block) and _in_place(source, block[last + 1]):
        last += 1
    steps = {one: _in_place(source, one) for one in block[first : last + 1]}
    return {one: step for one, step in steps.items() if step} if all(steps.values()) else {}


def _in_place(source: ParsedSource, statement: ast.stmt) -> tuple[str, str] | None:
    """Of `w = w - step` and `w -= step`; the gradient of the leaf, or one that was computed, is part of the step."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)], value=ast.BinOp(left=ast.Name(id=old), op=op, right=step)
        ) if name == old:
            pass
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=step):
            pass
        case _:
            return None
    if type(op) not in _SIGNS or source.indent(statement).strip() or statement.end_lineno != statement.lineno:
        return None
    if not _goes_along_a_gradient(source, step):
        return None
    behind = source.text.splitlines()[statement.lineno - 1].encode()[statement.end_col_offset :].decode()
    return name, f"{name} {_SIGNS[type(op)]} {ast.get_source_segment(source.text, step)}{behind}"


def _goes_along_a_gradient(source: ParsedSource, step: ast.expr) -> bool:
    """Whether a step is a training step: what else is added to a name is part of what is differentiated."""
    if ".grad" in ast.unparse(step):
        return True
    given: list[ast.AST | None] = [
        store for one in ast.walk(step) if isinstance(one, ast.Name) for store in source.stores(one)
    ]
    while any(isinstance(one, ast.Name | ast.Tuple | ast.List) for one in given):
        given = [source.parents.get(one) if isinstance(one, ast.expr) else one for one in given]
    return any(isinstance(one, ast.Assign) and ".grad" in ast.unparse(one.value) for one in given)


def _is_kept(source: ParsedSource, name: str) -> bool:
    """Whether something else holds what a name stands for, and would change with it."""
    for name_read in source.names(source.tree, name):
        use: ast.AST = name_read
        around = source.parents.get(use)
        while isinstance(around, ast.List | ast.Tuple | ast.Dict):
            use, around = around, source.parents.get(around)
        is_method = isinstance(around, ast.Call) and isinstance(around.func, ast.Attribute)
        if is_method and isinstance(around, ast.Call) and ast.unparse(around.func).endswith(_KEEPERS):
            return True
        if isinstance(around, ast.Assign | ast.Yield) and around.value is use:
            return True
    return False


def _as_leaves(file: UsersFile, steps: dict[ast.stmt, tuple[str, str]], name: str) -> Iterator[Fix]:
    values = [one.value for one in steps if isinstance(one, ast.Assign)]
    if len(values) == len(steps):  # what is changed in place already is no new tensor
        bare = (f"({ast.get_source_segment(file.source.text, one)})" for one in values)
        made = [file.language.leaf_made.format(x=file.language.detached.format(x=one)) for one in bare]
        text = _MADE.format(names=", ".join(f"`{one}`" for one, _ in steps.values()))
        yield Fix(text, replaced(file.source, list(zip(values, made)), name))


def _is_reset(source: ParsedSource, name: str) -> bool:
    """Whether the file sets the gradient of a leaf back, or computes it without one that is added to."""
    of_leaf = f"{name}.grad"
    given = [ast.unparse(one.targets[0]) for one in ast.walk(source.tree) if isinstance(one, ast.Assign)]
    called = [ast.unparse(one.func) for one in ast.walk(source.tree) if isinstance(one, ast.Call)]
    read = [ast.unparse(one) for one in ast.walk(source.tree) if isinstance(one, ast.Attribute)]
    return of_leaf in given or f"{of_leaf}.zero_" in called or of_leaf not in read


def _patch(
    source: ParsedSource, steps: dict[ast.stmt, tuple[str, str]], header: str, reset: list[str], file: str
) -> str:
    lines = source.text.splitlines(keepends=True)
    first, last = next(iter(steps)), list(steps)[-1]
    indent = source.indent(first)
    inner = f"{indent}    " if header else indent
    new = [f"{indent}{header}:\n"] if header else []
    new += [f"{inner}{step}\n" for _, step in steps.values()]
    new += [f"{indent}{' = '.join(f'{name}.grad' for name in reset)} = None\n"] if reset else []
    return diff(source, [*lines[: first.lineno - 1], *new, *lines[last.lineno :]], file)


FIX = FixKind("step-in-place", ("reassigned-variable",), offer)
