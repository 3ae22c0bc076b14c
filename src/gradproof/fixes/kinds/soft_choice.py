"""Probabilities by softmax in the place of the one that is largest: what an `argmax` marks, or picks out of a table.

Silent where what is chosen is neither marked by `one_hot` nor a place along the first axis of a table, and for a choice
along another axis than the last.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.case import Case
from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import placed, replaced
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import imported_names, root_name
from gradproof.fixes.users_file import UsersFile, file_at

_TEXT = "use the probabilities of softmax instead of {doing} the {extreme}"
_MEANING = "every class counts with its probability, so the value is no longer that of one choice"
_EXTREMES = {"argmax": ("largest", "{x}"), "argmin": ("smallest", "-{x}")}
_LOOKUPS = ("gather", "embedding_lookup", "take")  # of a table and the places in it


def offer(fault: Fault) -> Iterator[Fix]:
    case, span = fault.case, fault.found.span
    file = file_at(case, span)
    softmax = "" if file is None else file.worded(file.language.spellings.get("softmax", ""))
    if span is None or file is None or not softmax or "(" in softmax:
        return
    source = file.source
    for choice in ast.walk(source.tree):
        chosen = (
            _chosen(source, choice) if isinstance(choice, ast.Call) and choice.lineno == span.line else None
        )
        if chosen is None or not isinstance(choice, ast.Call):
            continue
        scores, axis = chosen
        if not _is_last(case, choice.lineno, axis, file.language.chooses_along_first):
            continue
        extreme, template = _EXTREMES[_name(choice)]
        along = "-1" if axis is None else ast.get_source_segment(source.text, axis)
        signed = placed(template, ast.get_source_segment(source.text, scores) or "")
        changes, doing = _changes(file, choice, f"{softmax}({signed}, {file.language.axis}={along})")
        if changes:
            yield Fix(
                _TEXT.format(doing=doing, extreme=extreme), replaced(source, changes, span.file), "", _MEANING
            )


def _chosen(source: ParsedSource, call: ast.Call) -> tuple[ast.expr, ast.expr | None] | None:
    """The scores of `argmax(scores, axis)`, which may be its method, and the axis."""
    if _name(call) not in _EXTREMES:
        return None
    function, args = call.func, list(call.args)
    if isinstance(function, ast.Attribute) and root_name(function) not in imported_names(source.tree):
        args.insert(0, function.value)
    named = [one.value for one in call.keywords if one.arg in ("axis", "dim")]
    return (args[0], next(iter([*args[1:2], *named]), None)) if args else None


def _changes(file: UsersFile, choice: ast.Call, soft: str) -> tuple[list[tuple[ast.expr, str]], str]:
    """The uses of a choice with probabilities in its place; where it has no other use, its name gets these."""
    source = file.source
    whole = _as_number(source, choice)
    assigned = source.parents.get(whole)
    uses: list[ast.expr] = [whole]
    if isinstance(assigned, ast.Assign) and isinstance(target := assigned.targets[0], ast.Name):
        names = source.names(source.scope(target), target.id)
        uses = [one for one in names if isinstance(one.ctx, ast.Load)]
        if any(source.definition(one) is not assigned for one in uses if isinstance(one, ast.Name)):
            return [], ""
    found = [(use, at) for use in uses if (at := _marked(source, use) or _looked_up(file, use)) is not None]
    is_renamed = uses != [whole] and len(found) == len(uses)
    changes = [
        (at, before + (ast.unparse(use) if is_renamed else soft) + after)
        for use, (at, before, after) in found
    ]
    doing = "marking" if any(_marked(source, use) for use, _ in found) else "picking"
    return ([(whole, soft), *changes] if is_renamed and changes else changes), doing


def _as_number(source: ParsedSource, choice: ast.expr) -> ast.expr:
    """`int(argmax(x))` and `argmax(x).item()` as a whole."""
    around = source.parents.get(choice)
    if isinstance(around, ast.Call) and ast.unparse(around.func) == "int":
        return around
    call = source.parents.get(around) if isinstance(around, ast.Attribute) and around.attr == "item" else None
    return call if isinstance(call, ast.Call) else choice


def _marked(source: ParsedSource, place: ast.expr) -> tuple[ast.expr, str, str] | None:
    """`one_hot` of a place, and what stands before and behind the probabilities then: nothing."""
    around = source.parents.get(place)
    is_marked = isinstance(around, ast.Call) and _name(around) == "one_hot" and around.args[:1] == [place]
    return (around, "", "") if is_marked and isinstance(around, ast.Call) else None


def _looked_up(file: UsersFile, place: ast.expr) -> tuple[ast.expr, str, str] | None:
    """What reads a place of a table, and what weighs the rows of that table instead: as `_marked`."""
    source, table = file.source, ""
    match around := source.parents.get(place):
        case ast.Subscript(value=value, slice=index) if index is place:
            table = ast.unparse(value)
        case ast.Call(args=[value, index], keywords=given) if index is place and _name(around) in _LOOKUPS:
            axes = [ast.unparse(one) for one in given]
            table = ast.unparse(value) if axes == (["axis=0"] if _name(around) == "take" else []) else ""
        case ast.Call(func=module, args=[index], keywords=[]) if index is place and _embeds(source, module):
            table = f"{ast.unparse(module)}.weight"
    if not table or not isinstance(around, ast.expr):
        return None
    return around, f"{file.alias}.tensordot(", f", {table}, 1)"


def _embeds(source: ParsedSource, module: ast.expr) -> bool:
    """Whether the file makes a module as an `Embedding`."""
    made = [
        one
        for one in ast.walk(source.tree)
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
    ]
    named = ast.unparse(module)
    return any(
        ast.unparse(one.targets[0]) == named and _name(one.value) == "Embedding"
        for one in made
        if isinstance(one.value, ast.Call)
    )


def _is_last(case: Case, line: int, axis: ast.expr | None, is_first: bool) -> bool:
    """Whether the largest is sought along the last axis: that of softmax, and where `one_hot` puts its marks.

    `is_first` says that without an axis it is the first, and not all numbers as one row: what has more axes then has
    another shape than the trial of the change lets pass.
    """
    program = case.capture.program
    nodes = () if program is None else program.nodes
    chosen = [one for one in nodes if one.op in _EXTREMES and one.span is not None and one.span.line == line]
    ndims = {len(program[one.inputs[0]].shape) for one in chosen} if program is not None else set()
    number = None if axis is None else _whole(axis)
    if (
        len(ndims) != 1
    ):  # nothing was recorded of a choice that no gradient passes: mostly it is one in each row
        return number in (-1, 1) or (axis is None and (not is_first or len(case.source.shape) == 1))
    (ndim,) = ndims
    return ndim == 1 if axis is None else number is not None and number % ndim == ndim - 1


def _whole(part: ast.expr) -> int | None:
    match part:
        case ast.Constant(value=int() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as value)):
            return -value
    return None


def _name(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


FIX = FixKind("soft-choice", ("discrete-op",), offer)
