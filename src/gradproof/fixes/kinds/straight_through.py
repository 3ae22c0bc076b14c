"""A step that the gradient passes as if it were not there: the value steps, the slope is that of its argument."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradproof.diagnosis.diagnostic import Fix
from gradproof.fixes.edit import enclosed, placed, replaced_with_a_name
from gradproof.fixes.kind import Fault, FixKind
from gradproof.fixes.source import ParsedSource
from gradproof.fixes.spelling import imported_names, root_name
from gradproof.fixes.users_file import UsersFile, file_at

_TEXT = "let the gradient pass the step straight through: `{function}` keeps its value, with the slope of its argument"
_MEANING = "the gradient is no longer that of the value: it is what it would be without the step"
_STEPS = ("round", "floor", "ceil", "rint", "sign", "trunc", "heaviside", "fix")
_INTEGERS = ("int", "long", "int8", "int16", "int32", "int64", "uint8")


def offer(fault: Fault) -> Iterator[Fix]:
    case, missing = fault.case, fault.case.source.missing
    span = fault.found.span or (None if missing is None else missing.span)
    file = file_at(case, span)
    if span is None or file is None or not file.language.detached:
        return
    source = file.source
    for step in (
        one for one in ast.walk(source.tree) if isinstance(one, ast.Call) and one.lineno == span.line
    ):
        argument, text = _argument(source, step), ast.get_source_segment(source.text, step) or ""
        if argument is None:
            continue
        if _is_integer_cast(step):  # the way leads through whole numbers: a cast to them rounds towards zero
            text = _truncated(file, argument)
        if text:
            new = _through(file, argument, text)
            named = "" if _is_short(argument) else ast.get_source_segment(source.text, argument) or ""
            patch = replaced_with_a_name(source, step, enclosed(source, step, new), span.file, named)
            yield Fix(_TEXT.format(function=ast.unparse(step.func)), patch, "", _MEANING)


def _argument(source: ParsedSource, step: ast.Call) -> ast.expr | None:
    """What a step is taken of: the first argument of a function, or the object of a method."""
    name = ast.unparse(step.func).rpartition(".")[2]
    if name not in _STEPS and not _is_integer_cast(step):
        return None
    function = step.func
    if isinstance(function, ast.Attribute) and root_name(function) not in imported_names(source.tree):
        return function.value
    return step.args[0] if step.args else None


def _is_integer_cast(step: ast.Call) -> bool:
    name = ast.unparse(step.func).rpartition(".")[2]
    named = [ast.unparse(one).rpartition(".")[2].strip("'\"") for one in step.args]
    casts = name in ("cast", "to", "astype", "type") and any(one in _INTEGERS for one in named)
    return casts or (name in ("int", "long") and not step.args)


def _truncated(file: UsersFile, argument: ast.expr) -> str:
    text = ast.get_source_segment(file.source.text, argument) or ""
    return file.worded(file.language.truncated).format(x=text)


def _is_short(argument: ast.expr) -> bool:
    """What costs nothing to say three times: a name, or a part of one."""
    while isinstance(argument, ast.Attribute | ast.Subscript):
        argument = argument.value
    return isinstance(argument, ast.Name)


def _through(file: UsersFile, argument: ast.expr, step: str) -> str:
    """`x + stop_gradient(round(x) - x)`"""
    text = ast.get_source_segment(file.source.text, argument) or ""
    template = file.worded(file.language.detached)
    difference = placed(f"{step} - {{x}}", text)
    inner = f"({difference})" if template.startswith("{x}") else difference
    return placed(f"{{x}} + {template.format(x=inner)}", text)


FIX = FixKind("straight-through", ("discrete-op",), offer)
