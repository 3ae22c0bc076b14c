"""What a branch that is not taken is computed from, made harmless wherever the selection drops its result.

First the argument of the op that sends NaN, then the names that the branch is made of: a function that is called in the
branch gets harmless numbers too. It needs no proof of the gradient, which a point at the edge of a branch may not have.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import named_before
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource, parsed
from gradproof.fixes.spelling import alias_of, imported_names
from gradproof.frameworks import framework

HARMLESS = "1.0"
_TEXT = "give the unselected branch an input on which it is harmless"


@dataclass(frozen=True, eq=False)
class _Branch:
    """One side of a selection, as it is written."""

    selection: ast.Call
    side: ast.expr
    is_kept_where_true: bool

    @property
    def condition(self) -> ast.expr:
        return self.selection.args[0]


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span
    source = None if span is None else parsed(case.sources.get(span.file, ""))
    alias = None if source is None else alias_of(source.tree, case.capture.framework)
    select = framework(case.capture.framework).spellings.get("select", "").rpartition(".")[2]
    if span is None or source is None or alias is None or not select:
        return
    op = source.at(span)
    branches = _branches(source, (f"{alias}.{select}", *({select} & imported_names(source.tree))))
    # The branch that the op is written in comes before others of its line.
    for branch in sorted(branches, key=lambda one: op is None or not _is_in(source, op, one.side)):
        parts = list(_parts(source, branch.side))
        inside = [one for one in _arguments(op) if any(_is_in(source, one, part) for part in parts)]
        lines = {span.line} & {line for part in parts for line in _lines_run(source, part)}
        if not inside and not lines:
            continue
        for part in (*inside, *_names(source, branch)):
            if _in_reach(source, branch.condition, part) and not _is_guarded(source, branch, part):
                text = _guarded(source, branch, part)
                yield Fix(_TEXT, named_before(source, part, text, "safe", span.file))


def _branches(source: ParsedSource, functions: Sequence[str]) -> Iterator[_Branch]:
    for call in (one for one in ast.walk(source.tree) if isinstance(one, ast.Call)):
        if ast.unparse(call.func) in functions and len(call.args) == 3:
            yield from (_Branch(call, call.args[k], k == 1) for k in (1, 2))


def _parts(source: ParsedSource, side: ast.expr) -> Iterator[ast.expr]:
    """What a branch is computed from: its expression, and what the names in it were given in the lines before."""
    seen: list[ast.expr] = [side]
    for part in seen:
        yield part
        for name in (one for one in ast.walk(part) if isinstance(one, ast.Name)):
            made = source.definition(name)
            if made is not None and made.value not in seen:
                seen.append(made.value)


def _lines_run(source: ParsedSource, part: ast.expr) -> set[int]:
    """The lines of an expression, and of the functions of the file that it calls."""
    found = set(range(part.lineno, (part.end_lineno or part.lineno) + 1))
    called = {ast.unparse(one.func) for one in ast.walk(part) if isinstance(one, ast.Call)}
    for one in ast.walk(source.tree):
        if isinstance(one, ast.FunctionDef) and one.name in called:
            found |= set(range(one.lineno, (one.end_lineno or one.lineno) + 1))
    return found


def _arguments(op: ast.expr | None) -> list[ast.expr]:
    """What an op takes: a divisor and a base before what stands beside them."""
    if isinstance(op, ast.BinOp):
        found = [op.left, op.right] if isinstance(op.op, ast.Pow) else [op.right, op.left]
    elif isinstance(op, ast.Call):
        found = list(op.args)
        found += [op.func.value] if isinstance(op.func, ast.Attribute) and not op.args else []
    else:
        found = []
    return [one for one in found if not isinstance(one, ast.Constant)]


def _names(source: ParsedSource, branch: _Branch) -> list[ast.expr]:
    """The names of the branch that are no functions, those that the condition looks at first; each once."""
    used = [one for one in ast.walk(branch.side) if isinstance(one, ast.Name)]
    called = [one.func for one in ast.walk(branch.side) if isinstance(one, ast.Call)]
    roots = {name.id for one in called for name in ast.walk(one) if isinstance(name, ast.Name)}
    looked_at = {one.id for one in ast.walk(branch.condition) if isinstance(one, ast.Name)}
    named = {one.id: one for one in used if one.id not in roots}
    once: list[ast.expr] = [one for one in named.values() if [each.id for each in used].count(one.id) == 1]
    return sorted(once, key=lambda one: isinstance(one, ast.Name) and one.id not in looked_at)


def _is_in(source: ParsedSource, node: ast.AST, part: ast.AST) -> bool:
    found: ast.AST | None = node
    while found is not None and found is not part:
        found = source.parents.get(found)
    return found is part


def _in_reach(source: ParsedSource, condition: ast.expr, part: ast.expr) -> bool:
    """Whether the names of the condition have their values where a part is computed."""
    first, second = source.statement(part), source.statement(condition)
    if first is None or second is None or source.scope(part) is not source.scope(condition):
        return False
    names = [one for one in ast.walk(condition) if isinstance(one, ast.Name)]
    stores = [store for name in names for store in source.stores(name)]
    return first is second or not any(first.lineno <= store.lineno < second.lineno for store in stores)


def _is_guarded(source: ParsedSource, branch: _Branch, part: ast.expr) -> bool:
    """Whether a part is what the same condition selects, here or before: it is harmless where its result is dropped."""
    if part is branch.side:
        return True
    made = source.definition(part) if isinstance(part, ast.Name) else None
    given = part if made is None else made.value
    return (
        isinstance(given, ast.Call)
        and ast.unparse(given.func) == ast.unparse(branch.selection.func)
        and bool(given.args)
        and ast.unparse(given.args[0]) == ast.unparse(branch.condition)
    )


def _guarded(source: ParsedSource, branch: _Branch, part: ast.expr) -> str:
    function = ast.unparse(branch.selection.func)
    condition, text = (ast.get_source_segment(source.text, one) or "" for one in (branch.condition, part))
    sides = (text, HARMLESS) if branch.is_kept_where_true else (HARMLESS, text)
    return f"{function}({condition}, {', '.join(sides)})"


FIX = FixKind("guarded-branch", ("masked-branch", "invalid-domain", "singular-point"), offer)
