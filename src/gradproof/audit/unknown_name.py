"""A crash over a function that a library does not have: what it has instead, and what the call would have shown."""

from __future__ import annotations

import ast
import difflib
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FrameType, ModuleType
from typing import Any

from gradproof.audit.crash import last_place
from gradproof.audit.examine import examine
from gradproof.blackbox import NumericalCheck, gradient_check_numerical
from gradproof.diagnosis.diagnostic import CRASH, Annotation, Diagnostic, Fix
from gradproof.diagnosis.report import GradientReport
from gradproof.diagnosis.words import comma_list, framework_name
from gradproof.errors import GradproofError, NotScalar
from gradproof.frameworks import framework
from gradproof.frontends.after.effects import effect_of
from gradproof.frontends.after.rerun import may_run
from gradproof.frontends.after.sandbox import sandbox
from gradproof.frontends.check.moved_name import looked_up, places_of, public_names
from gradproof.frontends.check.request import Checked, Request
from gradproof.frontends.select import frontend_for
from gradproof.ir.span import Span
from gradproof.ir.syntax import tree_of
from gradproof.options import Options

SIMILAR = 0.75  # of `difflib`: a slip of the keyboard, not another word
MOST_NAMES = 3

# Names under which people look for a gradient check, and where the libraries keep theirs.
_CHECK = re.compile(r"grad\w*(check|numer)|(check|numer)\w*grad", re.IGNORECASE)
_OURS = "gradproof.gradient_check_numerical"


@dataclass(frozen=True, eq=False)
class UnknownName:
    """`module.name` stands at `span` and is not there; `call` is the call of it, if there is one."""

    module: ModuleType
    name: str
    frame: FrameType
    span: Span
    call: ast.Call | None
    spelled: str  # the module as the program calls it

    @property
    def is_check(self) -> bool:
        return _CHECK.search(self.name) is not None


@dataclass(frozen=True, eq=False)
class Meant:
    """The function and the point of a gradient check, as far as the call names them."""

    function: Any
    points: tuple[Any, ...]
    epsilon: float | None


def find_unknown_name(error: BaseException) -> UnknownName | None:
    place = last_place(error.__traceback__)
    if not isinstance(error, AttributeError) or not isinstance(error.obj, ModuleType) or place is None:
        return None
    if error.name is None:
        return None
    frame, span = place
    call = _call(span, error.name)
    spelled = error.obj.__name__
    if call is not None and isinstance(call.func, ast.Attribute):
        spelled = ast.unparse(call.func.value)
        span = Span(span.file, call.lineno, call.col_offset, call.end_lineno, call.end_col_offset)
    return UnknownName(error.obj, error.name, frame, span, call, spelled)


def _call(span: Span, name: str) -> ast.Call | None:
    tree = tree_of(span.file)
    for node in (node for node in ast.walk(tree or ast.Module([], [])) if isinstance(node, ast.Call)):
        is_named = isinstance(node.func, ast.Attribute) and node.func.attr == name
        if is_named and node.lineno <= span.line <= (node.end_lineno or 0):
            return node
    return None


def meant(unknown: UnknownName) -> Meant | None:
    """What a call of a gradient check asks for; None where its arguments do not show it."""
    if unknown.call is None or not unknown.is_check:
        return None
    names = {**unknown.frame.f_globals, **unknown.frame.f_locals}
    try:
        args = [_value(node, names) for node in unknown.call.args]
        given = {node.arg: _value(node.value, names) for node in unknown.call.keywords}
    except LookupError:
        return None
    function = next((arg for arg in args if callable(arg)), None)
    points = [point for arg in args if not callable(arg) for point in _points(arg)]
    steps = [value for key, value in given.items() if key in ("epsilon", "eps", "delta", "step", "h")]
    step = next((float(value) for value in steps if isinstance(value, int | float)), None)
    return Meant(function, tuple(points), step) if function is not None and points else None


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Names and plain literals; anything that would have to be computed is not looked at."""
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(item, names) for item in node.elts]
    if isinstance(node, ast.Constant):
        return node.value
    raise LookupError(ast.unparse(node))


def _points(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _points(item)
    elif hasattr(value, "dtype") and hasattr(value, "shape"):
        yield value


def may_call(asked: Meant) -> bool:
    """Whether the function may be called in the place of the check that never ran."""
    name = getattr(asked.function, "__name__", "the function")
    return may_run(f"whether the gradient of `{name}` is right", effect_of(asked.function))


def examined(unknown: UnknownName, asked: Meant, options: Options) -> list[GradientReport]:
    """The gradient that the check was to be about, judged."""
    with sandbox():
        checked = _checked(asked)
    found = [report for capture in checked.captures for report in examine(capture, options)]
    return [_placed(report, unknown.span) for report in found]


def _checked(asked: Meant) -> Checked:
    frontend = frontend_for(asked.points, {})
    try:
        return frontend.check(Request(asked.function, asked.points))
    except NotScalar:
        return frontend.check(Request(asked.function, asked.points, output="each"))


def _placed(report: GradientReport, span: Span) -> GradientReport:
    return replace(report, call=span)


def differences(asked: Meant) -> NumericalCheck | None:
    try:
        with sandbox():
            return gradient_check_numerical(asked.function, list(asked.points), asked.epsilon)
    except (GradproofError, ArithmeticError, TypeError, ValueError):
        return None


def diagnose(unknown: UnknownName, numbers: NumericalCheck | None) -> Diagnostic:
    library = framework_name(unknown.module.__name__)
    wanted = f"{unknown.spelled}.{unknown.name}"
    known = list(_instead(unknown))
    why = f"The module `{unknown.spelled}` has nothing called `{unknown.name}`. "
    if unknown.is_check:
        there = [f"`{name}`" for name in [*known, _OURS]]
        why += f"A gradient is checked against differences by {comma_list(there, 'or')}."
    elif known:
        names = comma_list([f"`{name}`" for name in known])
        is_moved = all(name.rpartition(".")[2] == unknown.name for name in known)
        why += f"It is now {names}." if is_moved else f"There are similar names: {names}."
    return Diagnostic(
        kind=CRASH,
        severity="error",
        certainty="measured",
        headline=f"{library} has no function `{wanted}`",
        primary=Annotation(unknown.span, "there is no such function"),
        evidence=_evidence(numbers),
        why=why.strip(),
        fix=_fix(unknown, known, numbers),
    )


def _instead(unknown: UnknownName) -> Iterator[str]:
    """Names that are there, spelled as the program would: the library's gradient check, or similar ones."""
    checker = framework(unknown.module.__name__).checker
    if unknown.is_check:
        if checker and looked_up(unknown.module, checker) is not None:
            yield f"{unknown.spelled}.{checker}"
        return
    moved = places_of(unknown.module, unknown.name)
    close = difflib.get_close_matches(unknown.name, public_names(unknown.module), MOST_NAMES, SIMILAR)
    yield from (f"{unknown.spelled}.{name}" for name in (moved or close)[:MOST_NAMES])


def _evidence(numbers: NumericalCheck | None) -> tuple[tuple[str, str], ...]:
    if numbers is None or numbers.epsilon is None:
        return ()
    served = "does not serve here" if numbers.cause == "step-size" else "serves here"
    return ((f"epsilon {numbers.epsilon:g}", f"{served}: {numbers.reason}"),)


def _fix(unknown: UnknownName, known: Sequence[str], numbers: NumericalCheck | None) -> Fix | None:
    if not unknown.is_check:
        return Fix(f"call `{known[0]}`") if known else None
    wanted = f"{unknown.spelled}.{unknown.name}"
    line = linecache.getline(unknown.span.file, unknown.span.line).rstrip("\n")
    patch = f"-{line}\n+{line.replace(wanted, _OURS)}" if wanted in line and numbers is not None else ""
    checked = f"with this change the check {numbers.verdict}: {numbers.reason}" if patch and numbers else ""
    return Fix(f"import gradproof and call `{_OURS}`, which chooses or judges the step", patch, checked)
